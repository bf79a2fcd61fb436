/* The Hermite scheme of one body: interpolation, corrector, step criteria, levels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>

#include "nbody6/state/body.h"
#include "nbody6/state/level.h"
#include "nbody6/step/hermite.h"

static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance)) {
        print_error("%.17g instead of %.17g, tolerance %g\n", value, expected, tolerance);
        fail();
    }
}

/* Coefficients of F(s) = c0 + c1 s + c2 s^2/2 + c3 s^3/6, one row for each direction. */
static const double CUBIC[3][4] = {{0.3, -1.2, 2.5, -7.0}, {-2.0, 0.4, -0.9, 3.0}, {1.1, 0.0, 0.6, 0.0}};

static void cubic(double s, double acc[3], double jerk[3])
{
    for (int k = 0; k < 3; k++) {
        const double *c = CUBIC[k];
        acc[k] = c[0] + s * (c[1] + s * (c[2] / 2 + s * c[3] / 6));
        jerk[k] = c[1] + s * (c[2] + s * c[3] / 2);
    }
}

/* A two-point Hermite polynomial is a cubic: for cubic forces it is exact. Round-off: differences of forces of order 1
 * carry 4e-16 and are divided by h^2 and h^3. */
static void interpolation_of_cubic(void **state)
{
    (void)state;
    const double steps[] = {1, 0.125, 0x1p-10};
    for (int m = 0; m < 3; m++) {
        double h = steps[m], a0[3], j0[3], a1[3], j1[3];
        struct nb6_higher higher;
        cubic(0, a0, j0);
        cubic(h, a1, j1);
        nb6_hermite_interpolate(h, a0, j0, a1, j1, &higher);
        for (int k = 0; k < 3; k++) {
            assert_near(higher.snap0[k], CUBIC[k][2], 1e-14 / (h * h));
            assert_near(higher.crackle[k], CUBIC[k][3], 4e-14 / (h * h * h));
            assert_near(higher.snap[k], CUBIC[k][2] + h * CUBIC[k][3], 5e-14 / (h * h));
        }
    }
}

/* Prediction and corrector together integrate a cubic force without error: x and v are its integrals. */
static void corrector_of_cubic(void **state)
{
    (void)state;
    const double h = 0.25, x0[3] = {1, -2, 0.5}, v0[3] = {0.1, 0.7, -0.3};
    double a1[3], j1[3], x[3], v[3];
    struct nb6_body body = {.x0 = {x0[0], x0[1], x0[2]}, .v0 = {v0[0], v0[1], v0[2]}};
    struct nb6_higher higher;
    cubic(0, body.acc, body.jerk);
    cubic(h, a1, j1);
    nb6_predict(&body, h, x, v);
    nb6_hermite_interpolate(h, body.acc, body.jerk, a1, j1, &higher);
    nb6_hermite_correct(h, &higher, x, v);
    for (int k = 0; k < 3; k++) {
        const double *c = CUBIC[k];
        double h2 = h * h, h3 = h2 * h, h4 = h3 * h, h5 = h4 * h;
        /* a handful of operations on numbers of order 1 */
        assert_near(x[k], x0[k] + h * v0[k] + c[0] * h2 / 2 + c[1] * h3 / 6 + c[2] * h4 / 24 + c[3] * h5 / 120, 2e-15);
        assert_near(v[k], v0[k] + h * c[0] + c[1] * h2 / 2 + c[2] * h3 / 6 + c[3] * h4 / 24, 2e-15);
    }
}

/* F = cos t: the corrected velocity over one step is sin h but for h^5/720, the error term of the two-point Hermite
 * rule; the position, which takes only the first terms, is good to the same order. */
