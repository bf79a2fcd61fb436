/* Changes of the parameters of a run that goes on, from the values of an input. */
#include "common/nbc.h"
#include "nbody6/input/config.h"
#include "nbody6/input/input.h"
#include "nbody6/input/input_change_rules.h"
#include "nbody6/input/input_gather.h"
#include "nbody6/input/input_table.h"
#include "nbody6/input/input_text.h"
#include "nbody6/input/input_values.h"
#include "nbody6/input/namelist.h"
#include "nbody6/input/positional/positional.h"
#include "nbody6/input/units.h"
#include "regularization/chain.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t bytes_of(enum nb6_input_target target)
{
    switch (target) {
    case NB6_TO_INT:
        return sizeof(int);
    case NB6_TO_NONE:
    case NB6_TO_TEXT:
        return 0;
    default:
        return 8;
    }
}

/* ---- a change ---- */

struct comparison {
    const struct nb6_input_values *values;
    const struct nb6_config *before, *after;
    struct nb6_config *result;
    struct nb6_changes *changes;
    int goes_on; /* KSTART > 1 */
    FILE *notes;
    struct nbc_error *err;
    int is_positional; /* the input is not a namelist */
};

static int differs(const struct comparison *c, size_t offset, size_t bytes)
{
    return memcmp((const char *)c->before + offset, (const char *)c->after + offset, bytes) != 0;
}

static int refuse_change(const struct comparison *c, int line, const char *name, const char *before, const char *after,
                         const char *reason)
{
    return nbc_fail(c->err, NBC_BAD_INPUT,
                    "%s:%d: %s: cannot become %s in a run that has %s: %s; remove it, or begin a new run",
                    c->values->path, line, name, after, before, reason);
}

static void add(const struct comparison *c, const char *name, const char *before, const char *after)
{
    if (c->changes->count == NB6_CHANGES_MAX) return; /* there are fewer names than that */
    struct nb6_change *change = &c->changes->change[c->changes->count++];
    snprintf(change->name, sizeof change->name, "%s", name);
    snprintf(change->before, sizeof change->before, "%.*s", NB6_CHANGE_BYTES - 1, before);
    snprintf(change->after, sizeof change->after, "%.*s", NB6_CHANGE_BYTES - 1, after);
}

static void take_over(const struct comparison *c, size_t offset, size_t bytes)
{
    memcpy((char *)c->result + offset, (const char *)c->after + offset, bytes);
}

/* ---- numbers ---- */

static void print_number(const struct nb6_input_variable *v, const struct nb6_config *config,
                         char text[NB6_CHANGE_BYTES])
{
    const char *at = (const char *)config + nb6_input_offset(v);
    double real;
    int64_t integer = 0;
    int small;
    if (v->target == NB6_TO_DOUBLE || v->target == NB6_TO_NUMBER) {
        size_t used = 0;
        for (int i = 0; i < v->length && used < NB6_CHANGE_BYTES; i++) {
            memcpy(&real, at + (size_t)i * sizeof real, sizeof real);
            used += (size_t)snprintf(text + used, NB6_CHANGE_BYTES - used, "%s%.12g", i ? "," : "", real);
        }
    } else if (v->target == NB6_TO_INT) {
        memcpy(&small, at, sizeof small);
        snprintf(text, NB6_CHANGE_BYTES, "%d", small);
    } else {
        memcpy(&integer, at, sizeof integer);
        snprintf(text, NB6_CHANGE_BYTES, "%lld", (long long)integer);
    }
}

/* NBODY6++GPU ignores these in the input of a restart; a generated model has other values than its input. */
static int is_kept(const struct comparison *c, const char *name)
{
    return c->goes_on && (strcmp(name, "N") == 0 || strcmp(name, "RBAR") == 0 || strcmp(name, "ZMBAR") == 0);
}

/* Values that the model has set instead of the input, or that it counts as stars where the input counts systems. */
static int was_replaced(const struct comparison *c, const char *name)
{
    const struct nb6_config *run = c->before;
    const struct nb6_model_config *m = &run->model;
    const int is_read = m->kind == NB6_MODEL_FILE;
    if (strcmp(name, "N") == 0) return !is_read && c->after->model.n == m->n - run->binaries.n - run->triples.n;
    if (strcmp(name, "RBAR") == 0) return run->tide.rtide_unscaled > 0;
    if (strcmp(name, "ZMBAR") != 0) return 0;
    return is_read ? m->file_units == NB6_FILE_PHYSICAL : m->imf != NB6_IMF_EQUAL;
}

static int compare_number(const struct comparison *c, const struct nb6_input_variable *v, int line)
{
    char before[NB6_CHANGE_BYTES], after[NB6_CHANGE_BYTES];
    const size_t offset = nb6_input_offset(v), bytes = (size_t)v->length * bytes_of(v->target);
    const char *reason = nb6_change_reason(v);
    if (bytes == 0 || strcmp(v->name, "TCRTP0") == 0 || !differs(c, offset, bytes) || was_replaced(c, v->name))
        return NBC_OK;
    print_number(v, c->before, before);
    print_number(v, c->after, after);
    if (is_kept(c, v->name)) {
        if (c->notes)
            fprintf(c->notes, "note: %s=%s is not used by a continued run, which has %s\n", v->name, after, before);
        return NBC_OK;
    }
    if (reason) return refuse_change(c, line, v->name, before, after, reason);
    take_over(c, offset, bytes);
    add(c, v->name, before, after);
    return NBC_OK;
}

