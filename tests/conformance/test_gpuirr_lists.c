/* Neighbour lists in GPUIRR: empty, growing and shrinking, refused, and the memory they take. */
#include "common/nbc.h"
#include "tests/conformance/gpuirr_model.h"
#include "tests/support/test_size.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

static void empty_lists(void **state)
{
    (void)state;
    const int32_t act[2] = {1, 0};
    struct body body = {.mass = 1};
    gpuirr_t *irr = open_library(2);
    for (int all = 0; all < 2; all++) {
        double acc[2][3] = {{7, 7, 7}, {7, 7, 7}}, jerk[2][3] = {{7, 7, 7}, {7, 7, 7}};
        int32_t nearest[2] = {7, 7};
        expect_ok(irr, set_body(irr, 0, &body));
        expect_ok(irr, set_body(irr, 1, &body));
        expect_ok(irr, all ? gpuirr_pred_all(irr, 0, 2, 0) : gpuirr_pred_act(irr, 2, act, 0));
        expect_ok(irr, gpuirr_firr_vec(irr, 2, act, acc, jerk, nearest));
        for (int k = 0; k < 2; k++) {
            for (int d = 0; d < 3; d++) assert_true(acc[k][d] == 0 && jerk[k][d] == 0);
            assert_int_equal(nearest[k], -1);
        }
        expect_ok(irr, gpuirr_firr_vec(irr, 0, NULL, NULL, NULL, NULL));
    }
    gpuirr_free(irr);
}

/* Lists grow and shrink, and come back as they were given. */
static void lists_change_length(void **state)
{
    (void)state;
    static const int32_t length[] = {0, 1, 15, 16, 17, 2999, 3, 0, 64, 31, 2000, 999, 1000, 1, 2998, 0, 5};
    enum { N = 3000 };
    static int32_t list[N];
    struct body *body = make_bodies(N);
    gpuirr_t *irr = open_library(N);
    const int32_t act = 11;
    size_t nnb = 99;
    set_bodies(irr, N, body);
    gpuirr_get_list(irr, 11, &nnb);
    assert_int_equal(nnb, 0);
    expect_ok(irr, gpuirr_pred_all(irr, 0, N, 0.25));
    for (size_t k = 0; k < sizeof length / sizeof length[0]; k++) {
        double acc[1][3], jerk[1][3];
        struct exact exact;
        make_list(N, act, length[k], list);
        expect_ok(irr, gpuirr_set_list(irr, 11, (size_t)length[k], length[k] ? list : NULL));
        const int32_t *stored = gpuirr_get_list(irr, 11, &nnb);
        assert_int_equal(nnb, length[k]);
        if (nnb) assert_memory_equal(stored, list, nnb * sizeof *list);
        expect_ok(irr, gpuirr_firr_vec(irr, 1, &act, acc, jerk, NULL));
        exact_force(body, act, length[k], list, 0.25, &exact);
        /* float precision is enough to see that it is this list */
        expect_within("acceleration", act, relative_error(acc[0], exact.acc, exact.acc_scale), 2e-6);
    }
    /* A part of the stored list may be stored as the new list. */
    make_list(N, act, 2000, list);
    for (size_t first = 0; first < 2000; first += 400) {
        expect_ok(irr, gpuirr_set_list(irr, 11, 2000, list));
        expect_ok(irr, gpuirr_set_list(irr, 11, 2000 - first, gpuirr_get_list(irr, 11, &nnb) + first));
        assert_memory_equal(gpuirr_get_list(irr, 11, &nnb), list + first, (2000 - first) * sizeof *list);
        assert_int_equal(nnb, 2000 - first);
    }
    gpuirr_free(irr);
    nbc_free(body);
}

