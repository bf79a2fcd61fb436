/* Perturbed KS pairs: sums over perturbers, motion that ends at a given time, slices, slow-down, the origin of time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "common/misfit.h"
#include "common/nbc.h"
#include "regularization/check.h"
#include "regularization/ks.h"
#include "tests/support/ks_pair.h"
#include "tests/support/test_size.h"

/* p and dp/dt of a sum over perturbers: against the definition and a difference quotient along the motion. */
static void arrays_of_perturbers(void **state)
{
    (void)state;
    struct ks_pair pair;
    struct ks_path paths[2];
    struct ks_field field;
    orbit_init(&pair, 0.5, 1, &ETA02);
    field_init(&field, &pair, paths);
    double x[3], v[3], ends[2][3], delta = 1e-5;
    ks_relative(&pair, x, v);
    struct ks_perturbation out = {0};
    assert_int_equal(ks_perturb_paths(&field, 0.5, 1e-18, x, v, &out), NBC_OK);
    for (int k = 0; k < 2; k++) {
        struct ks_perturbation at = {0};
        double s = k ? delta : -delta, xs[3];
        for (int i = 0; i < 3; i++) xs[i] = x[i] + s * v[i];
        assert_int_equal(ks_perturb_paths(&field, 0.5 + s, 0, xs, v, &at), NBC_OK);
        memcpy(ends[k], at.p, sizeof at.p);
    }
    double expected[3] = {0};
    for (int j = 0; j < 2; j++)
        for (int b = 0; b < 2; b++) {
            double d[3], r2 = 0, s = 0.5 - paths[j].t0, w = b ? -0.7 : 0.3;
            for (int i = 0; i < 3; i++) {
                d[i] =
                    paths[j].x[i] + s * paths[j].v[i] + s * s * paths[j].acc[i] / 2 + s * s * s * paths[j].jerk[i] / 6;
                d[i] -= 0.5 * field.centre.v[i] + 0.125 * field.centre.acc[i] + w * x[i];
                r2 += d[i] * d[i];
            }
            for (int i = 0; i < 3; i++) expected[i] += (b ? -1 : 1) * paths[j].mass * d[i] / (r2 * sqrt(r2));
        }
    assert_true(gap(out.p, expected) < 64 * EPS * 0.03); /* rounding of terms of up to 0.5/4.5^2 */
    double scale = norm(out.pdot);
    for (int i = 0; i < 3; i++) {
        double quotient = (ends[1][i] - ends[0][i]) / (2 * delta);
        assert_true(fabs(quotient - out.pdot[i]) < 1e-6 * scale); /* rounding 1e-18/1e-5, truncation 1e-10 */
    }
    assert_true(out.t_scale > 5 && out.t_scale < 20); /* distances of 7 to 9, speeds of 0.4 to 0.8 */
}

/* ks_finish ends exactly at a time, forwards and backwards, and agrees with prediction and with the same motion in many
 * more steps. */
