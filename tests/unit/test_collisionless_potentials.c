/* Potentials of collisionless systems whose bodies stay on devices: they are made there, by the parts; errors, bits of
 * the host engine, devices and bodies that fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "device/faults.h"
#include "nbody6/analysis/frame.h"
#include "nbody6/collisionless/collisionless.h"
#include "tests/support/cluster.h"
#include "tests/support/collisionless.h"

enum { BODIES = 700, FEW = 60 };

static const double SOFTENING = 0.05, AIM = 1e-3;

/* Ways to make forces: direct sums, trees, and trees that are kept. */
enum { DIRECT, TREE, KEPT, KINDS };

static struct nb6_collisionless_options options_of(int kind, const char *backend, enum nb6_collisionless_engine engine,
                                                   int parts)
{
    struct nb6_collisionless_options options = {.softening = SOFTENING,
                                                .dt = 1.0 / 64,
                                                .engine = engine,
                                                .parts = parts,
                                                .reuse = kind == KEPT ? 4 : 1,
                                                .force = {.backend = backend}};
    if (kind == DIRECT) return options;
    options.force.force_error = AIM;
    options.force.leaf = 8; /* small ones, so that so few bodies have many cells */
    options.force.group = 16;
    options.force.walk = GPUNB_WALK_GROUPS;
    return options;
}

