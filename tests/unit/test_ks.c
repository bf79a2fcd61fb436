/* KS pairs: what each call promises. Free motion over many orbits is in tests/physics. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/nbc.h"
#include "regularization/kepler.h"
#include "regularization/ks.h"

static const double EPS = 2.220446049250313e-16;
static const struct ks_options ETA02 = {0.2, 0, 1};

/* Masses 0.7 and 0.3, relative orbit a = 1, at the apocentre (side = 1) or pericentre (-1), the plane tilted. */
static void orbit_init(struct ks_pair *pair, double e, double side, const struct ks_options *options)
{
    struct nbc_error err = {0};
    double mass[2] = {0.7, 0.3}, r = 1 + side * e, s = sqrt((1 - side * e) / (1 + side * e));
    double x[2][3] = {{1 + 0.3 * 0.6 * r, 2 + 0.3 * 0.48 * r, 0.3 * 0.64 * r},
                      {1 - 0.7 * 0.6 * r, 2 - 0.7 * 0.48 * r, -0.7 * 0.64 * r}};
    double v[2][3] = {{-0.3 * 0.8 * s, 0.3 * 0.36 * s, 0.3 * 0.48 * s},
                      {0.7 * 0.8 * s, -0.7 * 0.36 * s, -0.7 * 0.48 * s}};
    int status = ks_init(pair, options, mass, (const double(*)[3])x, (const double(*)[3])v, 0, &err);
    if (status) fail_msg("%s", err.text);
}

/* A distant body of mass 0.5 that passes at 6 with velocity 0.7, and one of mass 0.2 at 9. */
static void field_init(struct ks_field *field, const struct ks_pair *pair, struct ks_path paths[2])
{
    paths[0] = (struct ks_path){.x = {6, -4, 1}, .v = {0.1, 0.7, 0}, .acc = {-0.01, 0.005, 0}, .mass = 0.5};
    paths[1] = (struct ks_path){.x = {-5, 1, 7}, .v = {0.2, 0.2, -0.3}, .jerk = {0, 1e-4, 0}, .t0 = -1, .mass = 0.2};
    *field =
        (struct ks_field){.pair = pair, .centre = {.v = {0.05, 0, 0.02}, .acc = {0.003, 0, 0}}, .n = 2, .paths = paths};
}

static double gap(const double a[3], const double b[3])
{
    double sum = 0;
    for (int i = 0; i < 3; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum);
}

static double norm(const double a[3])
{
    return gap(a, (double[3]){0, 0, 0});
}

/* Bodies -> u, u' -> bodies, for separations in all directions, among them those where one root is chosen or the other.
 */
static void bodies_come_back(void **state)
{
    (void)state;
    srand(4);
    for (int n = 0; n < 2000; n++) {
        double x[2][3], v[2][3], mass[2] = {1e-3 + rand() % 100, rand() % 7}, dx[3], dv[3];
        for (int b = 0; b < 2; b++)
            for (int i = 0; i < 3; i++) {
                x[b][i] = n % 5 == i ? 0.0 : rand() / (double)RAND_MAX - 0.5;
                v[b][i] = 9.0 * rand() / RAND_MAX;
            }
        if (n % 2) memcpy(x[1], (double[3]){0}, sizeof x[1]);
        struct ks_pair pair;
        struct nbc_error err = {0};
        assert_int_equal(ks_init(&pair, &ETA02, mass, (const double(*)[3])x, (const double(*)[3])v, 3.5, &err), NBC_OK);
        ks_relative(&pair, dx, dv);
        double xd[3], vd[3];
        for (int i = 0; i < 3; i++) {
            xd[i] = x[0][i] - x[1][i];
            vd[i] = v[0][i] - v[1][i];
        }
        /* A few roundings each; the energy fixes |v| through (m + h R)/2, whose relative error is at most that of
         * m/(v^2 R) times as large. */
        double r = norm(xd), speed = norm(vd), weight = 1 + (mass[0] + mass[1]) / (r * speed * speed);
        assert_true(gap(dx, xd) < 16 * EPS * weight * r && gap(dv, vd) < 16 * EPS * weight * speed);
        double x_out[2][3], v_out[2][3], cm[3], cv[3], m = mass[0] + mass[1];
        for (int i = 0; i < 3; i++) {
            cm[i] = (mass[0] * x[0][i] + mass[1] * x[1][i]) / m;
            cv[i] = (mass[0] * v[0][i] + mass[1] * v[1][i]) / m;
        }
        ks_components(&pair, cm, cv, dx, dv, x_out, v_out);
        for (int b = 0; b < 2; b++)
            assert_true(gap(x_out[b], x[b]) < 16 * EPS * (1 + weight * r) &&
                        gap(v_out[b], v[b]) < 16 * EPS * (20 + weight * speed));
    }
}

