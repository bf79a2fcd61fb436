#include "common/nbc.h"
#include "nbody6/input/input.h"
#include "nbody6/input/input_table.h"
#include "nbody6/input/input_values.h"
#include "nbody6/input/namelist.h"
#include "nbody6/input/namelist_value.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* A setting that asks for something that is not there. */
struct missing {
    enum nb6_input_status status; /* NB6_MISSING_STELLAR or NB6_MISSING */
    int line;
    char setting[64], remedy[32];
    const char *meaning;
};

enum { MISSING_MAX = NB6_KZ_COUNT + 8 };

struct missing_list {
    struct missing item[MISSING_MAX];
    int count;
};

static struct missing *add(struct missing_list *list, enum nb6_input_status status, int line, const char *meaning)
{
    struct missing *item = &list->item[list->count++];
    *item = (struct missing){.status = status, .line = line, .meaning = meaning};
    return item;
}

/* KZ(5) and KZ(20) select how a model is made; they have no effect if one is read, or named in &INMODEL. */
static int is_irrelevant(const struct nb6_input_values *values, int number)
{
    int model_named = nb6_input_get(values, "INMODEL", "MODEL")->line != 0;
    int model_read = nb6_input_kz(values, 22) > 1 || nb6_input_get(values, "INMODEL", "DATA")->line != 0 ||
                     (model_named && strcasecmp(nb6_input_text(values, "INMODEL", "MODEL"), "file") == 0);
    return (number == 5 && (model_read || model_named)) ||
           (number == 20 && model_read && nb6_input_kz(values, 22) != 9);
}

/* Options of stars that age are there with stars that do, unless they are to be turned off. */
static int is_there(const struct nb6_input_values *values, enum nb6_input_status status, int dynamics_only)
{
    if (status == NB6_AGEING || status == NB6_NOT_YET) return !dynamics_only && nb6_input_kz(values, 19) > 0;
    return status < NB6_MISSING_STELLAR;
}

static void find_options(const struct nb6_input_values *values, int dynamics_only, struct missing_list *list)
{
    for (int number = 1; number <= NB6_KZ_COUNT; number++) {
        int value = nb6_input_kz(values, number);
        const struct nb6_input_choice *choice = nb6_input_kz_choice(values, number);
        if (!choice || is_there(values, choice->status, dynamics_only) || is_irrelevant(values, number)) continue;
        struct missing *item = add(list, choice->status == NB6_MISSING ? NB6_MISSING : NB6_MISSING_STELLAR,
                                   nb6_input_kz_line(values, number), choice->meaning);
        snprintf(item->setting, sizeof item->setting, "KZ(%d)=%d", number, value);
        snprintf(item->remedy, sizeof item->remedy, "KZ(%d)=%d", number, nb6_input_options_table[number - 1].off);
    }
}

/* An integer that has to have one value, if it is used. */
static void find_integer(const struct nb6_input_values *values, struct missing_list *list, const char *group,
                         const char *name, int wanted, const char *meaning)
{
    const struct nb6_value *value = nb6_input_get(values, group, name);
    const struct nb6_input_variable *v = &nb6_input_variables[nb6_input_find_variable(group, name)];
    if (!value->line || value->integer == wanted || nb6_input_unused(values, v)) return;
    struct missing *item = add(list, NB6_MISSING, value->line, meaning);
    snprintf(item->setting, sizeof item->setting, "%s=%lld", name, (long long)value->integer);
    snprintf(item->remedy, sizeof item->remedy, "%s=%d", name, wanted);
}

static void find_missing(const struct nb6_input_values *values, int goes_on, int dynamics_only,
                         struct missing_list *list)
{
    const char *level = nb6_input_text(values, "ININPUT", "LEVEL");
    if (dynamics_only && level[0] && strcmp(level, "0") != 0 && nb6_input_kz(values, 19) != 0) {
        struct missing *item = add(list, NB6_MISSING_STELLAR, nb6_input_get(values, "ININPUT", "LEVEL")->line,
                                   "level of stellar evolution");
        snprintf(item->setting, sizeof item->setting, "LEVEL='%s'", nb6_namelist_show(level, strlen(level)).text);
        snprintf(item->remedy, sizeof item->remedy, "LEVEL='0'");
    }
    find_options(values, dynamics_only, list);
    const int64_t kstart = nb6_input_get(values, "INNBODY6", "KSTART")->integer;
    if (!goes_on || kstart < 2 || kstart > 5)
        find_integer(values, list, "INNBODY6", "KSTART", 1,
                     "no new run (a run is continued by `nbody6 --resume NAME.ckpt.h5`, with an input that says what "
                     "changes)");
    find_integer(values, list, "INBINPOP", "IDORM", 0, "dormant binaries");
}

static int count(const struct missing_list *list, enum nb6_input_status status)
{
    int n = 0;
    for (int k = 0; k < list->count; k++) n += list->item[k].status == status;
    return n;
}

