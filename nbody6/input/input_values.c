#include "nbody6/input/input_values.h"

#include "common/nbc.h"
#include "nbody6/input/input_table.h"
#include "nbody6/input/namelist.h"
#include "nbody6/input/namelist_value.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

int nb6_input_values_create(struct nb6_input_values *values, const char *path, struct nbc_error *err)
{
    size_t elements = 0, variables = (size_t)nb6_input_variable_count;
    *values = (struct nb6_input_values){.path = path};
    for (size_t k = 0; k < variables; k++) elements += (size_t)nb6_input_variables[k].length;
    values->value = nbc_alloc(elements, sizeof *values->value);
    values->text = nbc_alloc(variables, sizeof *values->text);
    values->first = nbc_alloc(variables, sizeof *values->first);
    if (!values->value || !values->text || !values->first) {
        nb6_input_values_free(values);
        return nbc_fail(err, NBC_NO_MEMORY, "%s: no memory for the input", path);
    }
    for (size_t k = 1; k < variables; k++) values->first[k] = values->first[k - 1] + nb6_input_variables[k - 1].length;
    return NBC_OK;
}

void nb6_input_values_free(struct nb6_input_values *values)
{
    nbc_free(values->value);
    nbc_free(values->text);
    nbc_free(values->first);
    *values = (struct nb6_input_values){0};
}

/* "give a value > 0 and <= 0.08" */
static void describe_range(const struct nb6_input_variable *v, char *text, size_t size)
{
    int n = snprintf(text, size, "give %s", v->type == NB6_INTEGER ? "an integer" : "a value");
    if (isfinite(v->min)) n += snprintf(text + n, size - (size_t)n, " %s %.12g", v->open ? ">" : ">=", v->min);
    if (isfinite(v->max)) snprintf(text + n, size - (size_t)n, "%s <= %.12g", isfinite(v->min) ? " and" : "", v->max);
}

static int check_range(const struct nb6_input_values *values, const struct nb6_input_variable *v,
                       const struct nb6_value *value, struct nbc_error *err)
{
    for (int i = 0; i < v->length; i++) {
        double x = value[i].real;
        if (!value[i].line || (x >= v->min && x <= v->max && !(v->open && x == v->min))) continue;
        char range[128], subscript[16] = "";
        describe_range(v, range, sizeof range);
        if (v->length > 1) snprintf(subscript, sizeof subscript, "(%d)", i + 1);
        return nbc_fail(err, NBC_BAD_INPUT, "%s:%d: %s%s: %.12g is out of range; %s", values->path, value[i].line,
                        v->name, subscript, x, range);
    }
    return NBC_OK;
}

/* Values of options have to be among those of the table. */
static int check_choices(const struct nb6_input_values *values, const struct nb6_value *kz, struct nbc_error *err)
{
    for (int number = 1; number <= NB6_KZ_COUNT; number++) {
        const struct nb6_value *value = &kz[number - 1];
        if (!value->line || nb6_input_find_choice(number, (long)value->integer)) continue;
        return nbc_fail(
            err, NBC_BAD_INPUT,
            "%s:%d: KZ(%d): %lld is no value of this option (%s); `nbody6 --help-input 'KZ(%d)'` lists the values",
            values->path, value->line, number, (long long)value->integer, nb6_input_options_table[number - 1].title,
            number);
    }
    return NBC_OK;
}

int nb6_input_take(struct nb6_input_values *values, const struct nb6_namelist *list,
                   const struct nb6_assignment *assignment, int variable, struct nbc_error *err)
{
    const struct nb6_input_variable *v = &nb6_input_variables[variable];
    struct nb6_value *value = values->value + values->first[variable];
    if (assignment->count == 0 && v->status == NB6_USED)
        return nbc_fail(err, NBC_BAD_INPUT,
                        "%s:%d: %s: no value follows; give one, or remove the name for the default%s%s", list->path,
                        assignment->line, v->name, v->initial[0] ? ", " : "", v->initial);
    if (v->length == 1 && value->line && assignment->count > 0)
        return nbc_fail(err, NBC_BAD_INPUT, "%s:%d: %s: set a second time, first in line %d; remove one of the two",
                        list->path, assignment->line, v->name, value->line);
    int status = nb6_namelist_values(list, assignment, v->type, v->length, value, values->text[variable], err);
    if (status == NBC_OK && v->type != NB6_TEXT) status = check_range(values, v, value, err);
    if (status == NBC_OK && v->length == NB6_KZ_COUNT) status = check_choices(values, value, err);
    return status;
}

