/* Transactions of neighbour lists: the promises of gpuirr_begin, gpuirr_publish and gpuirr_discard. */
#include "common/nbc.h"
#include "gpuirr/gpuirr.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { N = 300 };

/* List of body i, number `version`: of another length and with other members each time. */
static size_t make(size_t i, size_t version, int32_t list[])
{
    size_t nnb = 0;
    for (size_t j = (i + version) % 5; j < N; j += 3 + (i + 2 * version) % 40)
        if (j != i) list[nnb++] = (int32_t)j;
    return (i + version) % 7 ? nnb : 0;
}

static void set(gpuirr_t *irr, size_t i, size_t version)
{
    int32_t list[N];
    const size_t nnb = make(i, version, list);
    assert_int_equal(gpuirr_set_list(irr, i, nnb, list), NBC_OK);
}

static void expect(const int32_t *stored, size_t nnb, size_t i, size_t version)
{
    int32_t list[N];
    assert_int_equal(nnb, make(i, version, list));
    if (nnb) assert_memory_equal(stored, list, nnb * sizeof *list);
}

static void expect_list(const gpuirr_t *irr, size_t i, size_t version)
{
    size_t nnb = 0;
    const int32_t *list = gpuirr_get_list(irr, i, &nnb);
    expect(list, nnb, i, version);
}

static void expect_old(const gpuirr_t *irr, size_t i, size_t version)
{
    size_t nnb = 0;
    const int32_t *list = gpuirr_get_old_list(irr, i, &nnb);
    expect(list, nnb, i, version);
}

static gpuirr_t *with_lists(size_t n_max)
{
    static const double zero[3];
    gpuirr_t *irr = NULL;
    assert_int_equal(gpuirr_create(&irr, n_max, NULL, NULL), NBC_OK);
    for (size_t i = 0; i < N; i++) {
        const double x[3] = {(double)i, (double)(i * i % 37), 0.5};
        assert_int_equal(gpuirr_set_jp(irr, i, x, zero, zero, zero, 1, 0), NBC_OK);
        set(irr, i, 0);
    }
    return irr;
}

static void kept_or_not(void **state)
{
    (void)state;
    gpuirr_t *irr = with_lists(N);
    size_t version[N] = {0};
    for (size_t round = 1; round < 9; round++) {
        const int keep = round % 2 == 0;
        assert_int_equal(gpuirr_begin(irr), NBC_OK);
#pragma omp parallel for schedule(dynamic, 7) num_threads(4)
        for (size_t i = 0; i < N; i++) {
            if (i % 3 == round % 3) continue;
            set(irr, i, 10 * round); /* set twice: the list before both is kept */
            set(irr, i, round);
        }
        for (size_t i = 0; i < N; i++) {
            expect_old(irr, i, version[i]);
            expect_list(irr, i, i % 3 == round % 3 ? version[i] : round);
            if (keep && i % 3 != round % 3) version[i] = round;
        }
        if (keep)
            gpuirr_publish(irr);
        else
            gpuirr_discard(irr);
        for (size_t i = 0; i < N; i++) expect_list(irr, i, version[i]);
        for (size_t i = 0; i < N; i++) expect_old(irr, i, version[i]);
    }
    gpuirr_free(irr);
}

/* Lists of a block at once, as one by one: with and without a transaction, new and set again, of all lengths. */
static void many_at_once(void **state)
{
    (void)state;
    static int32_t rows[N][N], body[N], nnb[N];
    static const int32_t *row[N];
    gpuirr_t *irr = with_lists(N);
    size_t version[N] = {0};
    for (size_t round = 1; round < 40; round++) {
        const int open = round % 4 != 0, keep = round % 3 != 0, twice = round % 5 == 0;
        if (open) assert_int_equal(gpuirr_begin(irr), NBC_OK);
        size_t n = 0;
        for (size_t i = round % 2; i < N; i += 1 + round % 7) {
            if (twice) set(irr, i, 100 + round);
            body[n] = (int32_t)i;
            nnb[n] = (int32_t)make(i, round, rows[n]);
            row[n] = rows[n];
            n++;
        }
        assert_int_equal(gpuirr_set_lists(irr, n, body, nnb, row), NBC_OK);
        for (size_t k = 0; k < n; k++) {
            expect_list(irr, (size_t)body[k], round);
            if (open) expect_old(irr, (size_t)body[k], version[body[k]]);
            if (!open || keep) version[body[k]] = round;
        }
        if (open && keep) gpuirr_publish(irr);
        if (open && !keep) gpuirr_discard(irr);
        for (size_t i = 0; i < N; i++) expect_list(irr, i, version[i]);
    }
    gpuirr_free(irr);
}