static void finish_ends_at_the_time(void **state)
{
    (void)state;
    struct ks_path paths[2];
    struct ks_field field, fine_field;
    struct nbc_error err = {0};
    for (int k = 0; k < 40; k++) {
        struct ks_pair pair, fine, early;
        double t = 0.37 + 0.31 * k, x[3], v[3], xp[3], vp[3], xf[3], vf[3];
        orbit_init(&pair, 0.6, k % 2 ? 1 : -1, &(struct ks_options){0.1, 0, 1});
        orbit_init(&fine, 0.6, k % 2 ? 1 : -1, &(struct ks_options){0.01, 0, 1});
        field_init(&field, &pair, paths);
        field_init(&fine_field, &fine, paths);
        assert_int_equal(ks_start(&pair, ks_perturb_paths, &field, &err), NBC_OK);
        assert_int_equal(ks_start(&fine, ks_perturb_paths, &fine_field, &err), NBC_OK);
        assert_int_equal(ks_advance(&pair, t, ks_perturb_paths, &field, &err), NBC_OK);
        early = pair;
        assert_true(pair.t <= t && t < pair.t + 1.0011 * pair.dt);
        assert_int_equal(ks_predict(&pair, t, xp, vp), NBC_OK);
        if (k % 3 == 0) assert_int_equal(ks_step(&pair, ks_perturb_paths, &field, &err), NBC_OK); /* now ahead of t */
        assert_int_equal(ks_finish(&pair, t, ks_perturb_paths, &field, &err), NBC_OK);
        assert_int_equal(ks_finish(&fine, t, ks_perturb_paths, &fine_field, &err), NBC_OK);
        assert_true(pair.t == t && pair.t_lo == 0 && fine.t == t && fine.t_lo == 0);
        ks_relative(&pair, x, v);
        ks_relative(&fine, xf, vf);
        /* gamma is up to 5e-3; eta = 0.1 leaves 1e-9 of it (tests/convergence/test_ks_order.c), times the speed of
         * up to 2 and the growth of errors of phase over two orbits; a prediction over one step, of lower order, less
         * than 1e-5 of it. */
        if (!(gap(x, xf) < 2e-9 && gap(v, vf) < 1e-8))
            fail_msg("t = %g: finish differs by %g, %g", t, gap(x, xf), gap(v, vf));
        if (!(gap(xp, xf) < 2e-7)) fail_msg("t = %g: prediction differs by %g", t, gap(xp, xf));
        if (early.dtau_before == 0) continue;
        assert_int_equal(ks_finish(&early, early.t - 1e3, ks_perturb_paths, &field, &err), NBC_BAD_ARGUMENT);
    }
}

/* After ks_finish steps go on as if nothing had been. */
static void steps_go_on_after_finish(void **state)
{
    (void)state;
    struct ks_pair pair, straight;
    struct ks_path paths[2];
    struct ks_field field, other;
    struct nbc_error err = {0};
    double x[3], v[3], xs[3], vs[3];
    orbit_init(&pair, 0.3, 1, &(struct ks_options){0.1, 0, 1});
    straight = pair;
    field_init(&field, &pair, paths);
    field_init(&other, &straight, paths);
    assert_int_equal(ks_start(&pair, ks_perturb_paths, &field, &err), NBC_OK);
    assert_int_equal(ks_start(&straight, ks_perturb_paths, &other, &err), NBC_OK);
    for (int k = 1; k <= 64; k++)
        assert_int_equal(ks_finish(&pair, 20.0 * k / 64, ks_perturb_paths, &field, &err), NBC_OK);
    assert_int_equal(ks_finish(&straight, 20, ks_perturb_paths, &other, &err), NBC_OK);
    ks_relative(&pair, x, v);
    ks_relative(&straight, xs, vs);
    /* Each interruption costs the high order of one step: 1e-6 of gamma = 5e-3, a few of which add up. */
    assert_true(gap(x, xs) < 2e-8 && gap(v, vs) < 2e-8);
}

/* A short step directly after a start: there is no state one step earlier, which the next step or a checkpoint would
 * take for one. */
static void a_short_first_step_has_none_before(void **state)
{
    (void)state;
    struct ks_pair pair;
    struct ks_path paths[2];
    struct ks_field field;
    struct nbc_error err = {0};
    struct nbc_misfit misfit = {0};
    orbit_init(&pair, 0.5, 1, &ETA02);
    field_init(&field, &pair, paths);
    assert_int_equal(ks_start(&pair, ks_perturb_paths, &field, &err), NBC_OK);
    assert_int_equal(ks_finish(&pair, pair.t + 0.01 * pair.dt, ks_perturb_paths, &field, &err), NBC_OK);
    assert_true(pair.dtau_before == 0);
    ks_check(&pair, &misfit);
    assert_null(misfit.member);
    assert_int_equal(ks_step(&pair, ks_perturb_paths, &field, &err), NBC_OK);
    assert_true(pair.dtau_before > 0);
    ks_check(&pair, &misfit);
    assert_null(misfit.member);
}

