/* KS pairs: the promises of each call. Perturbed pairs are in test_ks_perturbed.c, free motion over many orbits is in
 * tests/physics. */
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
#include "regularization/ks_ellipse.h"
#include "tests/support/ks_pair.h"

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
        /* A few roundings each; the energy fixes |v| through (m + h R)/2, with a relative error of at most that of
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

/* A power of each coordinate of a separation. */
static double monomial(const double x[3], const int power[3])
{
    double product = 1;
    for (int d = 0; d < 3; d++)
        for (int k = 0; k < power[d]; k++) product *= x[d];
    return product;
}

#define PI 3.14159265358979323846

/* Points of the osculating ellipse, with their shares of the period. */
static void points_of(const struct ks_pair *pair, int n, double share[], double x[][3])
{
    struct ks_ellipse ellipse;
    assert_int_equal(ks_get_ellipse(pair, &ellipse), NBC_OK);
    for (int k = 0; k < n; k++) {
        const double angle = 2 * PI * k / n;
        share[k] = ks_ellipse_point(&ellipse, cos(angle), sin(angle), x[k]) / n;
    }
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
        points_of(&pair, FEW, share, x);
        points_of(&pair, MANY, fine_share, fine);
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
    struct ks_ellipse none;
    orbit_init(&free, 0.5, 1, &ETA02);
    free.h = 0;
    assert_int_equal(ks_get_ellipse(&free, &none), NBC_BAD_STATE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_come_back),
        cmocka_unit_test(bad_arguments_are_refused),
        cmocka_unit_test(failures_change_nothing),
        cmocka_unit_test(copies_continue_bit_for_bit),
        cmocka_unit_test(unperturbed_motion_is_two_body_motion),
        cmocka_unit_test(elements_and_times),
        cmocka_unit_test(points_along_the_orbit),
    };
    return cmocka_run_group_tests_name("ks", tests, NULL, NULL);
}
