/* Trees that serve many steps of a collisionless system: devices, bodies and memory that fail, numbers that are
 * refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "device/faults.h"
#include "nbody6/collisionless/collisionless.h"
#include "tests/support/cluster.h"
#include "tests/support/collisionless.h"
#include "tests/support/failing_alloc.h"
#include "tests/support/reuse.h"

enum { FEW = 100 };

struct failure {
    enum nbd_fault fault;
    int64_t times;
    const char *backend;
};

/* The k-th call of devices fails, in the middle of a cycle.   @return whether it was made */
static int fail_at(const struct cluster *c, const struct failure *f, int64_t k)
{
    struct nbc_error err = {0};
    struct nb6_collisionless_options options = reuse_options(NB6_COLLISIONLESS_SHARED, 3);
    options.engine = NB6_COLLISIONLESS_EMULATED;
    options.parts = 2;
    options.force.backend = f->backend;
    struct nb6_collisionless *a = collisionless_start(c, &options), *b = collisionless_start(c, &options);
    collisionless_evolve(a, 2 / 64.0);
    collisionless_evolve(b, 2 / 64.0);
    reuse_assert_same(a, b);
    nbd_fault_set(f->fault, k, f->times);
    int status = nb6_collisionless_evolve(b, 7 / 64.0, &err);
    if (!status) status = nb6_collisionless_home(b, &err);
    const int failed = nbd_fault_failures() > 0;
    nbd_fault_set(NBD_FAULT_NONE, 0, 0);
    assert_int_equal(status, failed ? NBC_DEVICE : NBC_OK);
    if (status) reuse_assert_same(a, b); /* as at the beginning */
    collisionless_evolve(a, 9 / 64.0);
    collisionless_evolve(b, 9 / 64.0);
    reuse_assert_same(a, b);
    nb6_collisionless_free(a);
    nb6_collisionless_free(b);
    return failed;
}

static void a_device_that_fails_leaves_what_was_home(void **state)
{
    (void)state;
    enum { STRIDE = 11 };
    static const struct failure failures[] = {{NBD_FAULT_FAIL, 1, "portable"},
                                              {NBD_FAULT_FAIL, 1, "emulated"},
                                              {NBD_FAULT_FAIL, NBD_FAULT_FOR_EVER, "emulated"}};
    struct cluster c = reuse_cold(FEW, 11);
    for (size_t f = 0; f < sizeof failures / sizeof failures[0]; f++) {
        int64_t k = 1;
        while (fail_at(&c, &failures[f], k)) k += STRIDE;
        assert_true(k > 5 * STRIDE);
    }
    cluster_free(&c);
}

/* A body leaves the range of numbers in a block that builds, and in one that renews: the last block stays, and the call
 * can be repeated. */
static void a_body_that_fails_leaves_the_last_block(void **state)
{
    (void)state;
    for (int k = 0; k < 2 * REUSE_ENGINES; k++) {
        struct nbc_error err = {0};
        const int good = k % 2 ? 3 : 2; /* blocks before the one that fails, which is the second or third of a cycle */
        struct cluster c = reuse_cold(FEW, 12);
        struct nb6_collisionless_options options = reuse_on_engine(reuse_options(NB6_COLLISIONLESS_SHARED, 3), k / 2);
        c.x[7][0] = 9e14;
        c.v[7][0] = 1e14 / (options.dt * (good + 0.5));
        struct nb6_collisionless *s = collisionless_start(&c, &options);
        for (int again = 0; again < 3; again++) {
            assert_int_equal(nb6_collisionless_evolve(s, 1, &err), NBC_BAD_ARGUMENT);
            collisionless_home(s);
            assert_int_equal(s->n_blocks, good);
            assert_int_equal(s->rebuild.builds, 1);
        }
        nb6_collisionless_free(s);
        cluster_free(&c);
    }
}

/* Wherever memory ends, the system is not made and nothing is left behind. */
static void memory_may_end_anywhere(void **state)
{
    (void)state;
    if (!can_fail_alloc()) skip();
    struct cluster c = reuse_cold(FEW, 13);
    for (int k = 0; k < REUSE_ENGINES; k += 2) { /* a device has other words for it */
        const struct nb6_collisionless_options options = reuse_on_engine(reuse_options(NB6_COLLISIONLESS_SHARED, 3), k);
        assert_true(collisionless_allocations(&c, &options, 0.125, fail_alloc) > 20);
    }
    cluster_free(&c);
}

static void wrong_numbers_are_refused(void **state)
{
    (void)state;
    struct cluster c = cluster_plummer(4, 7);
    struct nb6_collisionless_options options = reuse_options(NB6_COLLISIONLESS_SHARED, NB6_MOST_REUSE + 1);
    collisionless_refuse(&c, &options, NBC_BAD_ARGUMENT, "it is 1 to 64");
    options.reuse = -1;
    collisionless_refuse(&c, &options, NBC_BAD_ARGUMENT, "a tree serves -1 steps");
    cluster_free(&c);
}

/* A part on a device has the tree beside its scratch, which holds it otherwise: no more memory. */
static void a_tree_that_is_kept_takes_no_more_memory(void **state)
{
    (void)state;
    struct nbc_error err = {0};
    struct nb6_collisionless_plan kept, dropped;
    struct nb6_collisionless_options options = reuse_on_engine(reuse_options(NB6_COLLISIONLESS_SHARED, 8), 3);
    assert_int_equal(nb6_collisionless_plan(100000, &options, &kept, &err), NBC_OK);
    options.reuse = 1;
    assert_int_equal(nb6_collisionless_plan(100000, &options, &dropped, &err), NBC_OK);
    assert_true(kept.device_bytes == dropped.device_bytes);
    assert_true(kept.pairs_by_tree < dropped.pairs_by_tree && kept.reuse == 8 && dropped.reuse == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_device_that_fails_leaves_what_was_home),
        cmocka_unit_test(a_body_that_fails_leaves_the_last_block),
        cmocka_unit_test(memory_may_end_anywhere),
        cmocka_unit_test(wrong_numbers_are_refused),
        cmocka_unit_test(a_tree_that_is_kept_takes_no_more_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