/* Position after a light body has passed the first member closely at t1. A body that rests perturbs the pair more until
 * then, and steps that follow the change of all together would be longer than the passage. */
static void pass_closely(double t1, double eta, double x[3], int64_t *steps)
{
    static const double MASS = 1e-3, NEAREST = 2e-3, SPEED = 10;
    struct ks_pair pair;
    struct nbc_error err = {0};
    double v[3], r, speed;
    orbit_init(&pair, 0.1, 1, &(struct ks_options){eta, 0, 1});
    assert_int_equal(ks_predict(&pair, t1, x, v), NBC_OK);
    r = norm(x);
    speed = norm(v);
    struct ks_path path[2] = {{.t0 = t1, .mass = MASS}, {.x = {3, -3, 2}, .mass = 1}};
    for (int i = 0; i < 3; i++) {
        const int a = (i + 1) % 3, b = (i + 2) % 3;
        path[0].x[i] = 0.3 * x[i] + NEAREST * v[i] / speed;
        path[0].v[i] = 0.3 * v[i] + SPEED * (x[a] * v[b] - x[b] * v[a]) / (r * speed);
    }
    struct ks_field field = {.pair = &pair, .n = 2, .paths = path};
    assert_int_equal(ks_start(&pair, ks_perturb_paths, &field, &err), NBC_OK);
    assert_int_equal(ks_finish(&pair, t1 + 1, ks_perturb_paths, &field, &err), NBC_OK);
    ks_relative(&pair, x, v);
    *steps = pair.n_step;
}

/* Against ten thousand steps. The passage turns the velocity by 2 MASS/(NEAREST SPEED) = 0.1, which is missing, or many
 * times too much, where a step leaps over it. Steps that come half as near each leave 2e-3 of it. The body that rests
 * makes 228 steps, both make 269. */
static void close_passages_are_seen(void **state)
{
    (void)state;
    double worst = 0, x[3], fine[3];
    int64_t steps = 0, of_fine, passages = 0;
    for (int k = 0; k < 20; k += test_size(1, 9), passages++) {
        int64_t taken;
        pass_closely(1.5 + 0.013 * k, 0.2, x, &taken);
        pass_closely(1.5 + 0.013 * k, 2e-4, fine, &of_fine);
        worst = fmax(worst, gap(x, fine));
        steps += taken;
    }
    print_message("%lld steps on average, places within %.1e\n", (long long)(steps / passages), worst);
    assert_true(worst < 1e-3 && steps < passages * 400);
}

/* A push along x, strong and short against a step. */
struct pulse {
    double t, width, strength;
    int calls;
};

static int push(void *context, double t, double t_lo, const double x[3], const double xdot[3],
                struct ks_perturbation *out)
{
    struct pulse *p = context;
    double s = (t - p->t) / p->width, a = p->strength * exp(-s * s);
    (void)t_lo;
    (void)x;
    (void)xdot;
    out->p[0] = a;
    out->pdot[0] = -2 * s / p->width * a;
    out->t_scale = 10;
    p->calls++;
    return NBC_OK;
}

/* The corrected time of a step's end depends on the perturbation there. Where that changes violently the length of a
 * step that ends at a given time takes more than the usual two iterations, or there is none: then it is said, and the
 * pair stays. */
