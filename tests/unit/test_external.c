/* The field of the galaxy: its coefficients against independent numbers, its jerk against differences, its orbits
 * against the epicycle solution. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>

#include "common/nbc.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/input/config.h"
#include "nbody6/input/units.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/event.h"
#include "nbody6/state/sim.h"
#include "tests/support/cluster.h"

static const double PI = 3.14159265358979323846;

static void assert_relative(const char *what, double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance * fabs(expected)))
        fail_msg("%s: %.12g instead of %.12g, tolerance %g", what, value, expected, tolerance);
}

static struct nb6_external field(enum nb6_tide_kind kind, double rbar_pc, double zmbar_msun, int64_t n,
                                 double mass_msun, double distance_kpc)
{
    struct nb6_config config = {
        .tide = {.kind = kind, .galaxy_mass_msun = mass_msun, .galaxy_distance_kpc = distance_kpc}};
    const struct nb6_units units = nb6_units_from(rbar_pc, zmbar_msun, n);
    struct nb6_external external;
    struct nbc_error err = {0};
    if (nb6_external_make(&config, &units, &external, &err)) fail_msg("%s", err.text);
    return external;
}

/* By hand, in km/s/kpc: A = 14.4, B = -12 give the orbital frequency A - B = 26.4, that is 0.0270 /Myr and a period of
 * 232.7 Myr (1 km/s/kpc = 1.022712e-3 /Myr), and t_x = 4 A (A - B) = 1520.64. A cluster of 1000 Msun has its Lagrangian
 * points at (G M/t_x)^(1/3) = (4.300917 pc (km/s)^2 / 1520.64e-6 (km/s/pc)^2)^(1/3) = 14.14 pc. Vertically,
 * nu^2 = 4 pi G 0.11 + 2 (A^2 - B^2) = 5945.2 + 126.7 = 6071.9 (km/s/kpc)^2, nu = 77.92, a period of 78.84 Myr. */
static void solar_neighbourhood(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        /* the same cluster in two systems of units */
        double rbar = k ? 2.5 : 1;
        struct nb6_units units = nb6_units_from(rbar, 0.5, 2000);
        struct nb6_external e = field(NB6_TIDE_SOLAR, rbar, 0.5, 2000, 0, 0);
        assert_true(e.active);
        double r_tide = nb6_external_tidal_radius(&e, 1) * rbar;
        assert_relative("tidal radius, pc", r_tide, 14.14, 0.005 / 14.14);
        assert_relative("orbital period, Myr", 2 * PI / (0.5 * e.coriolis) * units.time_myr, 232.7, 1e-3);
        assert_relative("vertical period, Myr", 2 * PI / sqrt(-e.t_z) * units.time_myr, 78.84, 1e-3);
        /* epicyclic frequency: kappa^2 = coriolis^2 - t_x = -4 B (A - B) = 1267.2 */
        double kappa2 = (e.coriolis * e.coriolis - e.t_x) * pow(1e3 * units.velocity_kms / rbar, 2);
        assert_relative("kappa^2, (km/s/kpc)^2", kappa2, 1267.2, 1e-12);
        assert_relative("mass", nb6_external_tidal_radius(&e, 0.125), 0.5 * nb6_external_tidal_radius(&e, 1), 1e-14);
    }
}

/* 1e11 Msun at 8.5 kpc: v = sqrt(G M/R) = sqrt(4.300917e-6 1e11/8.5) = 224.94 km/s, 26.46 km/s/kpc. A cluster of 1e4
 * Msun: r_t = R (M/3 M_G)^(1/3) = 8500 (1e4/3e11)^(1/3) = 27.36 pc. */
