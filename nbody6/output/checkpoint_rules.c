#include "nbody6/output/checkpoint_rules.h"

#include "common/nbc.h"
#include "nbody6/state/sim.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_BYTES = 512, MUST_BYTES = 160 };

struct nb6_rule_sizes nb6_rule_sizes_of(const struct nb6_sim *sim)
{
    return (struct nb6_rule_sizes){.stars = sim->n, .slots = sim->subsystems.n_slot, .chains = sim->subsystems.n_chain};
}

/* ---- refusals ---- */

static void refuse_row(struct nb6_hdf5 *file, const char *field, int64_t row, const char *value, const char *must_be)
{
    char text[2 * TEXT_BYTES], place[32] = "";
    if (row >= 0) snprintf(place, sizeof place, "[%" PRId64 "]", row);
    snprintf(text, sizeof text,
             "%s%s is %s; it must be %s: the checksum is right, but the content is not what nbody6 has written", field,
             place, value, must_be);
    nb6_hdf5_fail(file, NBC_BAD_INPUT, text);
}

void nb6_rules_refuse(struct nb6_hdf5 *file, const char *field, int64_t row, double value, const char *must_be)
{
    char text[32];
    snprintf(text, sizeof text, "%.17g", value);
    refuse_row(file, field, row, text, must_be);
}

void nb6_rules_unless(int holds, struct nb6_hdf5 *file, const char *field, int64_t row, double value,
                      const char *must_be)
{
    if (!holds) nb6_rules_refuse(file, field, row, value, must_be);
}

int nb6_rules_are_near(double a, double b)
{
    const double ROUNDED = 1e-9;
    return fabs(a - b) <= ROUNDED * (fabs(a) + fabs(b));
}

/* ---- rules ---- */

static int is_whole(enum nb6_field_type type)
{
    return type != NB6_FIELD_F64;
}

/* The range that a rule means here.   @return 0: it has none */
static int range_of(const struct nb6_field_rule *rule, const struct nb6_rule_sizes *sizes, double *least, double *most)
{
    *least = rule->least;
    *most = rule->most;
    switch (rule->kind) {
    case NB6_RULE_RANGE:
        return 1;
    case NB6_RULE_BODY:
        *most = (double)(sizes->stars + sizes->slots - 1);
        return 1;
    case NB6_RULE_STAR:
        *most = (double)(sizes->stars - 1);
        return 1;
    case NB6_RULE_SLOT:
        *most = (double)(sizes->slots - 1);
        return 1;
    case NB6_RULE_CHAIN:
        *most = (double)sizes->chains;
        return 1;
    case NB6_RULE_OWNER:
        *least = -(double)sizes->stars;
        *most = (double)sizes->slots;
        return 1;
    default:
        return 0;
    }
}

static void describe_rule(const struct nb6_field_rule *rule, int whole, double least, double most,
                          char text[MUST_BYTES])
{
    static const char *const meaning[] = {
        [NB6_RULE_BODY] = ", the number of a star or a pair of this checkpoint",
        [NB6_RULE_STAR] = ", the number of a star of this checkpoint",
        [NB6_RULE_SLOT] = ", the number of a pair of this checkpoint",
        [NB6_RULE_CHAIN] = ", 0 or the number of a chain of this checkpoint",
        [NB6_RULE_OWNER] = ", the number of a pair, or less than 0 that of a star",
        [NB6_RULE_TEXT] = NULL,
    };
    const char *of = rule->kind == NB6_RULE_RANGE ? "" : meaning[rule->kind];
    snprintf(text, MUST_BYTES, "a %snumber from %.12g to %.12g%s", whole ? "whole " : "", least, most, of);
}

/* ---- values in memory ---- */

static double value_at(enum nb6_field_type type, const char *at)
{
    int64_t i64;
    uint64_t u64;
    int32_t i32;
    int8_t i8;
    double f64;
    switch (type) {
    case NB6_FIELD_I64:
        memcpy(&i64, at, sizeof i64);
        return (double)i64;
    case NB6_FIELD_U64:
        memcpy(&u64, at, sizeof u64);
        return (double)u64;
    case NB6_FIELD_I32:
        memcpy(&i32, at, sizeof i32);
        return i32;
    case NB6_FIELD_I8:
        memcpy(&i8, at, sizeof i8);
        return i8;
    default:
        memcpy(&f64, at, sizeof f64);
        return f64;
    }
}

/* The first of the values of a field in a struct that is not from least to most; count if all are. */
static size_t first_outside(const struct nb6_state_field *f, const char *base, double least, double most)
{
    const size_t bytes = nb6_state_field_bytes(f->type);
    for (size_t r = 0; r < f->repeat; r++) {
        const char *at = base + f->offset + r * f->stride;
        for (size_t k = 0; k < f->count; k++, at += bytes) {
            const double x = value_at(f->type, at);
            if (!(x >= least && x <= most)) return r * f->count + k; /* not so for NaN */
        }
    }
    return f->count * f->repeat;
}

static void name_of(const struct nb6_field_group *group, const struct nb6_state_field *f, char name[TEXT_BYTES])
{
    snprintf(name, TEXT_BYTES, "%s/%s", group->name, f->name);
}

