/* Collisionless systems with their state on emulated devices: bits of the host engine, parts, the state after a body or
 * a device has failed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "device/faults.h"
#include "nbody6/analysis/frame.h"
#include "nbody6/collisionless/collisionless.h"
#include "nbody6/collisionless/resident.h"
#include "tests/support/cluster.h"
#include "tests/support/collisionless.h"
#include "tests/support/failing_alloc.h"

enum { BODIES = 300 };

static struct nb6_collisionless_options options_of(enum nb6_collisionless_steps steps,
                                                   enum nb6_collisionless_engine engine, int parts)
{
    return (struct nb6_collisionless_options){.softening = 0.05,
                                              .dt = steps == NB6_COLLISIONLESS_BLOCK ? 0.125 : 1.0 / 64,
                                              .steps = steps,
                                              .eta = 0.2,
                                              .engine = engine,
                                              .parts = parts};
}

/* One part has all bodies, and forces are asked for in the same way, with the same precision. */
static void one_part_has_the_bits_of_the_host(void **state)
{
    (void)state;
    static const enum gpunb_precision precision[] = {GPUNB_TWOFLOAT, GPUNB_FLOAT};
    static const char *const backend[] = {"portable", "emulated"};
    struct cluster c = cluster_plummer(BODIES, 3);
    double reached[2];
    for (int k = 0; k < 8; k++) {
        const enum nb6_collisionless_steps steps = k / 2 % 2;
        struct nb6_collisionless_options here = options_of(steps, NB6_COLLISIONLESS_HOST, 0),
                                         there = options_of(steps, NB6_COLLISIONLESS_EMULATED, 1);
        here.force = there.force = (struct gpunb_options){.backend = backend[k / 4], .precision = precision[k % 2]};
        struct nb6_collisionless *a = collisionless_start(&c, &here), *b = collisionless_start(&c, &there);
        assert_string_equal(nb6_collisionless_engine_name(a), "host");
        assert_string_equal(nb6_collisionless_engine_name(b), "emulated");
        collisionless_assert_same(a, b);
        collisionless_evolve(a, 2);
        collisionless_evolve(b, 0.5);
        collisionless_evolve(b, 2);
        assert_true(a->n_steps > a->n_blocks && (steps == 0 || a->n_steps < a->n_blocks * BODIES));
        collisionless_assert_same(a, b);
        reached[k % 2] = a->x0[0][0];
        if (k % 2) assert_true(reached[0] != reached[1]); /* precision is felt */
        nb6_collisionless_free(a);
        nb6_collisionless_free(b);
    }
    cluster_free(&c);
}

/* Frames copy the state to host memory in between; a resumed system sends it anew. */
static void parts_have_the_same_bits_however_it_is_cut(void **state)
{
    (void)state;
    struct nbc_error err = {0};
    struct cluster c = cluster_plummer(BODIES + 1, 4);
    for (enum nb6_collisionless_steps steps = 0; steps < 2; steps++) {
        const struct nb6_collisionless_options options = options_of(steps, NB6_COLLISIONLESS_EMULATED, 3);
        struct nb6_collisionless *once = collisionless_start(&c, &options), *often = collisionless_start(&c, &options),
                                 *resumed = NULL;
        collisionless_evolve(once, 2);
        for (int k = 0; k <= 16; k++) {
            struct nb6_frame frame;
            collisionless_evolve(often, k / 8.0);
            assert_int_equal(nb6_collisionless_frame(often, NB6_FRAME_POTENTIAL, &frame, &err), NBC_OK);
            nb6_frame_free(&frame);
            if (k == 5) assert_int_equal(nb6_collisionless_resume(&resumed, often, &options, &err), NBC_OK);
        }
        collisionless_evolve(resumed, 2);
        collisionless_assert_same(once, often);
        collisionless_assert_same(once, resumed);
        nb6_collisionless_free(once);
        nb6_collisionless_free(often);
        nb6_collisionless_free(resumed);
    }
    cluster_free(&c);
}

/* Sums are split at other places: accelerations differ by the roundings of floats, 1e-7 of each of 300 terms at most,
 * which a time unit of a sphere with this softening lets grow by less than a hundred. */
static void parts_move_bodies_as_the_host_does(void **state)
{
    (void)state;
    static const int parts[] = {2, 5, NB6_MOST_PARTS};
    struct cluster c = cluster_plummer(BODIES, 5);
    const struct nb6_collisionless_options here = options_of(NB6_COLLISIONLESS_SHARED, NB6_COLLISIONLESS_HOST, 0);
    struct nb6_collisionless *a = collisionless_start(&c, &here);
    collisionless_evolve(a, 1);
    for (int k = 0; k < 3; k++) {
        const struct nb6_collisionless_options there =
            options_of(NB6_COLLISIONLESS_SHARED, NB6_COLLISIONLESS_EMULATED, parts[k]);
        struct nb6_collisionless *b = collisionless_start(&c, &there);
        collisionless_evolve(b, 1);
        collisionless_home(b);
        double most = 0;
        for (int64_t i = 0; i < BODIES; i++)
            for (int d = 0; d < 3; d++) most = fmax(most, fabs(a->x0[i][d] - b->x0[i][d]));
        assert_true(most > 0 && most < 1e-5);
        nb6_collisionless_free(b);
    }
    nb6_collisionless_free(a);
    cluster_free(&c);
}