static void bad_arguments_are_refused(void **state)
{
    (void)state;
    struct ks_pair pair;
    struct nbc_error err = {0};
    double mass[2] = {1, 1}, x[2][3] = {{1, 0, 0}, {0, 0, 0}}, v[2][3] = {{0, 1, 0}, {0, 0, 0}};
    const double(*xc)[3] = (const double(*)[3])x, (*vc)[3] = (const double(*)[3])v;
    assert_int_equal(ks_init(&pair, &(struct ks_options){0, 0, 1}, mass, xc, vc, 0, &err), NBC_BAD_ARGUMENT);
    assert_int_equal(ks_init(&pair, &(struct ks_options){0.6, 0, 1}, mass, xc, vc, 0, &err), NBC_BAD_ARGUMENT);
    assert_int_equal(ks_init(&pair, &(struct ks_options){NAN, 0, 1}, mass, xc, vc, 0, &err), NBC_BAD_ARGUMENT);
    assert_non_null(strstr(err.text, "eta"));
    assert_int_equal(ks_init(&pair, &ETA02, (double[2]){0, 0}, xc, vc, 0, &err), NBC_BAD_ARGUMENT);
    assert_int_equal(ks_init(&pair, &ETA02, (double[2]){-1, 3}, xc, vc, 0, &err), NBC_BAD_ARGUMENT);
    assert_int_equal(ks_init(&pair, &ETA02, mass, xc, vc, NAN, &err), NBC_NON_FINITE);
    x[0][0] = 0;
    assert_int_equal(ks_init(&pair, &ETA02, mass, xc, vc, 0, &err), NBC_BAD_ARGUMENT);
    assert_non_null(strstr(err.text, "same position"));
    x[0][0] = INFINITY;
    assert_int_equal(ks_init(&pair, &ETA02, mass, xc, vc, 0, &err), NBC_NON_FINITE);
    orbit_init(&pair, 0.5, 1, &ETA02);
    assert_int_equal(ks_step(&pair, NULL, NULL, &err), NBC_BAD_STATE);
    assert_int_equal(ks_advance(&pair, 1, NULL, NULL, &err), NBC_BAD_STATE);
    assert_int_equal(ks_unperturbed(&pair, INFINITY, &err), NBC_NON_FINITE);
}

struct failing {
    int calls, fail_at, status;
};

static int failing_perturb(void *context, double t, double t_lo, const double x[3], const double xdot[3],
                           struct ks_perturbation *out)
{
    struct failing *f = context;
    (void)t_lo, (void)xdot;
    for (int i = 0; i < 3; i++) out->p[i] = 1e-3 * x[i] * (1 + t);
    if (++f->calls < f->fail_at) return NBC_OK;
    out->p[1] = f->status ? 0 : NAN;
    return f->status;
}

/* A failure in the middle leaves the pair after its last whole step. */
static void failures_change_nothing(void **state)
{
    (void)state;
    for (int status = 0; status <= NBC_INTERNAL; status += NBC_INTERNAL) {
        struct failing f = {0, 7, status};
        struct ks_pair pair, before;
        struct nbc_error err = {0};
        orbit_init(&pair, 0.5, 1, &ETA02);
        assert_int_equal(ks_start(&pair, failing_perturb, &f, &err), NBC_OK);
        int found = NBC_OK;
        while (!found) {
            before = pair;
            found = ks_step(&pair, failing_perturb, &f, &err);
        }
        assert_int_equal(found, status ? status : NBC_NON_FINITE);
        assert_memory_equal(&pair, &before, sizeof pair);
        f.calls = f.fail_at;
        assert_int_equal(ks_finish(&pair, pair.t + 0.5 * pair.dt, failing_perturb, &f, &err), found);
        assert_int_equal(ks_start(&pair, failing_perturb, &f, &err), found);
        assert_memory_equal(&pair, &before, sizeof pair);
    }
}

