#include "nbody6/input/input_print.h"

#include "nbody6/input/config.h"
#include "nbody6/input/input_table.h"
#include "nbody6/input/input_values.h"
#include "nbody6/input/namelist_value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COMMENT_COLUMN = 32, OPTIONS_A_LINE = 10 };

struct printer {
    FILE *out;
    const struct nb6_input_values *values;
    const struct nb6_config *config;
};

/* A data file is always named: it may have been found beside the input. */
static int is_set(const struct printer *p, int variable)
{
    if (strcmp(nb6_input_variables[variable].name, "DATA") == 0) return p->config->model.kind == NB6_MODEL_FILE;
    for (int i = 0; i < nb6_input_variables[variable].length; i++)
        if (p->values->value[p->values->first[variable] + i].line) return 1;
    return 0;
}

/* As few digits as are read as this number. */
static void format_real(double x, char *text, size_t size)
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, size, "%.*g", digits, x);
        if (strtod(text, NULL) == x) return;
    }
}

/* 'text', its quotes doubled */
static int print_text(FILE *out, const char *text)
{
    int n = fprintf(out, "'");
    for (; *text; text++) n += fprintf(out, *text == '\'' ? "''" : "%c", *text);
    return n + fprintf(out, "'");
}

static int print_element(FILE *out, enum nb6_value_type type, const struct nb6_value *value)
{
    char text[40];
    if (type == NB6_INTEGER) return fprintf(out, "%lld", (long long)value->integer);
    format_real(value->real, text, sizeof text);
    return fprintf(out, "%s", text);
}

/* Files by the names under which they were found. */
static const char *text_of(const struct printer *p, const struct nb6_input_variable *v, int variable)
{
    if (strcmp(v->name, "DATA") == 0) return p->config->model.data_path;
    if (strcmp(v->name, "COSTS") == 0) return p->config->data.costs_path;
    return strcmp(v->name, "STELLAR") == 0 ? p->config->data.stellar_path : p->values->text[variable];
}

/* NAME=value or NAME=value,value; elements without a value are null values. */
static int print_values(const struct printer *p, int variable)
{
    const struct nb6_input_variable *v = &nb6_input_variables[variable];
    const struct nb6_value *value = p->values->value + p->values->first[variable];
    int n = fprintf(p->out, "  %s=", v->name);
    if (v->type == NB6_TEXT) return n + print_text(p->out, text_of(p, v, variable));
    for (int i = 0; i < v->length; i++) {
        if (i > 0) n += fprintf(p->out, ",");
        if (value[i].line) n += print_element(p->out, v->type, &value[i]);
    }
    return n;
}

static void print_variable(const struct printer *p, int variable)
{
    const struct nb6_input_variable *v = &nb6_input_variables[variable];
    const char *unused = nb6_input_unused(p->values, v);
    if (!unused) unused = nb6_input_reason(v->status);
    int n = print_values(p, variable);
    fprintf(p->out, "%*s ! %s%s%s%s", n < COMMENT_COLUMN ? COMMENT_COLUMN - n : 0, "", v->meaning,
            v->unit[0] ? " [" : "", v->unit, v->unit[0] ? "]" : "");
    fprintf(p->out, "%s%s%s\n", unused ? " (no effect: " : "", unused ? unused : "", unused ? ")" : "");
}

/* Ten options in a line, or, if some of them were not set, those that were. */
static void print_ten(FILE *out, const struct nb6_value *kz, int first)
{
    int count = 0;
    for (int i = 0; i < OPTIONS_A_LINE; i++) count += kz[first + i].line != 0;
    if (count == OPTIONS_A_LINE) fprintf(out, "  KZ(%d:%d)=", first + 1, first + OPTIONS_A_LINE);
    for (int i = 0; i < OPTIONS_A_LINE; i++) {
        if (!kz[first + i].line) continue;
        if (count < OPTIONS_A_LINE)
            fprintf(out, "  KZ(%d)=", first + i + 1);
        else if (i > 0)
            fprintf(out, ",");
        print_element(out, NB6_INTEGER, &kz[first + i]);
    }
    if (count) fprintf(out, "\n");
}

/* All options, then the meanings of those that are not 0. */
static void print_options(const struct printer *p, int variable)
{
    const struct nb6_value *kz = p->values->value + p->values->first[variable];
    for (int first = 0; first < NB6_KZ_COUNT; first += OPTIONS_A_LINE) print_ten(p->out, kz, first);
    for (int number = 1; number <= NB6_KZ_COUNT; number++) {
        const struct nb6_input_choice *choice = nb6_input_kz_choice(p->values, number);
        if (!kz[number - 1].line || kz[number - 1].integer == 0 || !choice) continue;
        fprintf(p->out, "  ! KZ(%d)=%lld: %s: %s\n", number, (long long)kz[number - 1].integer,
                nb6_input_options_table[number - 1].title, choice->meaning);
    }
}

/* Returns whether any of its variables was set. */
static int print_group(const struct printer *p, const struct nb6_input_group *group)
{
    int begun = 0;
    for (int k = 0; k < nb6_input_variable_count; k++) {
        if (strcmp(nb6_input_variables[k].group, group->name) != 0 || !is_set(p, k)) continue;
        if (!begun++) fprintf(p->out, "\n&%s ! %s\n", group->name, group->title);
        if (nb6_input_variables[k].length == NB6_KZ_COUNT)
            print_options(p, k);
        else
            print_variable(p, k);
    }
    if (begun) fprintf(p->out, "/\n");
    return begun > 0;
}

void nb6_input_print(FILE *out, const struct nb6_input_values *values, const struct nb6_config *config)
{
    const struct printer p = {out, values, config};
    fprintf(out, "! The input %s as a namelist; `nbody6 --help-input NAME` says more of a variable or an option.\n",
            values->path);
    int groups = 0;
    for (int k = 0; k < nb6_input_group_count; k++)
        if (strcmp(nb6_input_groups[k].name, "INSETUP") != 0 || config->model.kind == NB6_MODEL_TWO_PLUMMER)
            groups += print_group(&p, &nb6_input_groups[k]);
    if (groups == 0) fprintf(out, "\n&ININPUT / ! all defaults\n");
}
