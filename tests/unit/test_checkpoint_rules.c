/* Every field of a checkpoint has a rule, and a number that the rule does not allow is refused by the name of its
 * field, wherever it stands in a row. */
#include "common/nbc.h"
#include "nbody6/output/checkpoint_fields.h"
#include "nbody6/output/checkpoint_rules.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 3, GROUPS = 40 };

static const struct nb6_rule_sizes sizes = {.stars = 7, .slots = 4, .chains = 2};

/* All groups there are. */
static int all_groups(const struct nb6_field_group *group[GROUPS])
{
    int n = 0;
    while ((group[n] = nb6_state_group(n))) n++;
    const struct nb6_field_group *const columns[] = {&nb6_body_fields, &nb6_star_fields,  &nb6_pair_fields,
                                                     &nb6_ks_fields,   &nb6_chain_fields, &nb6_perturber_fields};
    for (size_t k = 0; k < sizeof columns / sizeof columns[0]; k++) group[n++] = columns[k];
    assert_true(n <= GROUPS);
    return n;
}

static void test_every_field_has_a_rule(void **state)
{
    (void)state;
    const struct nb6_field_group *group[GROUPS];
    const int n = all_groups(group);
    for (int g = 0; g < n; g++)
        for (size_t k = 0; k < group[g]->count; k++) {
            const struct nb6_state_field *f = &group[g]->field[k];
            const int is_text = f->type == NB6_FIELD_TEXT;
            if (f->rule.kind == NB6_RULE_NONE) fail_msg("%s/%s has no rule", group[g]->name, f->name);
            if (f->rule.kind == NB6_RULE_RANGE && !(f->rule.least <= f->rule.most))
                fail_msg("%s/%s: the range of its rule is empty", group[g]->name, f->name);
            if (is_text != (f->rule.kind == NB6_RULE_TEXT))
                fail_msg("%s/%s has a rule of another type", group[g]->name, f->name);
            if (f->rule.kind == NB6_RULE_ANY && f->type == NB6_FIELD_F64)
                fail_msg("%s/%s: no number of a run may be NaN", group[g]->name, f->name);
            if (f->rule.kind == NB6_RULE_INPUT &&
                (f->type != NB6_FIELD_F64 || strncmp(group[g]->name, "config", 6) != 0))
                fail_msg("%s/%s: no input says this", group[g]->name, f->name);
        }
}

/* ---- values in a row ---- */

static char *place(const struct nb6_field_group *group, const struct nb6_state_field *f, char *array, int row,
                   size_t value)
{
    return array + group->offset + (size_t)row * group->size + f->offset + value / f->count * f->stride +
           value % f->count * nb6_state_field_bytes(f->type);
}

static void put(enum nb6_field_type type, char *at, double value)
{
    const int64_t i64 = fabs(value) < 0x1p63 ? (int64_t)value : 0; /* NaN and more are for doubles alone */
    const uint64_t u64 = value > 0 && value < 0x1p64 ? (uint64_t)value : 0;
    const int32_t i32 = (int32_t)i64;
    const int8_t i8 = (int8_t)i64;
    const void *from = type == NB6_FIELD_F64   ? (const void *)&value
                       : type == NB6_FIELD_I64 ? (const void *)&i64
                       : type == NB6_FIELD_U64 ? (const void *)&u64
                       : type == NB6_FIELD_I32 ? (const void *)&i32
                                               : (const void *)&i8;
    memcpy(at, from, nb6_state_field_bytes(type));
}

/* The largest value that the type of a field holds. */
static double highest(enum nb6_field_type type)
{
    switch (type) {
    case NB6_FIELD_F64:
        return INFINITY;
    case NB6_FIELD_I64:
        return 0x1p62;
    case NB6_FIELD_U64:
        return 0x1p63;
    case NB6_FIELD_I32:
        return INT32_MAX;
    default:
        return INT8_MAX;
    }
}

static double lowest(enum nb6_field_type type)
{
    return type == NB6_FIELD_U64 ? 0 : type == NB6_FIELD_F64 ? -INFINITY : type == NB6_FIELD_I64 ? -0x1p62 : -100;
}

/* The range of a rule among `sizes`. */
static void range_of(const struct nb6_field_rule *rule, double *least, double *most)
{
    *least = rule->kind == NB6_RULE_OWNER ? -7 : rule->least;
    *most = rule->kind == NB6_RULE_RANGE   ? rule->most
            : rule->kind == NB6_RULE_BODY  ? 10
            : rule->kind == NB6_RULE_STAR  ? 6
            : rule->kind == NB6_RULE_SLOT  ? 3
            : rule->kind == NB6_RULE_CHAIN ? 2
                                           : 4;
}