static void point_mass(void **state)
{
    (void)state;
    struct nb6_units units = nb6_units_from(1.5, 0.5, 20000);
    struct nb6_external e = field(NB6_TIDE_POINT_MASS, 1.5, 0.5, 20000, 1e11, 8.5);
    double omega_kms_kpc = 0.5 * e.coriolis * 1e3 * units.velocity_kms / units.length_pc;
    assert_relative("circular speed, km/s", omega_kms_kpc * 8.5, 224.94, 0.01 / 224.94);
    assert_relative("tidal radius, pc", nb6_external_tidal_radius(&e, 1) * 1.5, 27.36, 0.005 / 27.36);
    assert_relative("t_x", e.t_x, 0.75 * e.coriolis * e.coriolis, 1e-14);
    assert_relative("t_z", e.t_z, -0.25 * e.coriolis * e.coriolis, 1e-14);
}

static void no_field(void **state)
{
    (void)state;
    struct nb6_external e = field(NB6_TIDE_NONE, 1, 0.5, 1000, 0, 0);
    const double x[3] = {1, 2, 3};
    assert_false(e.active);
    assert_true(nb6_external_potential(&e, 0, x) == 0);
    assert_true(nb6_external_tidal_radius(&e, 1) == 0);
}

/* Force from the potential: a central difference of a quadratic has no error but round-off, 1e-16 x potential / step.
 */
static void force_is_gradient(void **state)
{
    (void)state;
    const struct nb6_external e = {.active = 1, .kind = 1, .t_x = 0.7, .t_z = -2.2, .coriolis = 0};
    const double x[3] = {1.3, -0.4, 0.8}, zero[3] = {0, 0, 0}, h = 0.125;
    double acc[3], jerk[3];
    nb6_external_force(&e, 0, x, zero, zero, acc, jerk);
    for (int k = 0; k < 3; k++) {
        double up[3] = {x[0], x[1], x[2]}, down[3] = {x[0], x[1], x[2]};
        up[k] += h;
        down[k] -= h;
        double slope = (nb6_external_potential(&e, 0, up) - nb6_external_potential(&e, 0, down)) / (2 * h);
        assert_true(fabs(acc[k] + slope) < 1e-14);
    }
}

/* A star moves along a curve with acceleration inner(t) + field; the jerk is the derivative of the field's force along
 * it. The curve is a parabola with the right acceleration at t = 0; the field is linear in x and v, so that the central
 * difference of its force over +-h is exact but for round-off. */
static void jerk_by_differences(void **state)
{
    (void)state;
    const struct nb6_external e = {.active = 1, .kind = 1, .t_x = 0.7, .t_z = -2.2, .coriolis = 1.9};
    const double x[3] = {1.3, -0.4, 0.8}, v[3] = {0.2, 0.9, -0.5}, inner[3] = {-0.6, 0.3, 1.1}, h = 0x1p-6;
    double acc[3], jerk[3], plus[3], minus[3], unused[3];
    nb6_external_force(&e, 0, x, v, inner, acc, jerk);
    double xp[3], vp[3], xm[3], vm[3];
    for (int k = 0; k < 3; k++) {
        double a = inner[k] + acc[k];
        xp[k] = x[k] + h * (v[k] + h * a / 2);
        xm[k] = x[k] - h * (v[k] - h * a / 2);
        vp[k] = v[k] + h * a;
        vm[k] = v[k] - h * a;
    }
    nb6_external_force(&e, 0, xp, vp, inner, plus, unused);
    nb6_external_force(&e, 0, xm, vm, inner, minus, unused);
    for (int k = 0; k < 3; k++) assert_true(fabs((plus[k] - minus[k]) / (2 * h) - jerk[k]) < 1e-13);
    /* the Coriolis force does no work */
    const struct nb6_external turning = {.active = 1, .kind = 1, .t_x = 0, .t_z = 0, .coriolis = 1.9};
    nb6_external_force(&turning, 0, x, v, inner, acc, jerk);
    assert_true(fabs(acc[0] * v[0] + acc[1] * v[1] + acc[2] * v[2]) < 1e-15);
}