static void order_of_one_step(void **state)
{
    (void)state;
    double error[2][2];
    for (int m = 0; m < 2; m++) {
        double h = ldexp(0.5, -m), x[3], v[3];
        struct nb6_body body = {.acc = {1, 0, 0}};
        const double a1[3] = {cos(h), 0, 0}, j1[3] = {-sin(h), 0, 0};
        struct nb6_higher higher;
        nb6_predict(&body, h, x, v);
        nb6_hermite_interpolate(h, body.acc, body.jerk, a1, j1, &higher);
        nb6_hermite_correct(h, &higher, x, v);
        error[m][0] = fabs(x[0] - (1 - cos(h)));
        error[m][1] = fabs(v[0] - sin(h));
        assert_near(error[m][1], pow(h, 5) / 720,
                    0.1 * pow(h, 5) / 720); /* next term: h^7/30240, h^2/42 of the first */
    }
    /* At least 2^5; the next terms change the ratio by less than h^2. */
    assert_true(error[0][0] / error[1][0] > 32 * 0.75);
    assert_near(error[0][1] / error[1][1], 32, 0.25 * 32);
}

static void criterion(void **state)
{
    (void)state;
    const double zero[3] = {0, 0, 0}, one[3] = {1, 0, 0}, two[3] = {0, 2, 0};
    /* harmonic force with frequency w: |F|:|F'|:|F''|:|F'''| = 1:w:w^2:w^3 gives sqrt(eta)/w for circular motion */
    const double w = 3, acc[3] = {1, 0, 0}, jerk[3] = {0, w, 0}, snap[3] = {-w * w, 0, 0},
                 crackle[3] = {0, -w * w * w, 0};
    assert_near(nb6_timestep(0.02, acc, jerk, snap, crackle), sqrt(0.02) / w, 1e-15);
    /* dt ~ sqrt(eta) */
    assert_near(nb6_timestep(0.08, acc, jerk, snap, crackle) / nb6_timestep(0.02, acc, jerk, snap, crackle), 2, 1e-14);
    assert_true(isinf(nb6_timestep(0.02, zero, zero, zero, zero)));
    assert_true(isinf(nb6_timestep(0.02, one, zero, zero, zero)));
    /* |F| = 1, |F''| = 2: sqrt(eta |F||F''|)/|F''| */
    assert_near(nb6_timestep(0.02, one, zero, two, zero), sqrt(0.02 / 2), 1e-15);
    /* no force and no change of it: sqrt(eta) |F''|/|F'''| */
    assert_near(nb6_timestep(0.02, zero, zero, one, two), sqrt(0.02) / 2, 1e-15);
    assert_true(nb6_timestep(0.02, zero, zero, zero, two) >= 0);
    assert_true(isfinite(nb6_timestep(0.02, zero, one, zero, two)));
}

/* Scale invariance: lengths by 10^5, times by 10^3. */
static void criterion_scales(void **state)
{
    (void)state;
    const double acc[3] = {1, 2, 3}, jerk[3] = {-1, 0.5, 2}, snap[3] = {4, 4, -1}, crackle[3] = {9, -3, 2};
    double dt = nb6_timestep(0.02, acc, jerk, snap, crackle), a[3], j[3], s[3], c[3];
    for (int k = 0; k < 3; k++) {
        a[k] = acc[k] * 1e5 * 1e-6;
        j[k] = jerk[k] * 1e5 * 1e-9;
        s[k] = snap[k] * 1e5 * 1e-12;
        c[k] = crackle[k] * 1e5 * 1e-15;
    }
    assert_near(nb6_timestep(0.02, a, j, s, c) / dt, 1e3, 1e-10);
}

/* A step is right when its velocity correction is eps |F| h; half the correction allows a longer one, twice asks for a
 * shorter one. */
static void velocity_criterion(void **state)
{
    (void)state;
    const double acc[3] = {0, 2, 0}, zero[3] = {0, 0, 0}, eps = 0.001, h = 0.01, right = eps * 2 * h;
    const double dv[3] = {0, 0, right}, half[3] = {right / 2, 0, 0}, twice[3] = {0, -2 * right, 0};
    assert_near(nb6_timestep_velocity(eps, h, nb6_norm2(acc), nb6_norm2(dv)), h, 1e-15);
    assert_true(nb6_timestep_velocity(eps, h, nb6_norm2(acc), nb6_norm2(half)) > 1.1 * h);
    assert_true(nb6_timestep_velocity(eps, h, nb6_norm2(acc), nb6_norm2(twice)) < 0.9 * h);
    assert_true(isinf(nb6_timestep_velocity(eps, h, nb6_norm2(acc), nb6_norm2(zero))));
    assert_true(isinf(nb6_timestep_velocity(eps, h, nb6_norm2(zero), nb6_norm2(dv))));
}