static int has_range(const struct nb6_state_field *f)
{
    return f->rule.kind != NB6_RULE_ANY && f->rule.kind != NB6_RULE_INPUT && f->rule.kind != NB6_RULE_TEXT;
}

/* Rows with the smallest valid value in each field. */
static void fill(const struct nb6_field_group *group, char *array)
{
    double least, most;
    for (size_t k = 0; k < group->count; k++) {
        const struct nb6_state_field *f = &group->field[k];
        if (!has_range(f)) continue;
        range_of(&f->rule, &least, &most);
        for (int row = 0; row < ROWS; row++)
            for (size_t v = 0; v < nb6_state_field_values(f); v++) put(f->type, place(group, f, array, row, v), least);
    }
}

static int judge(const struct nb6_field_group *group, const char *array, const int8_t *is_used, struct nbc_error *err)
{
    struct nb6_hdf5 file = {.path = "x.ckpt.h5", .file = -1, .err = err};
    nb6_rules_judge(&file, group, array, ROWS, is_used, &sizes);
    return file.status;
}

/* The last value of the last row is `value`, and refused if that row is in use. */
static void expect_refusal(const struct nb6_field_group *group, const struct nb6_state_field *f, char *array,
                           double value)
{
    static const int8_t used[ROWS] = {1, 1, 0};
    struct nbc_error err = {0};
    char name[128];
    char *at = place(group, f, array, ROWS - 1, nb6_state_field_values(f) - 1), kept[8];
    memcpy(kept, at, nb6_state_field_bytes(f->type));
    put(f->type, at, value);
    snprintf(name, sizeof name, "x.ckpt.h5: %s/%s[2] is ", group->name, f->name);
    if (judge(group, array, NULL, &err) != NBC_BAD_INPUT) fail_msg("%s/%s: %g is allowed", group->name, f->name, value);
    if (!strstr(err.text, name)) fail_msg("'%s' is not in: %s", name, err.text);
    assert_non_null(strstr(err.text, "it must be a "));
    if (judge(group, array, used, &err)) fail_msg("a row that nobody reads: %s", err.text);
    memcpy(at, kept, nb6_state_field_bytes(f->type));
}

static void test_what_a_rule_does_not_allow(void **state)
{
    (void)state;
    const struct nb6_field_group *group[GROUPS];
    const int n = all_groups(group);
    int refused = 0;
    for (int g = 0; g < n; g++) {
        struct nbc_error err = {0};
        char *array = calloc(1, group[g]->offset + (ROWS + 1) * group[g]->size);
        assert_non_null(array);
        fill(group[g], array);
        if (judge(group[g], array, NULL, &err)) fail_msg("%s", err.text);
        for (size_t k = 0; k < group[g]->count; k++) {
            const struct nb6_state_field *f = &group[g]->field[k];
            const int real = f->type == NB6_FIELD_F64;
            double least, most;
            if (!has_range(f)) continue;
            range_of(&f->rule, &least, &most);
            const double below = real ? nextafter(least, -INFINITY) : least - 1;
            const double above = real ? nextafter(most, INFINITY) : most + 1;
            if (real) expect_refusal(group[g], f, array, NAN);
            if (below >= lowest(f->type) && below < least) expect_refusal(group[g], f, array, below);
            if (above <= highest(f->type) && above > most) expect_refusal(group[g], f, array, above);
            refused++;
        }
        free(array);
    }
    assert_true(refused > 200);
}

static void test_texts(void **state)
{
    (void)state;
    const struct nb6_field_group *group;
    for (int g = 0; (group = nb6_state_group(g)); g++) {
        char *array = calloc(1, group->offset + (ROWS + 1) * group->size);
        assert_non_null(array);
        fill(group, array);
        for (size_t k = 0; k < group->count; k++) {
            const struct nb6_state_field *f = &group->field[k];
            struct nbc_error err = {0};
            if (f->type != NB6_FIELD_TEXT) continue;
            char *text = place(group, f, array, 0, 0);
            strcpy(text, "stars of \xc3\xa9t\xc3\xa9.inp");
            if (judge(group, array, NULL, &err)) fail_msg("%s", err.text);
            text[3] = '\n';
            assert_int_equal(judge(group, array, NULL, &err), NBC_BAD_INPUT);
            assert_non_null(strstr(err.text, f->name));
            text[0] = 0;
        }
        free(array);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_field_has_a_rule),
        cmocka_unit_test(test_what_a_rule_does_not_allow),
        cmocka_unit_test(test_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