/* Classical Runge-Kutta steps with the field's force. */
static void integrate(const struct nb6_external *e, double y[6], double t, int steps)
{
    const double zero[3] = {0, 0, 0}, h = t / steps, at[4] = {0, 0.5, 0.5, 1}, weight[4] = {1, 2, 2, 1};
    for (int step = 0; step < steps; step++) {
        double k[4][6], jerk[3];
        for (int m = 0; m < 4; m++) {
            double z[6];
            for (int c = 0; c < 6; c++) z[c] = y[c] + (m ? at[m] * h * k[m - 1][c] : 0);
            for (int c = 0; c < 3; c++) k[m][c] = z[3 + c];
            nb6_external_force(e, 0, z, z + 3, zero, k[m] + 3, jerk);
        }
        for (int m = 0; m < 4; m++)
            for (int c = 0; c < 6; c++) y[c] += h / 6 * weight[m] * k[m][c];
    }
}

/* Hill's equations without the cluster: an epicycle of frequency kappa about a guiding centre that drifts by shear.
 * From x(0) = (X, 0, z), v = (0, V, v_z): x = x_g + (X - x_g) cos kappa t, x_g = c (c X + V)/kappa^2, y = (V + c X - c
 * x_g) t - c (X - x_g) sin(kappa t)/kappa, z harmonic. */
static void epicycle_at(const struct nb6_external *e, const double start[6], double t, double y[6])
{
    double c = e->coriolis, kappa = sqrt(c * c - e->t_x), nu = sqrt(-e->t_z), x = start[0], vy = start[4];
    double guide = c * (c * x + vy) / (kappa * kappa), amplitude = x - guide, shear = vy + c * x - c * guide;
    y[0] = guide + amplitude * cos(kappa * t);
    y[1] = shear * t - c * amplitude * sin(kappa * t) / kappa;
    y[2] = start[2] * cos(nu * t) + start[5] / nu * sin(nu * t);
    y[3] = -kappa * amplitude * sin(kappa * t);
    y[4] = shear - c * amplitude * cos(kappa * t);
    y[5] = start[5] * cos(nu * t) - nu * start[2] * sin(nu * t);
}

static double jacobi(const struct nb6_external *e, const double y[6])
{
    return 0.5 * (y[3] * y[3] + y[4] * y[4] + y[5] * y[5]) + nb6_external_potential(e, 0, y);
}

/* 10000 steps of 4th order over 2.3 epicycles leave about (14.5/10000)^4 x 14.5/120 = 5e-13. */
static void epicycle_of_forces(void **state)
{
    (void)state;
    struct nb6_external e = field(NB6_TIDE_SOLAR, 1, 0.5, 1000, 0, 0);
    double kappa = sqrt(e.coriolis * e.coriolis - e.t_x), t = 2.3 * 2 * PI / kappa;
    const double start[6] = {1.7, 0, 0.4, 0, -0.6 * e.coriolis * 1.7, 0.1 * sqrt(-e.t_z)};
    double y[6] = {start[0], start[1], start[2], start[3], start[4], start[5]}, exact[6];
    integrate(&e, y, t, 10000);
    epicycle_at(&e, start, t, exact);
    for (int k = 0; k < 6; k++) {
        double scale = k < 3 ? 10 : 10 * kappa;
        if (!(fabs(y[k] - exact[k]) < 1e-11 * scale))
            fail_msg("component %d: %.15g, %.15g expected", k, y[k], exact[k]);
    }
    assert_relative("Jacobi's integral", jacobi(&e, y), jacobi(&e, start), 1e-10);
}

/* Largest error of a massless star after 1.7 epicycles, integrated by the driver with constant steps. The other star's
 * mass, 1e-12 at a distance of 3.4, moves it by 1e-12 of its own motion. */
