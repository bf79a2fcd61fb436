/* Collisionless systems with forces by a tree when a body, a device or memory fails: the state that is left, and what
 * follows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

#include "device/faults.h"
#include "nbody6/collisionless/collisionless.h"
#include "tests/support/cluster.h"
#include "tests/support/collisionless.h"
#include "tests/support/failing_alloc.h"
#include "tests/support/test_size.h"

enum { BODIES = 600, FEW = 100 };

/* Block steps by a tree, which makes all forces with a walk of its own. */
static struct nb6_collisionless_options options_of(enum nb6_collisionless_engine engine, int parts, const char *backend)
{
    return (struct nb6_collisionless_options){
        .softening = 0.05,
        .dt = 0.125,
        .steps = NB6_COLLISIONLESS_BLOCK,
        .eta = 0.2,
        .engine = engine,
        .parts = parts,
        .force = {.backend = backend, .force_error = 1e-3, .walk = GPUNB_WALK_GROUPS}};
}

/* A body leaves the range of numbers of GPUNB: the message is that of the host engine, and the last block stays. */
static void a_body_that_fails_leaves_the_last_block(void **state)
{
    (void)state;
    const double row[3][7] = {{1, 0, 0, 0, 0, 0, 0}, {1, 0.02, 0, 0, 0, 0, 0}, {0, 1e14, 0, 0, 1e16, 0, 0}};
    struct nbc_error err = {0}, err_there = {0};
    struct cluster c = cluster_from_rows(3, row);
    const struct nb6_collisionless_options here = options_of(NB6_COLLISIONLESS_HOST, 0, "emulated");
    struct nb6_collisionless *a = collisionless_start(&c, &here);
    assert_int_equal(nb6_collisionless_evolve(a, 0.125, &err), NBC_BAD_ARGUMENT);
    for (int parts = 1; parts <= 3; parts += 2) {
        const struct nb6_collisionless_options there = options_of(NB6_COLLISIONLESS_EMULATED, parts, "emulated");
        struct nb6_collisionless *b = collisionless_start(&c, &there);
        for (int again = 0; again < 2; again++) {
            assert_int_equal(nb6_collisionless_evolve(b, 0.125, &err_there), NBC_BAD_ARGUMENT);
            assert_string_equal(err_there.text, err.text);
            assert_true(b->n_blocks > 0 && b->ti_now == a->ti_now);
        }
        if (parts == 1) collisionless_assert_same(a, b);
        nb6_collisionless_free(b);
    }
    nb6_collisionless_free(a);
    cluster_free(&c);
}

struct failure {
    enum nbd_fault fault;
    int64_t times;
    const char *backend;
    double begin; /* 0: the system was resumed there, and the trees of its parts are yet to get their memory */
};

static struct nb6_collisionless *start(const struct cluster *c, const struct nb6_collisionless_options *options,
                                       double begin)
{
    struct nbc_error err = {0};
    struct nb6_collisionless *s = collisionless_start(c, options), *resumed = NULL;
    collisionless_evolve(s, begin);
    if (begin > 0) return s;
    if (nb6_collisionless_resume(&resumed, s, options, &err)) fail_msg("%s", err.text);
    nb6_collisionless_free(s);
    return resumed;
}

/* Both systems evolve to the same time, in which the k-th call of devices fails for one of them.
 * @return whether it was made */
static int fail_at(const struct cluster *c, const struct failure *f, int64_t k)
{
    struct nbc_error err = {0};
    const struct nb6_collisionless_options options = options_of(NB6_COLLISIONLESS_EMULATED, 2, f->backend);
    struct nb6_collisionless *a = start(c, &options, f->begin), *b = start(c, &options, f->begin);
    collisionless_assert_same(a, b);
    nbd_fault_set(f->fault, k, f->times);
    const int status = nb6_collisionless_evolve(b, f->begin + 0.125, &err), failed = nbd_fault_failures() > 0;
    nbd_fault_set(NBD_FAULT_NONE, 0, 0);
    assert_int_equal(status, failed ? NBC_DEVICE : NBC_OK);
    if (status) assert_non_null(strstr(err.text, "was asked for"));
    if (status) collisionless_assert_same(a, b); /* as at the beginning */
    collisionless_end_alike(a, b, f->begin + 0.125);
    return failed;
}

