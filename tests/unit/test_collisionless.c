/* Collisionless systems: block times, the same bits, refusals, and the state after a failure. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#include "nbody6/analysis/frame.h"
#include "nbody6/collisionless/collisionless.h"
#include "nbody6/state/level.h"
#include "tests/support/cluster.h"
#include "tests/support/collisionless.h"

/* More than one part for the threads (leapfrog.c has 4096 bodies at least in each). */
enum { BODIES = 300, MANY = 16400 };

static struct nb6_collisionless_options block_options(void)
{
    return (struct nb6_collisionless_options){
        .softening = 0.05, .dt = 0.125, .steps = NB6_COLLISIONLESS_BLOCK, .eta = 0.2};
}

/* The arrays are compared. */
static void evolve(struct nb6_collisionless *s, double t)
{
    collisionless_evolve(s, t);
    collisionless_home(s);
}

static void same_bits_for_any_threads(void **state)
{
    (void)state;
    const struct nb6_collisionless_options options = block_options();
    const int threads[3] = {1, 2, 4}, before = omp_get_max_threads();
    struct cluster c = cluster_plummer(MANY, 3);
    struct nb6_collisionless *s[3];
    for (int k = 0; k < 3; k++) {
        omp_set_num_threads(threads[k]);
        s[k] = collisionless_start(&c, &options);
        evolve(s[k], 0.125);
        if (k) collisionless_assert_same(s[0], s[k]);
    }
    omp_set_num_threads(before);
    assert_true(s[0]->n_blocks > 2);
    assert_true(s[0]->n_steps < s[0]->n_blocks * MANY); /* there were blocks of a part of the bodies */
    for (int k = 0; k < 3; k++) nb6_collisionless_free(s[k]);
    cluster_free(&c);
}

/* Frames in between change nothing either, though they make forces of their own. */
static void same_bits_however_it_is_cut(void **state)
{
    (void)state;
    const struct nb6_collisionless_options options = block_options();
    struct cluster c = cluster_plummer(BODIES, 4);
    struct nb6_collisionless *once = collisionless_start(&c, &options), *often = collisionless_start(&c, &options);
    struct nbc_error err = {0};
    evolve(once, 2);
    for (int k = 0; k <= 16; k++) {
        struct nb6_frame frame;
        evolve(often, k / 8.0);
        assert_int_equal(nb6_collisionless_frame(often, NB6_FRAME_POTENTIAL, &frame, &err), NBC_OK);
        nb6_frame_free(&frame);
    }
    collisionless_assert_same(once, often);
    nb6_collisionless_free(once);
    nb6_collisionless_free(often);
    cluster_free(&c);
}

/* After each longest step: no step is longer than the criterion allows, and there are several lengths. */
static void steps_follow_the_criterion(void **state)
{
    (void)state;
    const struct nb6_collisionless_options options = block_options();
    struct cluster c = cluster_plummer(BODIES, 5);
    struct nb6_collisionless *s = collisionless_start(&c, &options);
    int lowest = NB6_TIME_BITS, highest = 0;
    for (int k = 0; k <= 8; k++) {
        evolve(s, k / 8.0);
        for (int64_t i = 0; i < s->n; i++) {
            const double *a = s->acc[i], size = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
            const double step = nb6_step_length(s->level[i]);
            assert_true(step <= options.dt);
            assert_true(step <= 0.2 * sqrt(0.05 / size));
            if (k == 0) assert_true(step == options.dt || 2 * step > 0.2 * sqrt(0.05 / size));
            if (s->level[i] < lowest) lowest = s->level[i];
            if (s->level[i] > highest) highest = s->level[i];
        }
    }
    assert_true(highest - lowest >= 2);
    nb6_collisionless_free(s);
    cluster_free(&c);
}

/* The step is the largest power of two not above the requested one, and all bodies make it every time. */
static void shared_steps_are_constant(void **state)
{
    (void)state;
    const struct nb6_collisionless_options options = {.softening = 0.05, .dt = 0.03};
    struct cluster c = cluster_plummer(BODIES, 6);
    struct nb6_collisionless *s = collisionless_start(&c, &options);
    assert_true(nb6_collisionless_longest_step(s) == 1.0 / 64);
    evolve(s, 0.5);
    assert_int_equal(s->n_blocks, 32);
    assert_int_equal(s->n_steps, 32 * BODIES);
    nb6_collisionless_free(s);
    cluster_free(&c);
}

