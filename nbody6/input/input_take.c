#include "common/nbc.h"
#include "nbody6/input/input_table.h"
#include "nbody6/input/input_values.h"
#include "nbody6/input/namelist.h"
#include "nbody6/input/namelist_value.h"
#include "nbody6/input/words/units.h"
#include "nbody6/input/words/words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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
        if (!value->line || nb6_input_kz_choice(values, number)) continue;
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
    if (v->length == 1 && value->line && assignment->count > 0)
        return nbc_fail(err, NBC_BAD_INPUT, "%s:%d: %s: set a second time, first in line %d; remove one of the two",
                        list->path, assignment->line, v->name, value->line);
    int status = nb6_namelist_values(list, assignment, v->type, v->length, value, values->text[variable], err);
    if (status == NBC_OK && v->type != NB6_TEXT) status = check_range(values, v, value, err);
    if (status == NBC_OK && v->type == NB6_TEXT && value->line)
        status = nb6_input_check_word(list->path, value->line, v->name, values->text[variable], err);
    if (status == NBC_OK && value->line && strcmp(v->name, "UNITS") == 0)
        status = nb6_input_check_units(list->path, value->line, values->text[variable], err);
    if (status == NBC_OK && v->length == NB6_KZ_COUNT) status = check_choices(values, value, err);
    return status;
}

static int unknown_variable(const struct nb6_namelist *list, const struct nb6_assignment *a, const char *group,
                            struct nbc_error *err)
{
    int engine_image = nb6_input_find_variable(NULL, a->name);
    if (engine_image >= 0)
        return nbc_fail(err, NBC_BAD_INPUT, "%s:%d: %s: not a variable of group &%s; it belongs to group &%s",
                        list->path, a->line, a->name, group, nb6_input_variables[engine_image].group);
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

/* Groups of which nothing is used may have variables of newer versions of NBODY6++. */
static int is_idle_group(const struct nb6_input_values *values, const char *group)
{
    if (strcmp(group, "INSSE") == 0 && nb6_input_kz(values, 19) == 0) return 1;
    for (int k = 0; k < nb6_input_variable_count; k++) {
        const struct nb6_input_variable *v = &nb6_input_variables[k];
        if (strcmp(v->group, group) == 0 && v->status != NB6_STELLAR) return 0;
    }
    return 1;
}

/* A wrong value of a variable that the options do not use is noted, and the variable stays without one. */
static int forgive(struct nb6_input_values *values, int variable, const char *unused, const struct nbc_error *why,
                   FILE *notes)
{
    if (notes) fprintf(notes, "note: %s; it is not used: %s\n", why->text, unused);
    if (variable < 0) return NBC_OK;
    struct nb6_value *value = values->value + values->first[variable];
    for (int i = 0; i < nb6_input_variables[variable].length; i++) value[i].line = 0;
    return NBC_OK;
}

static int take_one(struct nb6_input_values *values, const struct nb6_namelist *list, const struct nb6_assignment *a,
                    FILE *notes, struct nbc_error *err)
{
    struct nbc_error why = {0};
    const char *group = list->group[a->group].name, *unused = NULL;
    int status, variable = nb6_input_find_variable(group, a->name);
    if (variable < 0) {
        status = unknown_variable(list, a, group, &why);
        if (is_idle_group(values, group)) unused = "nothing in this group is";
    } else if (strcmp(group, "INSETUP") == 0 && nb6_input_unused(values, &nb6_input_variables[variable])) {
        /* The samples of NBODY6++GPU, which does not read this group, have "ZM1=,ZM2,ZMH,RCUT=" there. */
        values->value[values->first[variable]].line = a->line;
        return NBC_OK;
    } else {
        status = nb6_input_take(values, list, a, variable, &why);
        unused = nb6_input_unused(values, &nb6_input_variables[variable]);
    }
    if (status == NBC_BAD_INPUT && unused) return forgive(values, variable, unused, &why, notes);
    if (status != NBC_OK && err) *err = why;
    return status;
}

static int is_null(const struct nb6_namelist *list, const struct nb6_assignment *a)
{
    for (size_t k = 0; k < a->count; k++)
        if (list->token[a->first + k].length > 0) return 0;
    return 1;
}

/* "note: null values keep their defaults: IDORM=0" */
static void note_null_values(const struct nb6_input_values *values, const struct nb6_namelist *list, FILE *notes)
{
    int named = 0;
    for (size_t k = 0; k < list->assignments; k++) {
        const struct nb6_assignment *a = &list->assignment[k];
        int variable = nb6_input_find_variable(list->group[a->group].name, a->name);
        if (variable < 0 || !is_null(list, a)) continue;
        const struct nb6_input_variable *v = &nb6_input_variables[variable];
        if (v->status != NB6_USED || nb6_input_unused(values, v)) continue;
        fprintf(notes, "%s%s=%s", named++ ? ", " : "note: null values keep their defaults: ", v->name, v->initial);
    }
    if (named) fprintf(notes, "\n");
}

static int has_options(const char *group)
{
    return strcmp(group, "ININPUT") == 0 || strcmp(group, "INOPTIONS") == 0;
}

/* Options come first: they determine which of the other variables are used. */
int nb6_input_take_all(struct nb6_input_values *values, const struct nb6_namelist *list, FILE *notes,
                       struct nbc_error *err)
{
    int status = check_groups(list, err);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t k = 0; status == NBC_OK && k < list->assignments; k++) {
            const struct nb6_assignment *a = &list->assignment[k];
            if (has_options(list->group[a->group].name) == (pass == 0)) status = take_one(values, list, a, notes, err);
        }
        if (status == NBC_OK && pass == 0) status = nb6_input_take_words(values, err);
    }
    if (status == NBC_OK && notes) note_null_values(values, list, notes);
    return status;
}