static double driver_error(double dt)
{
    struct nb6_config config;
    cluster_config(&config);
    cluster_config_ref(&config);
    cluster_config_fixed(&config, dt, dt, 0);
    config.integration.fixed_nnb = 0;
    config.tide.kind = NB6_TIDE_SOLAR;
    config.rbar_pc = 1;
    config.zmbar_msun = 0.5; /* two stars: 1 Msun in a pc, so that the field is of order 1 */
    config.run.dt_adjust = config.run.dt_output = 1000;
    struct nb6_external e = field(NB6_TIDE_SOLAR, 1, 0.5, 2, 0, 0);
    const double t = 20, start[6] = {1.7, 0, 0.4, 0, -0.6 * e.coriolis * 1.7, 0.1 * sqrt(-e.t_z)};
    const double row[2][7] = {{0, 1.7, 0, 0.4, 0, start[4], start[5]}, {1e-12, -1.7, 0, 0, 0, 0, 0}};
    struct cluster pair = cluster_from_rows(2, row);
    nb6_t *sim = cluster_start(&config, &pair, NULL);
    assert_relative("t_x of the run", sim->run.external.t_x, e.t_x, 1e-15);
    cluster_evolve(sim, t);
    struct cluster now = cluster_now(sim);
    double exact[6], error = 0;
    epicycle_at(&e, start, t, exact);
    for (int k = 0; k < 3; k++)
        error = fmax(error, fmax(fabs(now.x[0][k] - exact[k]), fabs(now.v[0][k] - exact[3 + k])));
    cluster_free(&now);
    cluster_free(&pair);
    nb6_free(sim);
    return error;
}

/* Fourth order also for the part of the force that depends on the velocity: 2^4 within 15 percent. */
static void epicycle_of_the_driver(void **state)
{
    (void)state;
    double coarse = driver_error(0x1p-4);
    for (int k = 5; k < 8; k++) {
        double fine = driver_error(ldexp(1, -k));
        print_message("dt 2^-%d: error %.3e, ratio %.2f\n", k, fine, coarse / fine);
        if (!(fabs(coarse / fine - 16) <= 0.15 * 16)) fail_msg("the error ratio is not 16");
        coarse = fine;
    }
}

/* Derivatives of the field along a path of known derivatives, against differences of the field itself. Those of third
 * order divide rounding, 1e-16, by h^3 = 1e-6 and leave h^2 of fifth derivatives, of which this path has none. */
static void higher_derivatives(void **state)
{
    (void)state;
    const struct nb6_external field = {.active = 1, .kind = 1, .t_x = 3.3, .t_z = -1.2, .coriolis = 2.1};
    const double x[3] = {0.3, -0.4, 0.2}, v[3] = {1.1, 0.5, -0.7}, acc[3] = {-0.6, 0.9, 0.4},
                 jerk[3] = {1.3, -0.8, 0.6};
    const double inner[3] = {0.7, -1.9, 0.3}, h = 0.01;
    double snap[3], crackle[3], at[5][3];
    nb6_external_higher(&field, 0, x, v, acc, jerk, inner, snap, crackle);
    for (int n = 0; n < 5; n++) {
        const double s = (n - 2) * h, nothing[3] = {0, 0, 0};
        double xs[3], vs[3], ignored[3];
        for (int k = 0; k < 3; k++) {
            const double fourth = inner[k] + snap[k];
            xs[k] = x[k] + s * (v[k] + s * (acc[k] / 2 + s * (jerk[k] / 6 + s * fourth / 24)));
            vs[k] = v[k] + s * (acc[k] + s * (jerk[k] / 2 + s * fourth / 6));
        }
        nb6_external_force(&field, 0, xs, vs, nothing, at[n], ignored);
    }
    for (int k = 0; k < 3; k++) {
        const double second = (-at[0][k] + 16 * at[1][k] - 30 * at[2][k] + 16 * at[3][k] - at[4][k]) / (12 * h * h);
        const double third = (at[4][k] - 2 * at[3][k] + 2 * at[1][k] - at[0][k]) / (2 * h * h * h);
        assert_true(fabs(second - snap[k]) < 1e-8);
        assert_true(fabs(third - crackle[k]) < 1e-8);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(higher_derivatives), cmocka_unit_test(solar_neighbourhood),
        cmocka_unit_test(point_mass),         cmocka_unit_test(no_field),
        cmocka_unit_test(force_is_gradient),  cmocka_unit_test(jerk_by_differences),
        cmocka_unit_test(epicycle_of_forces), cmocka_unit_test(epicycle_of_the_driver),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