/* A body leaves the range of numbers of GPUNB: the message is that of the host engine, and the last block stays
 * committed. */
static void a_body_that_fails_leaves_the_last_block(void **state)
{
    (void)state;
    const double row[3][7] = {{1, 0, 0, 0, 0, 0, 0}, {1, 0.02, 0, 0, 0, 0, 0}, {0, 1e14, 0, 0, 1e16, 0, 0}};
    struct nbc_error err = {0}, err_there = {0};
    struct cluster c = cluster_from_rows(3, row);
    const struct nb6_collisionless_options here = options_of(NB6_COLLISIONLESS_BLOCK, NB6_COLLISIONLESS_HOST, 0);
    struct nb6_collisionless *a = collisionless_start(&c, &here);
    assert_int_equal(nb6_collisionless_evolve(a, 0.125, &err), NBC_BAD_ARGUMENT);
    for (int parts = 1; parts <= 3; parts += 2) {
        const struct nb6_collisionless_options there =
            options_of(NB6_COLLISIONLESS_BLOCK, NB6_COLLISIONLESS_EMULATED, parts);
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

/* ---- devices that fail */

/* Calls of the first blocks fail one by one, later ones and those of another backend in strides. */
enum { FIRST = 80, STRIDE = 61 };

/* The k-th call of devices fails in a block, or, with at_home, while the state is copied to host memory.
 * @return whether it was made */
static int fail_at(const struct cluster *c, const char *backend, int at_home, int64_t k)
{
    struct nbc_error err = {0};
    struct nb6_collisionless_options options = options_of(NB6_COLLISIONLESS_BLOCK, NB6_COLLISIONLESS_EMULATED, 2);
    options.force.backend = backend;
    struct nb6_collisionless *a = collisionless_start(c, &options), *b = collisionless_start(c, &options);
    collisionless_evolve(a, 0.5);
    collisionless_evolve(b, 0.5);
    collisionless_assert_same(a, b);
    if (at_home) collisionless_evolve(b, 1);
    nbd_fault_set(NBD_FAULT_FAIL, k, 1);
    const int status = at_home ? nb6_collisionless_home(b, &err) : nb6_collisionless_evolve(b, 1, &err),
              failed = nbd_fault_failures() > 0;
    nbd_fault_set(NBD_FAULT_NONE, 0, 0);
    assert_int_equal(status, failed ? NBC_DEVICE : NBC_OK);
    if (status) collisionless_assert_same(a, b); /* as at t = 0.5 */
    collisionless_end_alike(a, b, 1);
    return failed;
}

/* On two devices of which a call fails the system is as it was at the last copy, and continues from there with the same
 * bits when the devices answer again. Backends are named: a failure of forces within a kernel of the emulation, as that
 * of another kind of device would be, has no status; the host makes the block then, without a failure. */
static void a_device_that_fails_leaves_what_was_home(void **state)
{
    (void)state;
    struct cluster c = cluster_plummer(40, 6);
    for (int at_home = 0; at_home < 2; at_home++) {
        int64_t k = 1;
        while (fail_at(&c, "portable", at_home, k)) k += k < FIRST ? 1 : STRIDE;
        assert_true(k > (at_home ? 10 : FIRST));
        for (k = 1; fail_at(&c, "emulated", at_home, k);) k += at_home ? 3 : STRIDE;
        assert_true(k > (at_home ? 10 : FIRST));
    }
    cluster_free(&c);
}

static void engines_that_cannot_be_had_are_refused(void **state)
{
    (void)state;
    struct cluster c = cluster_plummer(4, 7);
    struct nb6_collisionless_options o = options_of(NB6_COLLISIONLESS_SHARED, NB6_COLLISIONLESS_EMULATED, 5);
    collisionless_refuse(&c, &o, NBC_BAD_ARGUMENT, "5 parts of 4 bodies");
    o.engine = NB6_COLLISIONLESS_DEVICE;
    o.force.backend = "ref";
    collisionless_refuse(&c, &o, NBC_UNAVAILABLE, "the backend is ref");
    o.engine = (enum nb6_collisionless_engine)7;
    collisionless_refuse(&c, &o, NBC_BAD_ARGUMENT, "number 7");
    cluster_free(&c);
}

/* Wherever memory ends, the system is not made and nothing is left behind. */
static void memory_may_end_anywhere(void **state)
{
    (void)state;
    if (!can_fail_alloc()) skip();
    struct cluster c = cluster_plummer(BODIES, 8);
    struct nb6_collisionless_options o = options_of(NB6_COLLISIONLESS_BLOCK, NB6_COLLISIONLESS_EMULATED, 2);
    o.force.backend = "ref";
    const long k = collisionless_allocations(&c, &o, 0.125, fail_alloc);
    assert_true(k > 30); /* both parts have a dozen arrays */
    cluster_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_part_has_the_bits_of_the_host),
        cmocka_unit_test(parts_have_the_same_bits_however_it_is_cut),
        cmocka_unit_test(parts_move_bodies_as_the_host_does),
        cmocka_unit_test(a_body_that_fails_leaves_the_last_block),
        cmocka_unit_test(a_device_that_fails_leaves_what_was_home),
        cmocka_unit_test(engines_that_cannot_be_had_are_refused),
        cmocka_unit_test(memory_may_end_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
