#include "common/nbc.h"
#include "nbody6/input/input.h"
#include "nbody6/input/input_change_rules.h"
#include "nbody6/input/input_search.h"
#include "nbody6/input/input_table.h"
#include "nbody6/input/namelist.h"
#include "nbody6/input/namelist_value.h"
#include "nbody6/input/positional/help.h"
#include "nbody6/input/words/words.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct printer {
    FILE *out;
    int markdown;
};

/* The admissible values: "0 < ETAI <= 0.08"; "" without limits. */
static void describe_range(const struct nb6_input_variable *v, char *text, size_t size)
{
    text[0] = '\0';
    if (v->length > 3 || v->type == NB6_TEXT || (!isfinite(v->min) && !isfinite(v->max))) return;
    if (!isfinite(v->max))
        snprintf(text, size, "%s %s %.12g", v->name, v->open ? ">" : ">=", v->min);
    else
        snprintf(text, size, "%.12g %s %s <= %.12g", v->min, v->open ? "<" : "<=", v->name, v->max);
}

static const char *type_name(const struct nb6_input_variable *v)
{
    if (v->length > 1) return v->type == NB6_INTEGER ? "integer array" : "real array";
    return v->type == NB6_INTEGER ? "integer" : v->type == NB6_REAL ? "real" : "text";
}

static void print_variable(const struct printer *p, const struct nb6_input_variable *v)
{
    char range[96];
    describe_range(v, range, sizeof range);
    const char *reason = nb6_input_reason(v->status), *separator = "; ";
    const char *word = nb6_input_default_word(v->name), *initial = word ? word : v->initial;
    if (p->markdown) {
        fprintf(p->out, "| `%s` | %s | %s | %s | %s | %s%s%s%s |\n", v->name, type_name(v), initial, v->unit, range,
                v->meaning, reason ? " (*no effect: " : "", reason ? reason : "", reason ? "*)" : "");
        return;
    }
    fprintf(p->out, "  %s", v->name);
    if (v->length > 1) fprintf(p->out, "(1:%d)", v->length);
    fprintf(p->out, "  [%s", type_name(v));
    if (v->unit[0]) fprintf(p->out, "%s%s", separator, v->unit);
    if (initial[0] && strcmp(initial, "''") != 0) fprintf(p->out, "%sdefault %s", separator, initial);
    if (range[0]) fprintf(p->out, "%s%s", separator, range);
    char words[NB6_INPUT_WORDS_MAX];
    nb6_input_describe_words(v->name, words, sizeof words);
    fprintf(p->out, "]\n      %s%s%s\n", v->meaning, words[0] ? ": " : "", words);
    if (reason) fprintf(p->out, "      accepted without effect: %s\n", reason);
}

/* Words that set options, and the meanings of these values. */
static void print_words(const struct printer *p)
{
    fprintf(p->out, "\n| variable | word | option | meaning |\n|---|---|---|---|\n");
    for (int k = 0; k < nb6_input_word_count; k++) {
        const struct nb6_input_word *w = &nb6_input_words[k];
        const struct nb6_input_choice *c = w->kz ? nb6_input_find_choice(w->kz, w->number) : NULL;
        if (!c) continue;
        fprintf(p->out, "| `%s` | `'%s'` | KZ(%d) = %d | %s%s |\n", w->name, w->word, w->kz, w->number, c->meaning,
                c->status >= NB6_MISSING_STELLAR ? " (*refused: not there yet*)" : "");
    }
}

static void print_group(const struct printer *p, const struct nb6_input_group *group)
{
    fprintf(p->out, p->markdown ? "\n## `&%s`: %s\n\n" : "\n&%s: %s\n", group->name, group->title);
    if (group->own) fprintf(p->out, "%sA group of nbody6 alone.\n%s", p->markdown ? "" : "  ", p->markdown ? "\n" : "");
    if (p->markdown)
        fprintf(p->out, "| variable | type | default | unit | range | meaning |\n|---|---|---|---|---|---|\n");
    for (int k = 0; k < nb6_input_variable_count; k++)
        if (strcmp(nb6_input_variables[k].group, group->name) == 0) print_variable(p, &nb6_input_variables[k]);
    if (p->markdown && strcmp(group->name, "INOPTIONS") == 0) print_words(p);
}

static const char *choice_effect(const struct nb6_input_choice *c)
{
    if (c->status == NB6_AGEING) return "`--dynamics-only` turns it off";
    if (c->status == NB6_NOT_YET) return "noted: not computed yet; `--dynamics-only` turns it off";
    if (c->status == NB6_MISSING) return "refused: not there yet";
    if (c->status == NB6_MISSING_STELLAR) return "refused: not there yet; `--dynamics-only` turns it off";
    return nb6_input_reason(c->status);
}