/* A copy of the bytes continues with the same bits, and so does the same sequence of calls. */
static void copies_continue_bit_for_bit(void **state)
{
    (void)state;
    unsigned char bytes[sizeof(struct ks_pair)];
    struct ks_pair pair, copy;
    struct ks_path paths[2];
    struct ks_field field, other;
    struct nbc_error err = {0};
    orbit_init(&pair, 0.7, 1, &(struct ks_options){0.2, 1e-2, 4});
    field_init(&field, &pair, paths);
    field_init(&other, &copy, paths);
    assert_int_equal(ks_start(&pair, ks_perturb_paths, &field, &err), NBC_OK);
    assert_int_equal(ks_advance(&pair, 3, ks_perturb_paths, &field, &err), NBC_OK);
    memcpy(bytes, &pair, sizeof pair);
    memcpy(&copy, bytes, sizeof copy);
    assert_int_equal(ks_advance(&pair, 11.5, ks_perturb_paths, &field, &err), NBC_OK);
    assert_int_equal(ks_advance(&copy, 7, ks_perturb_paths, &other, &err), NBC_OK);
    assert_int_equal(ks_advance(&copy, 11.5, ks_perturb_paths, &other, &err), NBC_OK);
    assert_memory_equal(&pair, &copy, sizeof pair);
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

/* Unperturbed motion is that of the Kepler solver, over parts of a period, many periods, backwards, unbound, and
 * slowed. */
static void unperturbed_motion_is_two_body_motion(void **state)
{
    (void)state;
    const double times[] = {1e-9, 0.3, 3.0, 1000.25, 1e5, -0.7, -1e3};
    for (int k = 0; k < 7 * 3; k++) {
        struct ks_pair pair;
        struct nbc_error err = {0};
        double t = times[k % 7], x[3], v[3], xk[3], vk[3];
        orbit_init(&pair, k / 7 == 0 ? 0.0 : 0.9, k / 7 == 1 ? -1 : 1, &ETA02);
        if (k / 7 ==
            2) { /* three times the speed at the apocentre: a hyperbola, v^2 = 9 * 0.1/1.9, h < 0; ten times: h > 0 */
            double xs[2][3] = {{1.9, 0, 0}, {0}}, vs[2][3] = {{0.3, 1.2, 0.2}, {0}}, mass[2] = {0.7, 0.3};
            assert_int_equal(ks_init(&pair, &ETA02, mass, (const double(*)[3])xs, (const double(*)[3])vs, 0, &err),
                             NBC_OK);
            assert_true(pair.h > 0);
        }
        ks_relative(&pair, xk, vk);
        assert_int_equal(kepler_advance(1, t, xk, vk), NBC_OK);
        double xp[3], vp[3];
        assert_int_equal(ks_predict(&pair, t, xp, vp), NBC_OK);
        struct ks_pair slow = pair;
        assert_int_equal(ks_unperturbed(&pair, t, &err), NBC_OK);
        assert_true(pair.t == t && pair.t_lo == 0);
        ks_relative(&pair, x, v);
        /* Rounding of the period (or of the speed) times the time passed; e = 0.9 makes h ten times as sensitive and
         * the speed up to 4.4. */
        double limit = 400 * EPS * (1 + fabs(t));
        if (!(gap(x, xk) < limit * (1 + norm(vk)) && gap(v, vk) < 20 * limit)) fail_msg("t = %g: %g", t, gap(x, xk));
        assert_true(gap(xp, xk) < limit * (1 + norm(vk)));
        ks_set_slowdown(&slow, 8);
        assert_int_equal(ks_unperturbed(&slow, 8 * t, &err), NBC_OK);
        ks_relative(&slow, xk, vk);
        assert_memory_equal(x, xk, sizeof x);
        assert_memory_equal(v, vk, sizeof v);
    }
}

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

static void elements_and_times(void **state)
{
    (void)state;
    const double pi = 3.14159265358979323846;
    struct ks_pair pair;
    struct ks_elements el;
    struct nbc_error err = {0};
    orbit_init(&pair, 0.25, -1, &ETA02);
    ks_elements(&pair, &el);
    assert_true(fabs(el.a - 1) < 16 * EPS && fabs(el.e - 0.25) < 16 * EPS && fabs(el.period - 2 * pi) < 64 * EPS);
    assert_true(fabs(el.r - 0.75) < 16 * EPS && fabs(el.rdot) < 16 * EPS);
    assert_true(fabs(ks_time_to_apocentre(&pair) - pi) < 64 * EPS);
    ks_set_slowdown(&pair, 3);
    assert_true(fabs(ks_time_to_apocentre(&pair) - 3 * pi) < 192 * EPS);
    assert_int_equal(ks_unperturbed(&pair, ks_time_to_apocentre(&pair), &err), NBC_OK);
    ks_elements(&pair, &el);
    assert_true(fabs(el.r - 1.25) < 16 * EPS);
    ks_set_slowdown(&pair, NAN);
    assert_true(pair.kappa == 1);
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
    for (int k = 0; k < 4000; k++) {
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
    print_message("%d of 4000 ends took more than four iterations, %d have no step\n", many, none);
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
    for (int64_t slice = 1; slice < 500; slice = 3 * slice + 1) {
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

/* A power of each coordinate of a separation. */
static double monomial(const double x[3], const int power[3])
{
    double product = 1;
    for (int d = 0; d < 3; d++)
        for (int k = 0; k < power[d]; k++) product *= x[d];
    return product;
}

/* Means over a period of all monomials up to the sixth degree from eight points, beside a sum over 400, which is exact
 * to rounding: at any phase, for orbits up to a needle. The limit is rounding, of products of six coordinates up to
 * 2. */
static void points_along_the_orbit(void **state)
{
    (void)state;
    enum { FEW = 8, MANY = 400 };
    for (double e = 0; e < 1; e = e < 0.8 ? e + 0.4 : e + 0.1999) {
        struct ks_pair pair;
        struct nbc_error err = {0};
        double share[FEW], x[FEW][3], fine_share[MANY], fine[MANY][3], total = 0, worst = 0;
        orbit_init(&pair, e, 1, &ETA02);
        assert_int_equal(ks_unperturbed(&pair, 1.234, &err), NBC_OK);
        assert_int_equal(ks_orbit_points(&pair, FEW, share, x), NBC_OK);
        assert_int_equal(ks_orbit_points(&pair, MANY, fine_share, fine), NBC_OK);
        for (int k = 0; k < FEW; k++) total += share[k];
        assert_true(fabs(total - 1) < 8 * EPS);
        for (int code = 0; code < 343; code++) {
            const int power[3] = {code % 7, code / 7 % 7, code / 49};
            if (power[0] + power[1] + power[2] > 6) continue;
            double mean = 0, exact = 0;
            for (int k = 0; k < FEW; k++) mean += share[k] * monomial(x[k], power);
            for (int k = 0; k < MANY; k++) exact += fine_share[k] * monomial(fine[k], power);
            worst = fmax(worst, fabs(mean - exact));
        }
        assert_true(worst < 64 * 64 * EPS);
        /* the time mean of r^2 is a^2 (1 + 3 e^2/2), Kepler's equation says */
        double r2 = 0;
        for (int k = 0; k < FEW; k++) r2 += share[k] * norm(x[k]) * norm(x[k]);
        assert_true(fabs(r2 - (1 + 1.5 * e * e)) < 64 * EPS);
    }
    struct ks_pair free;
    double share[FEW], x[FEW][3];
    orbit_init(&free, 0.5, 1, &ETA02);
    free.h = 0;
    assert_int_equal(ks_orbit_points(&free, FEW, share, x), NBC_BAD_STATE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_origin_of_time),
        cmocka_unit_test(bodies_come_back),
        cmocka_unit_test(bad_arguments_are_refused),
        cmocka_unit_test(failures_change_nothing),
        cmocka_unit_test(copies_continue_bit_for_bit),
        cmocka_unit_test(finish_ends_at_the_time),
        cmocka_unit_test(finish_where_the_perturbation_jumps),
        cmocka_unit_test(advance_in_slices),
        cmocka_unit_test(steps_go_on_after_finish),
        cmocka_unit_test(unperturbed_motion_is_two_body_motion),
        cmocka_unit_test(arrays_of_perturbers),
        cmocka_unit_test(elements_and_times),
        cmocka_unit_test(points_along_the_orbit),
        cmocka_unit_test(slowdown_follows_the_perturbation),
    };
    return cmocka_run_group_tests_name("ks", tests, NULL, NULL);
}