/* No force: a straight line; its numbers here need no rounding. Bodies at one place do not attract each other. */
static void nothing_acts(void **state)
{
    (void)state;
    const double row[2][7] = {{0.5, 1, 2, 3, 0.25, -0.5, 1}, {0.5, 1, 2, 3, 0.25, -0.5, 1}};
    const struct nb6_collisionless_options options = block_options();
    struct cluster c = cluster_from_rows(2, row);
    for (c.n = 1; c.n <= 2; c.n++) {
        struct nb6_collisionless *s = collisionless_start(&c, &options);
        evolve(s, 4);
        assert_int_equal(s->n_blocks, 32); /* with the longest steps */
        for (int64_t i = 0; i < c.n; i++) {
            const double x[3] = {2, 0, 7};
            assert_memory_equal(s->x0[i], x, sizeof x);
            assert_memory_equal(s->v[i], row[i] + 4, sizeof x);
        }
        nb6_collisionless_free(s);
    }
    cluster_free(&c);
}

static void frames_tell_the_state(void **state)
{
    (void)state;
    const double row[3][7] = {{1, 0, 0, 0, 0, 0, 0}, {2, 3, 0, 0, 0, 1, 0}, {0, 0, 4, 0, 0.5, 0, 0}};
    const struct nb6_collisionless_options options = {.softening = 4, .dt = 0.25};
    struct nbc_error err = {0};
    struct nb6_frame frame;
    struct cluster c = cluster_from_rows(3, row);
    struct nb6_collisionless *s = collisionless_start(&c, &options);
    assert_int_equal(nb6_collisionless_frame(s, NB6_FRAME_POTENTIAL, &frame, &err), NBC_OK);
    /* -m_j/sqrt(r^2 + 16) over the others: distances 3, 4 and 5. Floats: 24 bits. */
    const double pot[3] = {-2 / 5.0, -1 / 5.0, -1 / sqrt(32) - 2 / sqrt(41)};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(frame.name[i], i + 1);
        assert_true(frame.mass[i] == row[i][0]);
        assert_memory_equal(frame.x[i], row[i] + 1, sizeof frame.x[i]);
        assert_memory_equal(frame.v[i], row[i] + 4, sizeof frame.v[i]);
        assert_true(frame.dt_irr[i] == 0.25);
        assert_true(fabs(frame.pot[i] - pot[i]) < 1e-6 * fabs(pot[i]));
    }
    /* 2 * 3/(9 + 16)^(3/2) */
    assert_true(fabs(frame.acc[0][0] - 6 / 125.0) < 1e-6 * 6 / 125.0);
    nb6_frame_free(&frame);
    assert_int_equal(nb6_collisionless_frame(s, 0, &frame, &err), NBC_OK);
    assert_null(frame.pot);
    nb6_frame_free(&frame);
    nb6_collisionless_free(s);
    cluster_free(&c);
}

static void bad_options_are_refused(void **state)
{
    (void)state;
    struct cluster c = cluster_plummer(4, 7);
    struct nb6_collisionless_options o = block_options();
    const double bad_softening[] = {0, -1, 1e-16, 1e16, NAN}, bad_dt[] = {0, -1, 1e-13, 2000, NAN},
                 bad_eta[] = {0, -1, NAN, INFINITY};
    for (size_t k = 0; k < sizeof bad_softening / sizeof *bad_softening; k++) {
        o.softening = bad_softening[k];
        collisionless_refuse(&c, &o, NBC_BAD_ARGUMENT, "softening");
    }
    o = block_options();
    for (size_t k = 0; k < sizeof bad_dt / sizeof *bad_dt; k++) {
        o.dt = bad_dt[k];
        collisionless_refuse(&c, &o, NBC_BAD_ARGUMENT, "longest step");
    }
    o = block_options();
    for (size_t k = 0; k < sizeof bad_eta / sizeof *bad_eta; k++) {
        o.eta = bad_eta[k];
        collisionless_refuse(&c, &o, NBC_BAD_ARGUMENT, "eta");
    }
    o = block_options();
    o.force.backend = "abacus";
    collisionless_refuse(&c, &o, NBC_UNAVAILABLE, "abacus");
    o = block_options();
    c.n = 0;
    collisionless_refuse(&c, &o, NBC_BAD_ARGUMENT, "0 bodies");
    c.n = 4;
    cluster_free(&c);
}

static void bad_bodies_are_refused(void **state)
{
    (void)state;
    const struct nb6_collisionless_options o = block_options();
    struct cluster c = cluster_plummer(4, 7);
    const double x = c.x[2][1], v = c.v[2][1];
    c.mass[1] = -1;
    collisionless_refuse(&c, &o, NBC_BAD_ARGUMENT, "mass of body 2");
    c.mass[1] = 1;
    c.v[2][1] = NAN;
    collisionless_refuse(&c, &o, NBC_NON_FINITE, "velocity of body 3");
    c.v[2][1] = v;
    c.x[2][1] = INFINITY;
    collisionless_refuse(&c, &o, NBC_NON_FINITE, "2"); /* source number 2, as GPUNB counts */
    c.x[2][1] = x;
    cluster_free(&c);
}