static void print_option(const struct printer *p, const struct nb6_input_option *option)
{
    if (!p->markdown) fprintf(p->out, "  KZ(%d)  [default %d] %s\n", option->number, option->initial, option->title);
    for (int k = 0; k < nb6_input_choice_count; k++) {
        const struct nb6_input_choice *c = &nb6_input_choices[k];
        if (c->number != option->number) continue;
        char values[32];
        nb6_input_describe_choice(c, values, sizeof values);
        const char *effect = choice_effect(c);
        if (p->markdown)
            fprintf(p->out, "| %d | %s | %s | %d | %s%s%s%s |\n", option->number, option->title, values,
                    option->initial, c->meaning, effect ? " (*" : "", effect ? effect : "", effect ? "*)" : "");
        else
            fprintf(p->out, "      %-8s %s%s%s%s\n", values, c->meaning, effect ? " (" : "", effect ? effect : "",
                    effect ? ")" : "");
    }
}

static void print_options(const struct printer *p)
{
    fprintf(p->out, p->markdown ? "\n## Options `KZ(1:50)` of `&ININPUT`\n\n| KZ | subject | value | default | meaning "
                                  "|\n|---|---|---|---|---|\n"
                                : "\nOptions KZ(1:50) of &ININPUT\n");
    for (int k = 0; k < NB6_KZ_COUNT; k++) print_option(p, &nb6_input_options_table[k]);
}

static void print_all(const struct printer *p)
{
    if (p->markdown) {
        fprintf(
            p->out,
            "# Input\n\n"
            "<!-- Made by `nbody6 --help-input --markdown`; `make docs` makes it again. -->\n\n"
            "`nbody6 FILE.inp` reads a Fortran namelist file as NBODY6++GPU does (`nbody6 < FILE.inp` too), or the\n"
            "[positional input](#positional-input-of-nbody6-and-older-nbody6) of NBODY6 and older NBODY6++.\n"
            "Groups `&NAME ... /` may come in any order, and so may the variables of a group. `!` begins a comment,\n"
            "names are in upper or lower case, commas or blanks separate values; `3*0`, `KZ(1:10) = ...` and null\n"
            "values (`X=,`, which keep the default) mean the same as in Fortran. Every variable has a default.\n"
            "The program checks values that the options do not use, and only notes errors in them. It refuses\n"
            "unknown groups and variables, values out of range and physics that is not there yet, before it writes\n"
            "anything; `nbody6 --check FILE.inp` checks the input, shows the setup and runs nothing. \"N-body\" units\n"
            "are G = M = 1, E = -1/4.\n");
    } else {
        fprintf(p->out, "Namelist input. `nbody6 --help-input NAME` shows one variable, option (KZ(14)) or group.\n");
    }
    for (int k = 0; k < nb6_input_group_count; k++) print_group(p, &nb6_input_groups[k]);
    print_options(p);
    if (p->markdown) {
        nb6_change_help(p->out, 1);
        nb6_positional_help(p->out, 1);
    } else {
        fprintf(p->out, "\n`nbody6 --help-input positional` shows how files of NBODY6 and older NBODY6++ are read,\n"
                        "`nbody6 --help-input changes` the changes that a continued run allows.\n");
    }
}

/* "KZ(14)" or "kz14": 14; else 0 */
static int option_number(const char *name)
{
    if (strncasecmp(name, "kz", 2) != 0) return 0;
    const char *digits = name[2] == '(' ? name + 3 : name + 2;
    char *end;
    long number = isdigit((unsigned char)*digits) ? strtol(digits, &end, 10) : 0;
    if (number < 1 || number > NB6_KZ_COUNT || (*end && strcmp(end, ")") != 0)) return 0;
    return (int)number;
}

/* Every variable of this name (some occur in two groups). */
static int print_named(const struct printer *p, const char *name)
{
    int found = 0;
    for (int k = 0; k < nb6_input_variable_count; k++) {
        const struct nb6_input_variable *v = &nb6_input_variables[k];
        if (strcasecmp(v->name, name) != 0) continue;
        fprintf(p->out, "&%s\n", v->group);
        print_variable(p, v);
        found = 1;
    }
    return found;
}

int nb6_input_help(FILE *out, const char *name, int markdown, struct nbc_error *err)
{
    struct printer p = {out, markdown};
    if (!name) {
        print_all(&p);
        return NBC_OK;
    }
    p.markdown = 0;
    if (*name == '&') name++;
    int group = nb6_input_find_group(name), number = option_number(name);
    if (group >= 0) {
        print_group(&p, &nb6_input_groups[group]);
    } else if (number) {
        print_option(&p, &nb6_input_options_table[number - 1]);
    } else if (strcasecmp(name, "positional") == 0) {
        nb6_positional_help(out, 0);
    } else if (strcasecmp(name, "changes") == 0) {
        nb6_change_help(out, 0);
    } else if (strcasecmp(name, "KZ") == 0) {
        print_options(&p);
    } else if (!print_named(&p, name) && !nb6_input_search(out, name)) {
        const char *near = nb6_input_near_variable(NULL, name);
        if (!near) near = nb6_input_near_group(name);
        return nbc_fail(err, NBC_BAD_INPUT,
                        "%s: no such variable, option or group of the input, and in no text on them; %s%s%s",
                        nb6_namelist_show(name, strlen(name)).text,
                        near ? "did you mean " : "`nbody6 --help-input` lists all", near ? near : "", near ? "?" : "");
    }
    return NBC_OK;
}
