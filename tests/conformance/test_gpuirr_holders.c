/* Bodies with a given body in their list: gpuirr_get_holders against a search through all lists, with and without an
 * index, while lists change, within transactions and as the number of bodies grows. */
#include "common/nbc.h"
#include "gpuirr/gpuirr.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N = 200, MORE = 260 };

static uint64_t seed = 1;

static uint32_t chance(uint32_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % below;
}

/* A list of some 20 of n bodies. */
static void set_any(gpuirr_t *irr, size_t i, size_t n)
{
    int32_t list[MORE];
    size_t nnb = 0;
    for (size_t j = 0; j < n; j++)
        if (j != i && chance(10) == 0) list[nnb++] = (int32_t)j;
    assert_int_equal(gpuirr_set_list(irr, i, nnb, list), NBC_OK);
}

static void expect_holders(gpuirr_t *irr, size_t n, size_t j)
{
    int32_t wanted[MORE];
    size_t n_wanted = 0, found = 0;
    for (size_t i = 0; i < n; i++) {
        size_t nnb = 0;
        const int32_t *list = gpuirr_get_list(irr, i, &nnb);
        for (size_t k = 0; k < nnb; k++)
            if (list[k] == (int32_t)j) wanted[n_wanted++] = (int32_t)i;
    }
    const int32_t *body = NULL;
    assert_int_equal(gpuirr_get_holders(irr, j, &found, &body), NBC_OK);
    assert_int_equal(found, n_wanted);
    if (found) assert_memory_equal(body, wanted, found * sizeof *body);
}

static void expect_all(gpuirr_t *irr, size_t n)
{
    for (size_t j = 0; j < n; j++) expect_holders(irr, n, j);
}

static gpuirr_t *with_lists(void)
{
    gpuirr_t *irr = NULL;
    assert_int_equal(gpuirr_create(&irr, N, NULL, NULL), NBC_OK);
    for (size_t i = 0; i < N; i++) set_any(irr, i, N);
    return irr;
}

/* Few changes are in the log, many are too many for it: 200 lists of 20 have room for 6096 gains. */
static void lists_change(void **state)
{
    (void)state;
    gpuirr_t *irr = with_lists();
    expect_all(irr, N);
    for (int round = 0; round < 300; round++) {
        for (uint32_t k = chance(40); k > 0; k--) set_any(irr, chance(N), N);
        for (int k = 0; k < 3; k++) expect_holders(irr, N, chance(N));
    }
    expect_all(irr, N);
    for (int round = 0; round < 5; round++) {
#pragma omp parallel for schedule(dynamic, 3) num_threads(4)
        for (size_t i = 0; i < N; i++) {
            int32_t list[N];
            size_t nnb = 0;
            for (size_t j = (i * 7 + (size_t)round) % 5; j < N; j += 3 + (i + (size_t)round) % 9)
                if (j != i) list[nnb++] = (int32_t)j;
            if (gpuirr_set_list(irr, i, nnb, list)) abort();
        }
        expect_all(irr, N);
    }
    gpuirr_free(irr);
}

/* Lists that come back, with an index from before the transaction and with one made within it. */
static void lists_come_back(void **state)
{
    (void)state;
    for (int made_within = 0; made_within < 2; made_within++) {
        gpuirr_t *irr = with_lists();
        if (!made_within) expect_all(irr, N);
        for (int round = 0; round < 20; round++) {
            assert_int_equal(gpuirr_begin(irr), NBC_OK);
            for (int k = 0; k < 30; k++) set_any(irr, chance(N), N);
            expect_all(irr, N);
            if (round % 2)
                gpuirr_publish(irr);
            else
                gpuirr_discard(irr);
            expect_all(irr, N);
        }
        gpuirr_free(irr);
    }
}

/* So many lists were replaced since the last query that the index is given up: the next query has the same result. */
static void nobody_asks(void **state)
{
    (void)state;
    gpuirr_t *irr = with_lists();
    for (int round = 0; round < 3; round++) {
        expect_all(irr, N);
        for (int k = 0; k < 6; k++) {
            assert_int_equal(gpuirr_begin(irr), NBC_OK);
            for (size_t i = 0; i < N; i++) set_any(irr, i, N);
            gpuirr_publish(irr);
        }
    }
    expect_all(irr, N);
    gpuirr_free(irr);
}

/* Two bodies are asked for again and again, as before two stars become one, while a list changes now and then. */
static void two_are_asked_for(void **state)
{
    (void)state;
    gpuirr_t *irr = with_lists();
    for (int round = 0; round < 200; round++) {
        const size_t both[2] = {chance(N), chance(N)};
        for (int k = 0; k < 6; k++) expect_holders(irr, N, both[k % 2]);
        if (round % 3 == 0) set_any(irr, chance(N), N);
        for (int k = 0; k < 2; k++) expect_holders(irr, N, both[k]);
        if (round % 5 == 0) assert_int_equal(gpuirr_begin(irr), NBC_OK);
        for (size_t i = 0; i < N; i += 7) set_any(irr, i, N);
        for (int k = 0; k < 2; k++) expect_holders(irr, N, both[k]);
        if (round % 5 == 0) gpuirr_discard(irr);
        for (int k = 0; k < 2; k++) expect_holders(irr, N, both[k]);
    }
    gpuirr_free(irr);
}

static void bodies_come(void **state)
{
    (void)state;
    gpuirr_t *irr = with_lists();
    expect_all(irr, N);
    assert_int_equal(gpuirr_reserve(irr, MORE), NBC_OK);
    for (size_t i = N; i < MORE; i++) set_any(irr, i, MORE);
    for (size_t i = 0; i < N; i += 3) set_any(irr, i, MORE);
    expect_all(irr, MORE);
    gpuirr_free(irr);
}

static void bad_calls(void **state)
{
    (void)state;
    gpuirr_t *irr = with_lists();
    size_t n = 77;
    const int32_t *body = NULL;
    assert_int_equal(gpuirr_get_holders(NULL, 0, &n, &body), NBC_BAD_ARGUMENT);
    assert_int_equal(gpuirr_get_holders(irr, N, &n, &body), NBC_BAD_ARGUMENT);
    assert_non_null(strstr(gpuirr_last_error(irr), "gpuirr_get_holders"));
    assert_int_equal(gpuirr_get_holders(irr, 0, NULL, &body), NBC_BAD_ARGUMENT);
    assert_int_equal(gpuirr_get_holders(irr, 0, &n, NULL), NBC_BAD_ARGUMENT);
    assert_int_equal(n, 77);
    assert_null(body);
    gpuirr_free(irr);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_change),      cmocka_unit_test(lists_come_back), cmocka_unit_test(nobody_asks),
        cmocka_unit_test(two_are_asked_for), cmocka_unit_test(bodies_come),     cmocka_unit_test(bad_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