/* On two devices of which a call fails in a block, finds no memory, or which are lost from then on, the system is as it
 * was at the last copy to host memory, and goes on from there with the accelerations of that time and the same bits.
 * Calls fail in turn, from the first to the last. */
static void a_device_that_fails_leaves_what_was_home(void **state)
{
    (void)state;
    enum { STRIDE = TEST_SANITIZED ? 17 : 7, LEAST = 35 };
    static const struct failure failures[] = {
        {NBD_FAULT_FAIL, 1, "portable", 0.125},  {NBD_FAULT_FAIL, 1, "emulated", 0.125},
        {NBD_FAULT_FAIL, 1, "emulated", 0},      {NBD_FAULT_FAIL, NBD_FAULT_FOR_EVER, "emulated", 0},
        {NBD_FAULT_NO_MEMORY, 1, "emulated", 0},
    };
    struct cluster c = cluster_plummer(FEW, 9);
    for (size_t f = 0; f < sizeof failures / sizeof failures[0]; f++) {
        const int64_t stride = failures[f].fault == NBD_FAULT_NO_MEMORY ? 1 : STRIDE;
        int64_t k = 1;
        while (fail_at(&c, &failures[f], k)) k += stride;
        /* Each part has two allocations for its first tree, the counts and what the host reads. */
        assert_true(k > (failures[f].fault == NBD_FAULT_NO_MEMORY ? 4 : LEAST));
    }
    cluster_free(&c);
}

/* Nothing is left of a system whose devices fail, or have no memory, while it is made. */
static void devices_that_cannot_be_opened(void **state)
{
    (void)state;
    struct cluster c = cluster_plummer(FEW, 9);
    const struct nb6_collisionless_options options = options_of(NB6_COLLISIONLESS_EMULATED, 2, "emulated");
    for (enum nbd_fault fault = NBD_FAULT_FAIL; fault <= NBD_FAULT_NO_MEMORY; fault++) {
        int64_t k = 1;
        for (int failed = 1; failed; k++) {
            struct nbc_error err = {0};
            struct nb6_collisionless *s = NULL;
            nbd_fault_set(fault, k, 1);
            const int status = nb6_collisionless_create(&s, c.n, NULL, c.mass, (const double(*)[3])c.x,
                                                        (const double(*)[3])c.v, &options, &err);
            failed = nbd_fault_failures() > 0;
            nbd_fault_set(NBD_FAULT_NONE, 0, 0);
            assert_int_equal(status != NBC_OK, failed);
            assert_int_equal(s == NULL, failed);
            if (failed) assert_true(status == NBC_DEVICE || status == NBC_NO_MEMORY);
            nb6_collisionless_free(s);
        }
        assert_true(k > 3 * 15); /* two parts and the system have a dozen arrays each, and buffers of a handle */
    }
    cluster_free(&c);
}

/* Wherever memory ends, the system is not made and nothing is left behind. */
static void memory_may_end_anywhere(void **state)
{
    (void)state;
    if (!can_fail_alloc()) skip();
    struct cluster c = cluster_plummer(BODIES, 8);
    const struct nb6_collisionless_options o = options_of(NB6_COLLISIONLESS_EMULATED, 2, "ref");
    const long k = collisionless_allocations(&c, &o, 0.125, fail_alloc);
    assert_true(k > 40); /* a tree has a dozen arrays, and each part has as many */
    cluster_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_body_that_fails_leaves_the_last_block),
        cmocka_unit_test(a_device_that_fails_leaves_what_was_home),
        cmocka_unit_test(devices_that_cannot_be_opened),
        cmocka_unit_test(memory_may_end_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