static void judge_text(struct nb6_hdf5 *file, const struct nb6_field_group *group, const struct nb6_state_field *f,
                       const char *text)
{
    char name[TEXT_BYTES], value[32];
    for (size_t k = 0; k < f->count && text[k]; k++) {
        const unsigned char c = (unsigned char)text[k];
        if (c >= ' ' && c != 127) continue;
        snprintf(value, sizeof value, "a text with the byte %d", c);
        name_of(group, f, name);
        refuse_row(file, name, -1, value, "characters that can be printed");
        return;
    }
}

static void refuse_value(struct nb6_hdf5 *file, const struct nb6_field_group *group, const struct nb6_state_field *f,
                         int64_t row, double value, const struct nb6_rule_sizes *sizes)
{
    double least, most;
    char name[TEXT_BYTES], must_be[MUST_BYTES];
    range_of(&f->rule, sizes, &least, &most);
    describe_rule(&f->rule, is_whole(f->type), least, most, must_be);
    name_of(group, f, name);
    nb6_rules_refuse(file, name, row, value, must_be);
}

void nb6_rules_judge_field(struct nb6_hdf5 *file, const struct nb6_field_group *group, const struct nb6_state_field *f,
                           const void *array, int64_t rows, const int8_t *is_used, const struct nb6_rule_sizes *sizes)
{
    double least, most;
    const char *base = (const char *)array + group->offset;
    if (f->rule.kind == NB6_RULE_TEXT) judge_text(file, group, f, base + f->offset);
    if (!range_of(&f->rule, sizes, &least, &most)) return;
    for (int64_t row = 0; row < rows; row++, base += group->size) {
        if (is_used && !is_used[row]) continue;
        const size_t k = first_outside(f, base, least, most);
        if (k == nb6_state_field_values(f)) continue;
        const size_t at = f->offset + k / f->count * f->stride + k % f->count * nb6_state_field_bytes(f->type);
        refuse_value(file, group, f, rows > 1 ? row : -1, value_at(f->type, base + at), sizes);
        return;
    }
}

void nb6_rules_judge_values(struct nb6_hdf5 *file, const struct nb6_field_group *group, const struct nb6_state_field *f,
                            const void *values, const struct nb6_rule_rows *rows, const struct nb6_rule_sizes *sizes)
{
    double least, most;
    const size_t of_row = nb6_state_field_values(f), bytes = nb6_state_field_bytes(f->type);
    const char *at = values;
    if (!range_of(&f->rule, sizes, &least, &most)) return;
    for (size_t k = 0; k < (size_t)rows->count * of_row; k++, at += bytes) {
        const double x = value_at(f->type, at);
        if (x >= least && x <= most) continue; /* not so for NaN */
        refuse_value(file, group, f, rows->all > 1 ? rows->first + (int64_t)(k / of_row) : -1, x, sizes);
        return;
    }
}

void nb6_rules_judge(struct nb6_hdf5 *file, const struct nb6_field_group *group, const void *array, int64_t rows,
                     const int8_t *is_used, const struct nb6_rule_sizes *sizes)
{
    for (size_t k = 0; k < group->count && !file->status; k++)
        nb6_rules_judge_field(file, group, &group->field[k], array, rows, is_used, sizes);
}

/* ---- many values, one after the other: all at once */

#define ALL_WITHIN(type, values, n, least, most)                                                                       \
    do {                                                                                                               \
        const type *value = (values);                                                                                  \
        int within = 1;                                                                                                \
        _Pragma("omp simd reduction(& : within)") for (size_t k = 0; k < (n); k++) within &=                           \
            ((double)value[k] >= (least)) & ((double)value[k] <= (most)); /* not so for NaN */                         \
        return within;                                                                                                 \
    } while (0)

int nb6_rules_allow(const struct nb6_state_field *f, const void *values, size_t n, const struct nb6_rule_sizes *sizes)
{
    double least, most;
    if (!range_of(&f->rule, sizes, &least, &most)) return f->rule.kind != NB6_RULE_TEXT;
    switch (f->type) {
    case NB6_FIELD_I64:
        ALL_WITHIN(int64_t, values, n, least, most);
    case NB6_FIELD_U64:
        ALL_WITHIN(uint64_t, values, n, least, most);
    case NB6_FIELD_I32:
        ALL_WITHIN(int32_t, values, n, least, most);
    case NB6_FIELD_I8:
        ALL_WITHIN(int8_t, values, n, least, most);
    default:
        ALL_WITHIN(double, values, n, least, most);
    }
}

/* ---- checks by other files, row by row */

enum { MANY_ROWS = 1024 };

void nb6_rules_each(struct nb6_hdf5 *file, const struct nb6_sim *sim, int64_t n, nb6_rules_judge_row judge)
{
    int64_t first = n;
    if (file->status) return;
#pragma omp parallel for schedule(static) reduction(min : first) if (n > MANY_ROWS)
    for (int64_t row = 0; row < n; row++) {
        struct nb6_hdf5 trial;
        trial.status = NBC_OK;
        trial.err = NULL;
        trial.path[0] = 0;
        if (row < first) judge(&trial, sim, row);
        if (trial.status && row < first) first = row;
    }
    if (first < n) judge(file, sim, first);
}