static void finish_where_the_perturbation_jumps(void **state)
{
    struct ks_pair start, pair;
    struct pulse pulse = {.t = 0, .width = 1, .strength = 0};
    struct nbc_error err = {0};
    int many = 0, none = 0;
    (void)state;
    orbit_init(&start, 0.5, 1, &ETA02);
    assert_int_equal(ks_start(&start, push, &pulse, &err), NBC_OK);
    for (int k = 0; k < 6; k++) assert_int_equal(ks_step(&start, push, &pulse, &err), NBC_OK);
    for (int k = 0; k < 4000; k += test_size(1, 7)) {
        const double t_end = start.t + start.dt * (0.1 + 0.02 * (k % 40)), offset = 0.02 * (k / 40 % 10) - 0.1;
        pulse = (struct pulse){.t = t_end + offset * start.dt, .width = start.dt * 0.03, .strength = 2 * (k / 400) + 1};
        pair = start;
        int status = ks_finish(&pair, t_end, push, &pulse, &err);
        if (status) {
            /* Or the strongest pulses throw the pair to where nothing is finite. */
            assert_true(status == NBC_INTERNAL || status == NBC_NON_FINITE);
            assert_memory_equal(&pair, &start, sizeof pair);
            none += status == NBC_INTERNAL && strstr(err.text, "no step");
        } else {
            assert_true(pair.t == t_end && pair.t_lo == 0);
            /* A step takes two evaluations where gamma is large. */
            many += pulse.calls > 2 * 4;
        }
    }
    print_message("%d of 4000 ends, or a part of them, took more than four iterations, %d have no step\n", many, none);
    assert_true(many > 0 && none > 0);
}

/* Slices make the same steps, and count them. */
static void advance_in_slices(void **state)
{
    struct ks_pair whole, part;
    struct ks_field field;
    struct ks_path paths[2];
    struct nbc_error err = {0};
    int done = 1;
    (void)state;
    orbit_init(&whole, 0.7, 1, &ETA02);
    assert_int_equal(ks_advance_some(&whole, 1, 5, NULL, NULL, &done, &err), NBC_BAD_STATE);
    assert_int_equal(done, 0);
    field_init(&field, &whole, paths);
    assert_int_equal(ks_start(&whole, ks_perturb_paths, &field, &err), NBC_OK);
    const struct ks_pair start = whole;
    assert_int_equal(ks_advance(&whole, 30, ks_perturb_paths, &field, &err), NBC_OK);
    for (int64_t slice = 1; slice < test_size(500, 2); slice = 3 * slice + 1) {
        part = start;
        done = 0;
        while (!done) {
            const int64_t before = part.n_step;
            assert_int_equal(ks_advance_some(&part, 30, slice, ks_perturb_paths, &field, &done, &err), NBC_OK);
            assert_true(done ? part.n_step - before <= slice : part.n_step - before == slice);
        }
        assert_memory_equal(&whole, &part, sizeof whole);
    }
    assert_int_equal(ks_advance_some(&part, 30, 0, ks_perturb_paths, &field, &done, &err), NBC_OK);
    assert_int_equal(done, 1);
    assert_int_equal(ks_advance_some(&part, 40, 0, ks_perturb_paths, &field, &done, &err), NBC_OK);
    assert_int_equal(done, 0);
    assert_memory_equal(&whole, &part, sizeof whole);
}

/* Without slow-down kappa stays 1; with it, a weak distant perturber raises it, as far as the options allow, and a
 * strong one brings it down again. */
static void slowdown_follows_the_perturbation(void **state)
{
    (void)state;
    struct ks_pair pair;
    struct nbc_error err = {0};
    struct ks_path path = {.x = {150, 0, 0}, .v = {0, 0.01, 0}, .mass = 1};
    struct ks_field field = {.pair = &pair, .n = 1, .paths = &path};
    orbit_init(&pair, 0.2, 1, &(struct ks_options){0.2, 1e-4, 1e9});
    assert_int_equal(ks_start(&pair, ks_perturb_paths, &field, &err), NBC_OK);
    assert_int_equal(ks_finish(&pair, 500000, ks_perturb_paths, &field, &err), NBC_OK);
    /* The tide at the apocentre, 2 m r/d^3, has gamma = 1e-6 when the perturber is at its closest, much less at the
     * end. */
    assert_true(pair.kappa > 20 && pair.kappa * pair.gamma_apo <= 1.1e-4);
    path.x[0] = 8;
    path.x[1] = -0.01 * 500000;
    int64_t evaluations = pair.n_eval;
    assert_int_equal(ks_start(&pair, ks_perturb_paths, &field, &err), NBC_OK);
    assert_true(pair.kappa == 1 && pair.n_eval == evaluations + 2);
    orbit_init(&pair, 0.2, 1, &ETA02);
    path.x[0] = 150;
    assert_int_equal(ks_start(&pair, ks_perturb_paths, &field, &err), NBC_OK);
    assert_int_equal(ks_advance(&pair, 1000, ks_perturb_paths, &field, &err), NBC_OK);
    assert_true(pair.kappa == 1);
}