/* One list that is none, and none is stored. */
static void all_or_none(void **state)
{
    (void)state;
    static const int32_t good[] = {3, 5, 9}, back[] = {3, 9, 5}, twice[] = {3, 3}, far[] = {5, N}, own[] = {2, 8},
                         below[] = {-1, 2};
    static const struct {
        const int32_t *list;
        int32_t nnb, body;
        const char *says;
    } bad[] = {{back, 3, 8, "body 8: neighbour 5 comes after 9"},
               {twice, 2, 8, "neighbour 3 comes after 3"},
               {far, 2, 8, "neighbour 300 is no body of 0 to 299"},
               {own, 2, 8, "its list contains itself"},
               {below, 2, 8, "neighbour -1 is no body"},
               {good, 3, N, "there is no body 300"},
               {good, 3, -1, "there is no body -1"},
               {NULL, 2, 8, "nblist is NULL"},
               {good, N, 8, "300 neighbours among 300 bodies"}};
    gpuirr_t *irr = with_lists(N);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        const int32_t body[] = {7, bad[k].body, 11}, nnb[] = {3, bad[k].nnb, 0};
        const int32_t *const list[] = {good, bad[k].list, NULL};
        assert_int_equal(gpuirr_set_lists(irr, 3, body, nnb, list), NBC_BAD_ARGUMENT);
        assert_non_null(strstr(gpuirr_last_error(irr), "gpuirr_set_lists"));
        assert_non_null(strstr(gpuirr_last_error(irr), bad[k].says));
        for (size_t i = 0; i < N; i++) expect_list(irr, i, 0);
    }
    assert_int_equal(gpuirr_set_lists(irr, 0, NULL, NULL, NULL), NBC_OK);
    assert_int_equal(gpuirr_set_lists(irr, 1, NULL, NULL, NULL), NBC_BAD_ARGUMENT);
    assert_int_equal(gpuirr_set_lists(NULL, 0, NULL, NULL, NULL), NBC_BAD_ARGUMENT);
    gpuirr_free(irr);
}

static void one_at_a_time(void **state)
{
    (void)state;
    gpuirr_t *irr = with_lists(N);
    gpuirr_publish(irr); /* nothing is open */
    gpuirr_discard(irr);
    expect_list(irr, 7, 0);
    assert_int_equal(gpuirr_begin(irr), NBC_OK);
    assert_int_equal(gpuirr_begin(irr), NBC_BAD_STATE);
    assert_non_null(strstr(gpuirr_last_error(irr), "gpuirr_begin"));
    assert_int_equal(gpuirr_begin(NULL), NBC_BAD_ARGUMENT);
    gpuirr_free(irr); /* with an open transaction */
}

/* A refused list changes nothing, and bodies may come within a transaction. */
static void refusals_and_growth(void **state)
{
    (void)state;
    gpuirr_t *irr = with_lists(N);
    static const int32_t unsorted[] = {4, 2};
    assert_int_equal(gpuirr_begin(irr), NBC_OK);
    set(irr, 5, 3);
    assert_int_equal(gpuirr_set_list(irr, 5, 2, unsorted), NBC_BAD_ARGUMENT);
    assert_int_equal(gpuirr_set_list(irr, 6, 2, unsorted), NBC_BAD_ARGUMENT);
    assert_int_equal(gpuirr_reserve(irr, 3 * N), NBC_OK);
    set(irr, 2 * N, 4);
    expect_list(irr, 2 * N, 4);
    gpuirr_discard(irr);
    size_t nnb = 1;
    gpuirr_get_list(irr, 2 * N, &nnb);
    assert_int_equal(nnb, 0);
    for (size_t i = 0; i < N; i++) expect_list(irr, i, 0);
    gpuirr_free(irr);
}

/* Forces are those of the new lists within a transaction, and of the old ones after it is discarded. */
static void forces(void **state)
{
    (void)state;
    gpuirr_t *irr = with_lists(N);
    static const int32_t act[] = {3, 8, 200};
    double before[3][3], jerk[3][3], within[3][3], after[3][3];
    assert_int_equal(gpuirr_pred_act(irr, 3, act, 0), NBC_OK);
    assert_int_equal(gpuirr_firr_vec(irr, 3, act, before, jerk, NULL), NBC_OK);
    assert_int_equal(gpuirr_begin(irr), NBC_OK);
    for (int k = 0; k < 3; k++) set(irr, (size_t)act[k], 1);
    assert_int_equal(gpuirr_firr_vec(irr, 3, act, within, jerk, NULL), NBC_OK);
    gpuirr_discard(irr);
    assert_int_equal(gpuirr_firr_vec(irr, 3, act, after, jerk, NULL), NBC_OK);
    assert_memory_not_equal(before, within, sizeof before);
    assert_memory_equal(before, after, sizeof before);
    gpuirr_free(irr);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kept_or_not),   cmocka_unit_test(many_at_once),        cmocka_unit_test(all_or_none),
        cmocka_unit_test(one_at_a_time), cmocka_unit_test(refusals_and_growth), cmocka_unit_test(forces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