static int unknown_variable(const struct nb6_namelist *list, const struct nb6_assignment *a, const char *group,
                            struct nbc_error *err)
{
    int elsewhere = nb6_input_find_variable(NULL, a->name);
    if (elsewhere >= 0)
        return nbc_fail(err, NBC_BAD_INPUT, "%s:%d: %s: not a variable of group &%s; it belongs to group &%s",
                        list->path, a->line, a->name, group, nb6_input_variables[elsewhere].group);
    const char *near = nb6_input_near_variable(group, a->name);
    if (!near) near = nb6_input_near_variable(NULL, a->name);
    if (near)
        return nbc_fail(err, NBC_BAD_INPUT, "%s:%d: %s: unknown variable in group &%s; did you mean %s?", list->path,
                        a->line, a->name, group, near);
    return nbc_fail(
        err, NBC_BAD_INPUT,
        "%s:%d: %s: unknown variable in group &%s; `nbody6 --help-input %s` lists the variables of this group",
        list->path, a->line, a->name, group, group);
}

static int check_groups(const struct nb6_namelist *list, struct nbc_error *err)
{
    if (list->groups == 0)
        return nbc_fail(err, NBC_BAD_INPUT,
                        "%s:1: the file holds no namelist group; write &ININPUT N=1000, ... / and so on: `nbody6 "
                        "--help-input` lists the groups",
                        list->path);
    for (size_t k = 0; k < list->groups; k++) {
        const struct nb6_group *g = &list->group[k];
        if (nb6_input_find_group(g->name) < 0) {
            const char *near = nb6_input_near_group(g->name);
            return nbc_fail(err, NBC_BAD_INPUT, "%s:%d: &%s: unknown group; %s%s%s", list->path, g->line, g->name,
                            near ? "did you mean &" : "", near ? near : "`nbody6 --help-input` lists the groups",
                            near ? "?" : "");
        }
        for (size_t m = 0; m < k; m++)
            if (strcmp(list->group[m].name, g->name) == 0)
                return nbc_fail(err, NBC_BAD_INPUT,
                                "%s:%d: &%s: the group stands in the file a second time, first in line %d; "
                                "make one of the two",
                                list->path, g->line, g->name, list->group[m].line);
    }
    return NBC_OK;
}

int nb6_input_take_all(struct nb6_input_values *values, const struct nb6_namelist *list, struct nbc_error *err)
{
    int status = check_groups(list, err);
    /* No code reads &INSETUP, and the samples of NBODY6++GPU have "ZM1=,ZM2,ZMH,RCUT=" there. */
    for (size_t k = 0; status == NBC_OK && k < list->assignments; k++) {
        const struct nb6_assignment *a = &list->assignment[k];
        const char *group = list->group[a->group].name;
        int variable = nb6_input_find_variable(group, a->name);
        if (variable < 0)
            status = unknown_variable(list, a, group, err);
        else if (strcmp(group, "INSETUP") != 0)
            status = nb6_input_take(values, list, a, variable, err);
        else
            values->value[values->first[variable]].line = a->line;
    }
    return status;
}

struct nb6_value *nb6_input_get(const struct nb6_input_values *values, const char *group, const char *name)
{
    return values->value + values->first[nb6_input_find_variable(group, name)];
}

const char *nb6_input_text(const struct nb6_input_values *values, const char *group, const char *name)
{
    return values->text[nb6_input_find_variable(group, name)];
}

int nb6_input_kz(const struct nb6_input_values *values, int number)
{
    const struct nb6_value *kz = nb6_input_get(values, "ININPUT", "KZ") + number - 1;
    return kz->line ? (int)kz->integer : nb6_input_options_table[number - 1].initial;
}

int nb6_input_kz_line(const struct nb6_input_values *values, int number)
{
    return nb6_input_get(values, "ININPUT", "KZ")[number - 1].line;
}