/* ---- options and words ---- */

/* The value of an option that a configuration has: one that changes nothing in it. */
static int option_of(const struct nb6_config *config, int number)
{
    for (int k = 0; k < nb6_input_choice_count; k++) {
        const struct nb6_input_choice *choice = &nb6_input_choices[k];
        if (choice->number != number || choice->status > NB6_NOT_YET) continue;
        const int value = choice->low > -1000000 ? choice->low : choice->high;
        struct nb6_config tried = *config;
        nb6_input_apply_option(&tried, number, value);
        if (memcmp(&tried, config, sizeof tried) == 0) return value;
    }
    return nb6_input_options_table[number - 1].off;
}

/* Of a text only the end counts: a data file is found beside the input. */
static int is_same_text(const struct comparison *c, const struct nb6_change_meaning *m, const char *text)
{
    const char *old = (const char *)c->before + m->offset;
    const size_t length = strlen(text), all = strlen(old);
    return strcmp(text, "auto") == 0 || (all >= length && strcmp(old + all - length, text) == 0);
}

static int compare_meaning(const struct comparison *c, const struct nb6_change_meaning *m, int line, const char *before,
                           const char *after, int *said)
{
    if (!differs(c, m->offset, m->bytes)) return NBC_OK;
    if (m->reason) return refuse_change(c, line, m->name, before, after, m->reason);
    take_over(c, m->offset, m->bytes);
    if (!*said) add(c, m->name, before, after);
    *said = 1;
    return NBC_OK;
}

static int compare_option(const struct comparison *c, int number, const struct nb6_value *value)
{
    char name[16], before[16], after[16];
    int said = 0, status = NBC_OK;
    snprintf(name, sizeof name, "KZ(%d)", number);
    for (int k = 0; k < nb6_change_meaning_count && status == NBC_OK; k++) {
        if (strcmp(nb6_change_meanings[k].name, name) != 0) continue;
        snprintf(before, sizeof before, "%d", option_of(c->before, number));
        snprintf(after, sizeof after, "%lld", (long long)value->integer);
        status = compare_meaning(c, &nb6_change_meanings[k], value->line, before, after, &said);
    }
    return status;
}

static int compare_text(const struct comparison *c, const struct nb6_input_variable *v, int line, const char *text)
{
    int said = 0;
    if (strcmp(v->name, "COSTS") == 0 && text[0]) {
        if (c->notes)
            fprintf(c->notes,
                    "note: COSTS='%s' is not used by a continued run, which has the costs of its checkpoint\n", text);
        return NBC_OK;
    }
    for (int k = 0; k < nb6_change_meaning_count; k++) {
        const struct nb6_change_meaning *m = &nb6_change_meanings[k];
        if (strcmp(m->name, v->name) != 0) continue;
        if (v->target == NB6_TO_TEXT)
            return is_same_text(c, m, text)
                       ? NBC_OK
                       : refuse_change(c, line, v->name, (const char *)c->before + m->offset, text, m->reason);
        const int is_chain = strcmp(v->name, "CHAIN") == 0;
        return compare_meaning(c, m, line, is_chain ? chain_method_name(c->before->pair.chain_method) : "another", text,
                               &said);
    }
    if (v->target == NB6_TO_NUMBER && differs(c, nb6_input_offset(v), sizeof(double)))
        return refuse_change(c, line, v->name, "another", text, nb6_change_reason(v));
    return NBC_OK;
}

/* ---- all ---- */

static int compare_all(const struct comparison *c)
{
    int status = NBC_OK;
    for (int k = 0; k < nb6_input_variable_count && status == NBC_OK; k++) {
        const struct nb6_input_variable *v = &nb6_input_variables[k];
        const struct nb6_value *value = c->values->value + c->values->first[k];
        if (v->length == NB6_KZ_COUNT) {
            for (int i = 0; i < NB6_KZ_COUNT && status == NBC_OK; i++)
                if (value[i].line) status = compare_option(c, i + 1, &value[i]);
        } else if (value->line && v->type == NB6_TEXT) {
            status = compare_text(c, v, value->line, c->values->text[k]);
        } else if (value->line && v->status == NB6_USED) {
            status = compare_number(c, v, value->line);
        }
    }
    return status;
}

/* The end of the run: TCRIT, which may count from now, or TCRTP0; the earlier one if both are given. The first line of
 * positional input always has a TCRTP0: beside it the TCRIT that the run has counts as given. */