/* A state that another system has goes on with the same bits; one that does not belong to the options is refused. */
static void a_state_is_resumed(void **state)
{
    (void)state;
    struct nb6_collisionless_options options = block_options();
    struct nbc_error err = {0};
    struct cluster c = cluster_plummer(BODIES, 8);
    struct nb6_collisionless *first = collisionless_start(&c, &options), *second = NULL;
    evolve(first, 1);
    assert_int_equal(nb6_collisionless_resume(&second, first, &options, &err), NBC_OK);
    collisionless_assert_same(first, second);
    evolve(first, 2);
    evolve(second, 2);
    collisionless_assert_same(first, second);
    nb6_collisionless_free(second);
    second = NULL;
    const int8_t level = first->level[7];
    first->level[7] = (int8_t)(first->max_level + 1);
    assert_int_equal(nb6_collisionless_resume(&second, first, &options, &err), NBC_BAD_ARGUMENT);
    first->level[7] = -1;
    assert_int_equal(nb6_collisionless_resume(&second, first, &options, &err), NBC_BAD_ARGUMENT);
    assert_non_null(strstr(err.text, "body 8"));
    first->level[7] = level;
    first->ti_now += 1;
    assert_int_equal(nb6_collisionless_resume(&second, first, &options, &err), NBC_BAD_ARGUMENT);
    first->ti_now -= 1;
    options.steps = NB6_COLLISIONLESS_SHARED;
    assert_int_equal(nb6_collisionless_resume(&second, first, &options, &err), NBC_BAD_ARGUMENT);
    assert_null(second);
    nb6_collisionless_free(first);
    cluster_free(&c);
}

static void bad_times_are_refused(void **state)
{
    (void)state;
    const double bad[] = {0.0625, 0.1, -1, 0x1p23, NAN};
    const struct nb6_collisionless_options o = block_options();
    struct nbc_error err = {0};
    struct cluster c = cluster_plummer(4, 7);
    struct nb6_collisionless *s = collisionless_start(&c, &o);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        assert_int_equal(nb6_collisionless_evolve(s, bad[k], &err), NBC_BAD_ARGUMENT);
        assert_int_equal(s->ti_now, 0);
    }
    evolve(s, 0.25);
    assert_int_equal(nb6_collisionless_evolve(s, 0.125, &err), NBC_BAD_ARGUMENT);
    nb6_collisionless_free(s);
    cluster_free(&c);
}

/* A body leaves the range of numbers of GPUNB in the middle of a longest step of others: the last block stays
 * committed, and the next one leaves no trace. */
static void a_failure_leaves_the_last_block(void **state)
{
    (void)state;
    const double row[3][7] = {{1, 0, 0, 0, 0, 0, 0}, {1, 0.02, 0, 0, 0, 0, 0}, {0, 1e14, 0, 0, 1e16, 0, 0}};
    const struct nb6_collisionless_options o = block_options();
    struct nbc_error err = {0};
    struct nb6_frame frame;
    struct cluster c = cluster_from_rows(3, row);
    struct nb6_collisionless *s = collisionless_start(&c, &o);
    assert_int_equal(nb6_collisionless_evolve(s, 0.125, &err), NBC_BAD_ARGUMENT);
    assert_non_null(strstr(err.text, "1e+15"));
    assert_true(s->n_blocks > 0);
    assert_true(s->ti_now > 0 && nb6_collisionless_time(s) < 0.125);
    struct nb6_collisionless before = *s;
    double x0[3][3], v[3][3], acc[3][3];
    memcpy(x0, s->x0, sizeof x0);
    memcpy(v, s->v, sizeof v);
    memcpy(acc, s->acc, sizeof acc);
    before.x0 = x0;
    before.v = v;
    before.acc = acc;
    assert_int_equal(nb6_collisionless_frame(s, 0, &frame, &err), NBC_BAD_STATE);
    assert_int_equal(nb6_collisionless_evolve(s, 0.125, &err), NBC_BAD_ARGUMENT);
    collisionless_assert_same(&before, s);
    nb6_collisionless_free(s);
    cluster_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bits_for_any_threads),
        cmocka_unit_test(same_bits_however_it_is_cut),
        cmocka_unit_test(steps_follow_the_criterion),
        cmocka_unit_test(shared_steps_are_constant),
        cmocka_unit_test(nothing_acts),
        cmocka_unit_test(frames_tell_the_state),
        cmocka_unit_test(bad_options_are_refused),
        cmocka_unit_test(bad_bodies_are_refused),
        cmocka_unit_test(a_state_is_resumed),
        cmocka_unit_test(bad_times_are_refused),
        cmocka_unit_test(a_failure_leaves_the_last_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