static int refuse_missing(const struct nb6_input_values *values, const struct missing_list *list, struct nbc_error *err)
{
    char text[sizeof err->text];
    size_t n = 0, room = sizeof text;
    int stellar = count(list, NB6_MISSING_STELLAR), others = count(list, NB6_MISSING);
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < list->count && n < room; k++) {
            const struct missing *item = &list->item[k];
            if ((item->status == NB6_MISSING) != (pass == 1)) continue;
            n += (size_t)snprintf(text + n, room - n, "\n  line %d: %s: %s; set %s", item->line, item->setting,
                                  item->meaning, item->remedy);
        }
    const char *advice =
        others ? "\nThese settings describe another cluster; --dynamics-only does not change them" : "";
    if (stellar && others)
        advice =
            "\n--dynamics-only turns off stellar evolution, tides and relativity; change the other settings, which "
            "describe another cluster";
    else if (stellar)
        advice = "\nor give --dynamics-only, which turns exactly these off";
    return nbc_fail(err, NBC_BAD_INPUT, "%s:%d: %d setting%s for physics that is not there yet:%s%s", values->path,
                    list->item[0].line, list->count, list->count > 1 ? "s ask" : " asks", text, advice);
}

/* Only the settings that --dynamics-only turns off are in the list. */
static void turn_off(struct nb6_input_values *values, const struct missing_list *list, FILE *notes)
{
    if (notes && list->count) fprintf(notes, "note: --dynamics-only turned off:\n");
    for (int k = 0; k < list->count; k++) {
        const struct missing *item = &list->item[k];
        int number;
        if (sscanf(item->remedy, "KZ(%d)", &number) == 1) {
            nb6_input_get(values, "ININPUT", "KZ")[number - 1].integer = nb6_input_options_table[number - 1].off;
            values->choice[number - 1] = NULL;
        } else
            strcpy(values->text[nb6_input_find_variable("ININPUT", "LEVEL")], "0");
        if (notes)
            fprintf(notes, "  line %d: %s: %s; now %s\n", item->line, item->setting, item->meaning, item->remedy);
    }
}

int nb6_input_check_missing(struct nb6_input_values *values, const struct nb6_input_options *options, int goes_on,
                            struct nbc_error *err)
{
    struct missing_list list = {.count = 0};
    find_missing(values, goes_on, options->dynamics_only, &list);
    if (!options->dynamics_only) return list.count ? refuse_missing(values, &list, err) : NBC_OK;
    struct missing_list others = {.count = 0};
    for (int k = 0; k < list.count; k++)
        if (list.item[k].status == NB6_MISSING) others.item[others.count++] = list.item[k];
    if (others.count) return refuse_missing(values, &others, err);
    turn_off(values, &list, options->notes);
    return NBC_OK;
}

/* Has every variable of the group this status? */
static int is_group_of(const char *group, enum nb6_input_status status)
{
    for (int k = 0; k < nb6_input_variable_count; k++)
        if (strcmp(nb6_input_variables[k].group, group) == 0 && nb6_input_variables[k].status != status) return 0;
    return 1;
}

static int is_set(const struct nb6_input_values *values, int variable)
{
    for (int i = 0; i < nb6_input_variables[variable].length; i++)
        if (values->value[values->first[variable] + i].line) return 1;
    return 0;
}

/* A variable, or its group, if nothing in that has an effect; once. */
static int name_variable(int variable, int named, const char **last_group, FILE *notes)
{
    const struct nb6_input_variable *v = &nb6_input_variables[variable];
    int whole = is_group_of(v->group, v->status);
    if (whole && *last_group && strcmp(*last_group, v->group) == 0) return named;
    fprintf(notes, "%s%s%s", named ? ", " : "note: ", whole ? "&" : "", whole ? v->group : v->name);
    if (whole) fprintf(notes, " (%s)", nb6_input_groups[nb6_input_find_group(v->group)].title);
    *last_group = v->group;
    return 1;
}

/* "note: KZ(15), ETAU: accepted without effect: ..." */
static void note_status(const struct nb6_input_values *values, enum nb6_input_status status, FILE *notes)
{
    int named = 0;
    const char *last_group = NULL;
    for (int k = 0; k < nb6_input_variable_count; k++)
        if (nb6_input_variables[k].status == status && is_set(values, k))
            named = name_variable(k, named, &last_group, notes);
    for (int number = 1; number <= NB6_KZ_COUNT; number++) {
        const struct nb6_input_choice *choice = nb6_input_kz_choice(values, number);
        if (!choice || choice->status != status || !nb6_input_kz_line(values, number) ||
            nb6_input_kz(values, number) == 0)
            continue;
        fprintf(notes, "%sKZ(%d)", named++ ? ", " : "note: ", number);
    }
    if (named) fprintf(notes, ": accepted without effect: %s\n", nb6_input_reason(status));
}