static void bad_lists(void **state)
{
    (void)state;
    static const int32_t good[3] = {1, 3, 9}, unsorted[3] = {1, 9, 3}, twice[3] = {1, 3, 3}, self[3] = {1, 4, 9},
                         negative[3] = {-1, 3, 9}, large[3] = {1, 3, 10};
    gpuirr_t *irr = open_library(10);
    size_t nnb;
    expect_ok(irr, gpuirr_set_list(irr, 4, 3, good));
    expect_refused(irr, gpuirr_set_list(irr, 4, 3, unsorted), NBC_BAD_ARGUMENT, "body 4: neighbour 3 comes after 9");
    expect_refused(irr, gpuirr_set_list(irr, 4, 3, twice), NBC_BAD_ARGUMENT, "neighbour 3 comes after 3");
    expect_refused(irr, gpuirr_set_list(irr, 4, 3, self), NBC_BAD_ARGUMENT, "body 4: its list contains itself");
    expect_refused(irr, gpuirr_set_list(irr, 4, 3, negative), NBC_BAD_ARGUMENT, "body 4: neighbour -1 is no body");
    expect_refused(irr, gpuirr_set_list(irr, 4, 3, large), NBC_BAD_ARGUMENT, "neighbour 10 is no body of 0 to 9");
    expect_refused(irr, gpuirr_set_list(irr, 4, 3, NULL), NBC_BAD_ARGUMENT, "NULL");
    expect_refused(irr, gpuirr_set_list(irr, 4, 10, good), NBC_BAD_ARGUMENT, "10 neighbours among 10 bodies");
    expect_refused(irr, gpuirr_set_list(irr, 4, SIZE_MAX, good), NBC_BAD_ARGUMENT, "neighbours among 10");
    expect_refused(irr, gpuirr_set_list(irr, 10, 3, good), NBC_BAD_ARGUMENT, "no body 10");
    const int32_t *stored = gpuirr_get_list(irr, 4, &nnb);
    assert_int_equal(nnb, 3);
    assert_memory_equal(stored, good, sizeof good);
    assert_null(gpuirr_get_list(irr, 10, &nnb));
    assert_int_equal(nnb, 0);
    gpuirr_free(irr);
}

#if defined(__GLIBC__) && !TEST_SANITIZED
static double bytes_in_use(void)
{
    struct mallinfo2 info = mallinfo2();
    return (double)(info.uordblks + info.hblkhd);
}

/* 128 bytes of predictor in double, 64 packed, 64 of prediction, 80 list entries, 32 of overhead: a million bodies with
 * lists of 60 in 0.6 gigabytes. Memory of long lists is returned when they shrink. So many bodies that the pages of 2
 * MiB at the begin and end of arrays are negligible. */
static void memory_of_a_body(void **state)
{
    (void)state;
    enum { BODIES = 400000, LIST = 60 };
    double before = bytes_in_use();
    gpuirr_t *irr = open_library(BODIES);
    int32_t list[LIST];
    for (int32_t i = 0; i < BODIES; i++) {
        for (int32_t k = 0; k < LIST; k++) list[k] = k + (k >= i);
        expect_ok(irr, gpuirr_set_list(irr, (size_t)i, LIST - 5 + (size_t)(i % 6), list));
    }
    assert_true((bytes_in_use() - before) / BODIES < 128 + 64 + 64 + 4 * 80 + 32);
    for (int32_t i = 0; i < BODIES; i++) {
        for (int32_t k = 0; k < 16; k++) list[k] = k + (k >= i);
        expect_ok(irr, gpuirr_set_list(irr, (size_t)i, 16, list));
    }
    assert_true((bytes_in_use() - before) / BODIES < 128 + 64 + 64 + 4 * 32 + 32); /* half of it would do */
    gpuirr_free(irr);
}
#else
static void memory_of_a_body(void **state)
{
    (void)state;
    print_message("skipped: memory of a body: only glibc without a sanitizer says what is in use\n");
    skip();
}
#endif

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(memory_of_a_body), /* first: later tests leave free blocks behind */
    cmocka_unit_test(empty_lists),
    cmocka_unit_test(lists_change_length),
    cmocka_unit_test(bad_lists),
};

RUN_FOR_EACH_BACKEND(tests)