/* Derivatives that rounding errors may have made count as nothing; others as they do. */
static void derivatives_of_noise(void **state)
{
    (void)state;
    const double h = 0x1p-10, error = 1e-7, eta = 0.02;
    const struct nb6_noise noise = {error, error};
    const double snap = 6 * error / (h * h), crackle = 12 * error / (h * h * h);
    assert_true(isinf(nb6_timestep_above_noise(eta, h, noise, 1, 1, snap * snap, crackle * crackle)));
    assert_true(isinf(nb6_timestep_above_noise(eta, h, noise, error * error, 0, snap * snap, 0)));
    /* Ten times as large ones: squares are right to a percent. */
    const double s2 = 100 * snap * snap, c2 = 100 * crackle * crackle;
    assert_near(nb6_timestep_above_noise(eta, h, noise, 1, 1, s2, c2) / nb6_timestep_of_norms(eta, 1, 1, s2, c2), 1,
                0.01);
    assert_true(nb6_derivatives_may_be_noise(h, error, 1, snap * snap / 4, crackle * crackle / 4));
    assert_true(!nb6_derivatives_may_be_noise(h, error, 1, s2, c2));
    assert_true(!nb6_derivatives_may_be_noise(h, error, 1, 1e4 * s2, crackle * crackle / 4)); /* nothing beside it */
}

static void levels(void **state)
{
    (void)state;
    assert_int_equal(nb6_level_of(1, 40), 40);
    assert_int_equal(nb6_level_of(INFINITY, 37), 37);
    assert_int_equal(nb6_level_of(NAN, 37), 37); /* a criterion without effect; other tests check states */
    assert_int_equal(nb6_level_of(0.125, 40), 37);
    assert_int_equal(nb6_level_of(nextafter(0.125, 0), 40), 36);
    assert_int_equal(nb6_level_of(nextafter(0.125, 1), 40), 37);
    assert_int_equal(nb6_level_of(0.125, 30), 30);
    assert_int_equal(nb6_level_of(0x1p-40, 40), 0);
    assert_int_equal(nb6_level_of(1e-300, 40), 0);
    assert_int_equal(nb6_level_of(0, 40), 0);
    for (int level = 0; level <= 40; level++) {
        assert_int_equal(nb6_level_of(nb6_step_length(level), 40), level);
        assert_int_equal(nb6_level_of(1.5 * nb6_step_length(level), 40), level < 40 ? level : 40);
    }
}

/* Down at once and as far as wanted; up by one, at a multiple of the doubled step only. */
static void next_level(void **state)
{
    (void)state;
    for (int level = 0; level < 12; level++)
        for (int wanted = 0; wanted <= 12; wanted++)
            for (nb6_time k = 1; k < 20; k++) {
                nb6_time t = k << level;
                int next = nb6_level_next(level, wanted, t);
                if (wanted <= level)
                    assert_int_equal(next, wanted);
                else
                    assert_int_equal(next, k % 2 == 0 ? level + 1 : level);
                assert_int_equal(t % nb6_step_ticks(next), 0);
            }
    assert_int_equal(nb6_level_next(39, 40, 0), 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interpolation_of_cubic),
        cmocka_unit_test(corrector_of_cubic),
        cmocka_unit_test(order_of_one_step),
        cmocka_unit_test(criterion),
        cmocka_unit_test(criterion_scales),
        cmocka_unit_test(velocity_criterion),
        cmocka_unit_test(derivatives_of_noise),
        cmocka_unit_test(levels),
        cmocka_unit_test(next_level),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