static void settle_end(const struct comparison *c, double t, struct nb6_config *after)
{
    const struct nb6_value *start = nb6_input_get(c->values, "INNBODY6", "KSTART");
    const struct nb6_value *tcrit = nb6_input_get(c->values, "ININPUT", "TCRIT");
    const struct nb6_units units = nb6_units_from(c->before->rbar_pc, c->before->zmbar_msun, c->before->model.n);
    if (start->line && start->integer == 2 && tcrit->line && tcrit->real > 0 && t > 0) {
        if (c->notes)
            fprintf(c->notes, "note: TCRIT=%.12g with KSTART=2 counts from now, as in NBODY6++GPU: the end is %.12g\n",
                    after->run.t_crit, after->run.t_crit + t);
        after->run.t_crit += t;
    }
    const double end = after->run.t_crit_myr / units.time_myr;
    char text[NB6_END_TEXT];
    if (!(after->run.t_crit_myr > 0)) return;
    if (!tcrit->line && !c->is_positional) after->run.t_crit = NB6_T_MAX;
    if (c->notes) fprintf(c->notes, "note: TCRTP0=%g Myr is t = %.12g\n", after->run.t_crit_myr, end);
    if (c->notes && nb6_config_tell_end(after, units.time_myr, text)) fprintf(c->notes, "note: %s\n", text);
    nb6_config_settle_end(after, units.time_myr);
}

/* DTADJ alone takes the place of the DTADJ_MYR that the run has, DELTAT that of its DTOUT_MYR. */
static int settle_intervals(const struct comparison *c, struct nb6_config *after, struct nbc_error *err)
{
    const struct nb6_units units = nb6_units_from(c->before->rbar_pc, c->before->zmbar_msun, c->before->model.n);
    if (nb6_input_get(c->values, "ININPUT", "DTADJ")->line && !nb6_input_get(c->values, "INRUN", "DTADJ_MYR")->line)
        after->run.dt_adjust_myr = 0;
    if (nb6_input_get(c->values, "ININPUT", "DELTAT")->line && !nb6_input_get(c->values, "INRUN", "DTOUT_MYR")->line)
        after->run.dt_output_myr = 0;
    nb6_config_settle_intervals(after, units.time_myr);
    return nb6_config_check_intervals(after, units.time_myr, err);
}

/* Those of the result are in N-body units and, if they were given so, in Myr. */
static void take_intervals(const struct comparison *c)
{
    c->result->run.dt_adjust = c->after->run.dt_adjust;
    c->result->run.dt_output = c->after->run.dt_output;
    c->result->run.dt_adjust_myr = c->after->run.dt_adjust_myr;
    c->result->run.dt_output_myr = c->after->run.dt_output_myr;
}

/* TCRTP0 alone may change the end too. */
static void take_end(const struct comparison *c)
{
    char before[32], after[32];
    if (c->after->run.t_crit == c->before->run.t_crit || nb6_input_get(c->values, "ININPUT", "TCRIT")->line) return;
    snprintf(before, sizeof before, "%.12g", c->before->run.t_crit);
    snprintf(after, sizeof after, "%.12g", c->after->run.t_crit);
    c->result->run.t_crit = c->after->run.t_crit;
    add(c, "TCRIT", before, after);
}

static int change(const struct nb6_input_options *options, int is_positional, double t, struct nb6_input_values *values,
                  struct nb6_config *config, struct nb6_changes *changes, struct nbc_error *err)
{
    struct nb6_config after = *config, result = *config;
    const struct comparison c = {.values = values,
                                 .is_positional = is_positional,
                                 .before = config,
                                 .after = &after,
                                 .result = &result,
                                 .changes = changes,
                                 .goes_on = nb6_input_get(values, "INNBODY6", "KSTART")->integer > 1,
                                 .notes = options->notes,
                                 .err = err};
    int status = nb6_input_check_missing(values, options, 1, err);
    if (status == NBC_OK) status = nb6_input_apply(values, options->notes, &after, err);
    if (status == NBC_OK) status = nb6_input_settle(values, NULL, &after, err);
    if (status != NBC_OK) return status;
    settle_end(&c, t, &after);
    status = nb6_input_locate(values, settle_intervals(&c, &after, err), err);
    if (status == NBC_OK) status = compare_all(&c);
    if (status != NBC_OK) return status;
    take_end(&c);
    take_intervals(&c);
    status = nb6_input_locate(values, nb6_config_check(&result, err), err);
    if (status != NBC_OK) return status;
    nb6_input_note_ignored(values, options->notes);
    *config = result;
    return NBC_OK;
}

int nb6_input_change(const struct nb6_input_text *text, const struct nb6_input_options *options, double t,
                     struct nb6_config *config, struct nb6_changes *changes, struct nbc_error *err)
{
    struct nb6_input_values values;
    struct nb6_input_origin origin;
    changes->count = 0;
    int status = nb6_input_gather(text->name, text->text, text->size, options->notes, &values, &origin, err);
    if (status != NBC_OK) return status;
    status = change(options, nb6_positional_is(text->text, text->size), t, &values, config, changes, err);
    status = nb6_positional_locate(&origin.list, status, err);
    nb6_input_values_free(&values);
    nb6_namelist_free(&origin.list);
    return status;
}