/* Primordial hierarchies and dormant binaries that nothing asks for. */
static void note_unused(const struct nb6_input_values *values, const char *group, const char *name, FILE *notes)
{
    const struct nb6_value *value = nb6_input_get(values, group, name);
    const char *unused = nb6_input_unused(values, &nb6_input_variables[nb6_input_find_variable(group, name)]);
    if (value->line && value->integer != 0 && unused)
        fprintf(notes, "note: %s=%lld has no effect: %s\n", name, (long long)value->integer, unused);
}

static void note_level(const struct nb6_input_values *values, FILE *notes)
{
    const char *level = nb6_input_text(values, "ININPUT", "LEVEL");
    if (level[0] && strcmp(level, "0") != 0 && nb6_input_kz(values, 19) == 0)
        fprintf(notes, "note: LEVEL='%s' has no effect: stellar evolution is off by KZ(19) = 0\n",
                nb6_namelist_show(level, strlen(level)).text);
}

/* "note: DISK, A, B: accepted without effect: ..."; others than those without any are noted by their status. */
static void note_group(const struct nb6_input_values *values, const char *group, FILE *notes)
{
    const char *why = NULL;
    for (int k = 0; k < nb6_input_variable_count; k++) {
        const struct nb6_input_variable *v = &nb6_input_variables[k];
        if (strcmp(v->group, group) != 0 || v->status != NB6_USED || !is_set(values, k)) continue;
        if (!nb6_input_unused(values, v)) continue;
        fprintf(notes, "%s%s", why ? ", " : "note: ", v->name);
        why = nb6_input_unused(values, v);
    }
    if (why) fprintf(notes, ": accepted without effect: %s\n", why);
}

/* "note: KZ(16)=3 of RMIN, DTMIN, ECLOSE: as 1: ..." */
static void note_nearest(const struct nb6_input_values *values, FILE *notes)
{
    for (int number = 1; number <= NB6_KZ_COUNT; number++) {
        const struct nb6_input_choice *choice = nb6_input_kz_choice(values, number);
        if (choice && choice->status == NB6_NEAREST && nb6_input_kz_line(values, number))
            fprintf(notes, "note: KZ(%d)=%d (%s): %s\n", number, nb6_input_kz(values, number),
                    nb6_input_options_table[number - 1].title, choice->meaning);
    }
}

/* "note: not computed yet: KZ(27)=3 (tides and gravitational radiation), ..." */
static void note_not_yet(const struct nb6_input_values *values, FILE *notes)
{
    int named = 0;
    for (int number = 1; number <= NB6_KZ_COUNT; number++) {
        const struct nb6_input_choice *choice = nb6_input_kz_choice(values, number);
        if (!choice || choice->status != NB6_NOT_YET) continue;
        fprintf(notes, "%sKZ(%d)=%d (%s)", named++ ? ", " : "note: not computed yet: ", number,
                nb6_input_kz(values, number), choice->meaning);
    }
    if (named)
        fprintf(notes,
                "; stars age alone, and binaries that would exchange mass are events 'overflow' and 'contact'\n");
}

/* Note the variables that softened forces ignore. config_softened.c refuses those that would change the physics. */
static void note_collisional(const struct nb6_input_values *values, FILE *notes)
{
    static const char *const names[] = {"NNBOPT", "NNBMAX", "RS0",  "ETAI",   "ETAR", "SMAX", "NBFIX",
                                        "DTMIN",  "RMIN",   "ETAU", "ECLOSE", "GMIN", "GMAX", "CHAIN"};
    static const int options[] = {15, 16, 26, 30, 40};
    const struct nb6_value *softening = nb6_input_get(values, "INCOLLISIONLESS", "SOFTENING");
    int named = 0;
    if (!softening->line || !(softening->real > 0)) return;
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
        if (values->value[values->first[nb6_input_find_variable(NULL, names[k])]].line)
            fprintf(notes, "%s%s", named++ ? ", " : "note: ", names[k]);
    for (size_t k = 0; k < sizeof options / sizeof options[0]; k++)
        if (nb6_input_kz_line(values, options[k]) && nb6_input_kz(values, options[k]) != 0)
            fprintf(notes, "%sKZ(%d)", named++ ? ", " : "note: ", options[k]);
    if (named)
        fprintf(notes, ": accepted without effect: softened forces have neither neighbours nor regularized pairs; the "
                       "steps are those of &INCOLLISIONLESS\n");
}

void nb6_input_note_ignored(const struct nb6_input_values *values, FILE *notes)
{
    if (!notes) return;
    note_nearest(values, notes);
    note_not_yet(values, notes);
    note_collisional(values, notes);
    note_level(values, notes);
    note_unused(values, "INDATA", "NHI0", notes);
    note_group(values, "INXTRNL0", notes);
    note_group(values, "INSETUP", notes);
    note_group(values, "INSSE", notes);
    note_unused(values, "INBINPOP", "IDORM", notes);
    for (int status = NB6_OUTPUT; status <= NB6_STELLAR; status++)
        note_status(values, (enum nb6_input_status)status, notes);
}