/* t + t_lo changes by exactly the shift, and comes back to the same bits; the shifted pair, with shifted perturbers,
 * goes the same way. */
static void another_origin_of_time(void **state)
{
    (void)state;
    const struct ks_options slow = {0.2, 1e-3, 10};
    struct ks_pair pair, shifted;
    struct ks_path paths[2], late_paths[2];
    struct ks_field field, late;
    struct nbc_error err = {0};
    double x[3], v[3], xs[3], vs[3];
    const double shift = -4096;
    orbit_init(&pair, 0.6, 1, &slow);
    assert_int_equal(ks_unperturbed(&pair, 4096, &err), NBC_OK);
    field_init(&field, &pair, paths);
    field.centre.t0 += 4096;
    for (int k = 0; k < 2; k++) paths[k].t0 += 4096;
    assert_int_equal(ks_start(&pair, ks_perturb_paths, &field, &err), NBC_OK);
    assert_int_equal(ks_advance(&pair, 4096 + 3, ks_perturb_paths, &field, &err), NBC_OK);
    assert_true(pair.t_lo != 0); /* or the test would show less */
    shifted = pair;
    assert_int_equal(ks_shift_time(&shifted, shift), NBC_OK);
    /* The first difference is exact, and each sum is rounded once. */
    assert_true((long double)shifted.t + shifted.t_lo == ((long double)pair.t + shift) + pair.t_lo);
    assert_true(shifted.t == shifted.t + shifted.t_lo); /* t is the nearest double */
    struct ks_pair back = shifted;
    assert_int_equal(ks_shift_time(&back, -shift), NBC_OK);
    assert_memory_equal(&back, &pair, sizeof pair);
    late = field;
    late.pair = &shifted;
    late.paths = late_paths;
    late.centre.t0 += shift;
    for (int k = 0; k < 2; k++) {
        late_paths[k] = paths[k];
        late_paths[k].t0 += shift;
    }
    assert_int_equal(ks_finish(&pair, 4096 + 60, ks_perturb_paths, &field, &err), NBC_OK);
    assert_int_equal(ks_finish(&shifted, 60, ks_perturb_paths, &late, &err), NBC_OK);
    assert_true(pair.n_step == shifted.n_step && pair.kappa == shifted.kappa);
    ks_relative(&pair, x, v);
    ks_relative(&shifted, xs, vs);
    /* differences to t0 are rounded at 2^-40 in the one and not in the other, and so is the field; speeds up to 2 */
    assert_true(gap(x, xs) < 1e-13 && gap(v, vs) < 1e-13);
    back = pair;
    assert_int_equal(ks_shift_time(&pair, INFINITY), NBC_NON_FINITE);
    assert_memory_equal(&back, &pair, sizeof pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_origin_of_time),
        cmocka_unit_test(finish_ends_at_the_time),
        cmocka_unit_test(finish_where_the_perturbation_jumps),
        cmocka_unit_test(advance_in_slices),
        cmocka_unit_test(steps_go_on_after_finish),
        cmocka_unit_test(a_short_first_step_has_none_before),
        cmocka_unit_test(arrays_of_perturbers),
        cmocka_unit_test(close_passages_are_seen),
        cmocka_unit_test(slowdown_follows_the_perturbation),
    };
    return cmocka_run_group_tests_name("ks, perturbed", tests, NULL, NULL);
}