static int frame_of(struct nb6_collisionless *s, struct nb6_frame *frame, struct nbc_error *err)
{
    return nb6_collisionless_frame(s, NB6_FRAME_POTENTIAL, frame, err);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double exact(const struct nb6_frame *f, int64_t i)
{
    double pot = 0;
    for (int64_t j = 0; j < f->n; j++) {
        double r2 = SOFTENING * SOFTENING;
        for (int k = 0; k < 3; k++) r2 += (f->x[j][k] - f->x[i][k]) * (f->x[j][k] - f->x[i][k]);
        if (j != i) pot -= f->mass[j] / sqrt(r2);
    }
    return pot;
}

/* Direct sums of floats in pieces have a few roundings, 3e-7 of the whole (gpunb.h). Of a tree 99 of 100 potentials are
 * within a tenth of the aim. */
static void check_errors(const struct nb6_frame *f, int kind)
{
    double error[BODIES];
    for (int64_t i = 0; i < f->n; i++) error[i] = fabs(f->pot[i] / exact(f, i) - 1);
    qsort(error, (size_t)f->n, sizeof *error, by_value);
    const double most = error[f->n * 99 / 100], aim = kind == DIRECT ? 3e-7 : 0.1 * AIM;
    if (!(most < aim)) fail_msg("99 of 100 potentials are wrong by up to %g, and not %g", most, aim);
    assert_true(kind == DIRECT || most > 1e-9); /* cells have acted */
}

/* At the start, before bodies have changed their owners, and after that; trees that are kept were built twice. Those of
 * one part have the bits of the host engine. */
static void potentials_are_those_of_the_bodies(void **state)
{
    (void)state;
    static const char *const backend[] = {"portable", "emulated"};
    static const int parts[] = {1, 2, 5};
    static const double times[] = {0, 3 / 64.0, 7 / 64.0};
    struct nbc_error err = {0};
    struct cluster c = cluster_plummer(BODIES, 31);
    for (int k = 0; k < 2 * KINDS; k++) {
        const struct nb6_collisionless_options here =
            options_of(k % KINDS, backend[k / KINDS], NB6_COLLISIONLESS_HOST, 0);
        for (int p = 0; p < 3; p++) {
            const struct nb6_collisionless_options there =
                options_of(k % KINDS, backend[k / KINDS], NB6_COLLISIONLESS_EMULATED, parts[p]);
            struct nb6_collisionless *a = collisionless_start(&c, &here), *b = collisionless_start(&c, &there);
            for (int t = 0; t < 3; t++) {
                struct nb6_frame of_host, frame;
                collisionless_evolve(a, times[t]);
                collisionless_evolve(b, times[t]);
                assert_int_equal(frame_of(a, &of_host, &err), NBC_OK);
                assert_int_equal(frame_of(b, &frame, &err), NBC_OK);
                check_errors(&frame, k % KINDS);
                if (p == 0) assert_memory_equal(frame.pot, of_host.pot, BODIES * sizeof *frame.pot);
                nb6_frame_free(&of_host);
                nb6_frame_free(&frame);
            }
            nb6_collisionless_free(a);
            nb6_collisionless_free(b);
        }
    }
    cluster_free(&c);
}

/* The k-th call of devices fails while potentials are made.   @return whether it was made */
static int fail_at(const struct cluster *c, const struct nb6_collisionless_options *options, int64_t k, int64_t times)
{
    struct nbc_error err = {0};
    struct nb6_frame frame, again;
    struct nb6_collisionless *a = collisionless_start(c, options), *b = collisionless_start(c, options);
    collisionless_evolve(a, 3 / 64.0);
    collisionless_evolve(b, 3 / 64.0);
    assert_int_equal(frame_of(a, &frame, &err), NBC_OK);
    collisionless_home(b);
    nbd_fault_set(NBD_FAULT_FAIL, k, times);
    const int status = frame_of(b, &again, &err), failed = nbd_fault_failures() > 0;
    nbd_fault_set(NBD_FAULT_NONE, 0, 0);
    assert_int_equal(status, failed ? NBC_DEVICE : NBC_OK);
    if (status) assert_int_equal(frame_of(b, &again, &err), NBC_OK);
    assert_memory_equal(frame.pot, again.pot, (size_t)c->n * sizeof *frame.pot);
    nb6_frame_free(&frame);
    nb6_frame_free(&again);
    collisionless_end_alike(a, b, 6 / 64.0);
    return failed;
}

/* The state was in host memory, and is sent again; potentials that are asked for once more, and what follows, have the
 * same bits. */
static void a_device_that_fails_leaves_the_state(void **state)
{
    (void)state;
    enum { STRIDE = 5 };
    struct cluster c = cluster_plummer(FEW, 32);
    for (int kind = DIRECT; kind < KINDS; kind++) {
        const struct nb6_collisionless_options options = options_of(kind, "emulated", NB6_COLLISIONLESS_EMULATED, 2);
        int64_t k = 1;
        while (fail_at(&c, &options, k, k % 2 ? 1 : NBD_FAULT_FOR_EVER)) k += STRIDE;
        assert_true(k > 3 * STRIDE);
    }
    cluster_free(&c);
}

/* A body of a state that goes on is beyond the range of numbers: the message is that of the host engine. */
static void a_body_out_of_range_is_named(void **state)
{
    (void)state;
    struct cluster c = cluster_plummer(FEW, 33);
    for (int kind = DIRECT; kind < KINDS; kind++) {
        const struct nb6_collisionless_options here = options_of(kind, "emulated", NB6_COLLISIONLESS_HOST, 0),
                                               there = options_of(kind, "emulated", NB6_COLLISIONLESS_EMULATED, 3);
        struct nbc_error err = {0}, err_there = {0};
        struct nb6_frame frame;
        struct nb6_collisionless *s = collisionless_start(&c, &here), *a = NULL, *b = NULL;
        s->x0[FEW - 7][1] = 2e15;
        assert_int_equal(nb6_collisionless_resume(&a, s, &here, &err), NBC_OK);
        assert_int_equal(nb6_collisionless_resume(&b, s, &there, &err), NBC_OK);
        assert_int_equal(frame_of(a, &frame, &err), NBC_BAD_ARGUMENT);
        assert_int_equal(frame_of(b, &frame, &err_there), NBC_BAD_ARGUMENT);
        assert_non_null(strstr(err.text, "source 53"));
        assert_string_equal(err.text, err_there.text);
        nb6_collisionless_free(s);
        nb6_collisionless_free(a);
        nb6_collisionless_free(b);
    }
    cluster_free(&c);
}

/* The same of a start, which makes no system. */
static void a_start_out_of_range_is_refused(void **state)
{
    (void)state;
    struct cluster c = cluster_plummer(FEW, 34);
    c.x[11][2] = -3e15;
    for (int kind = DIRECT; kind < KINDS; kind++) {
        const struct nb6_collisionless_options there = options_of(kind, "emulated", NB6_COLLISIONLESS_EMULATED, 2);
        collisionless_refuse(&c, &there, NBC_BAD_ARGUMENT, "source 11");
    }
    cluster_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(potentials_are_those_of_the_bodies),
        cmocka_unit_test(a_device_that_fails_leaves_the_state),
        cmocka_unit_test(a_body_out_of_range_is_named),
        cmocka_unit_test(a_start_out_of_range_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
