/* Orbits in a galaxy and the field in the frame that moves along one: against Kepler's orbit and against each other,
 * derivatives against differences, the work of the field against energies, the driver against an orbit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "common/nbc.h"
#include "nbody6/galaxy/components.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/galaxy/orbit.h"
#include "nbody6/input/config.h"
#include "nbody6/input/units.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/sim.h"
#include "tests/support/cluster.h"
#include "tests/support/galaxy.h"

static const double PI = 3.14159265358979323846;

/* ---- orbits */

/* Kepler's orbit: e = 0.6 from the apocentre. After 10.25 periods and at times within pieces, energy and position of
 * the analytic solution. 1e-11 is what rounding of the extrapolated steps, 2e-15 each, becomes in 700 of them as time
 * along the orbit. */
static void kepler_orbit(void **state)
{
    (void)state;
    const struct nb6_units units = units_of_order_one();
    const struct nb6_tide_config tide = {
        .kind = NB6_TIDE_GALAXY, .galaxy_mass_msun = 1e10, .position_kpc = {1.6, 0.6, 0}};
    struct nb6_external e = make_external(&tide, &units); /* a = 1, GM = 1: n = 1 */
    struct nbc_error err = {0};
    const double ecc = 0.6;
    for (int k = 1; k < 400; k++) {
        const double t = 10.25 * 2 * PI * k / 400;
        struct nb6_orbit_point r;
        assert_int_equal(nb6_external_extend_to(&e, t, &err), NBC_OK);
        nb6_orbit_at(&e, t, &r);
        double anomaly = t + PI;
        for (int m = 0; m < 60; m++) anomaly -= (anomaly - ecc * sin(anomaly) - (t + PI)) / (1 - ecc * cos(anomaly));
        const double x[3] = {-(cos(anomaly) - ecc), -sqrt(1 - ecc * ecc) * sin(anomaly), 0};
        if (!(worst(r.x, x) < 1e-11)) fail_msg("t = %g: %.15g %.15g, not %.15g %.15g", t, r.x[0], r.x[1], x[0], x[1]);
        const double rate = 1 / (1 - ecc * cos(anomaly));
        const double v[3] = {rate * sin(anomaly), -rate * sqrt(1 - ecc * ecc) * cos(anomaly), 0};
        assert_true(worst(r.v, v) < 4e-11);
    }
}

/* An orbit in all parts keeps its energy, and has the same bits extended step by step, at once, or not at all. */
static void orbit_in_all_parts(void **state)
{
    (void)state;
    const struct nb6_units units = units_of_order_one();
    const struct nb6_tide_config tide = milky_way();
    struct nb6_external e = make_external(&tide, &units), far = e;
    const struct nb6_external fresh = e;
    struct nbc_error err = {0};
    struct nb6_orbit_point r, q, s;
    nb6_orbit_at(&e, 0, &r);
    const double energy =
        0.5 * (r.v[0] * r.v[0] + r.v[1] * r.v[1] + r.v[2] * r.v[2]) + nb6_galaxy_potential(e.parameter, r.x);
    for (double t = 0.37; t < 200; t += 0.37) {
        assert_int_equal(nb6_external_extend_to(&e, t, &err), NBC_OK);
        nb6_orbit_at(&e, t, &r);
        const double now =
            0.5 * (r.v[0] * r.v[0] + r.v[1] * r.v[1] + r.v[2] * r.v[2]) + nb6_galaxy_potential(e.parameter, r.x);
        assert_near("energy", now / energy, 1, 1e-12);
        if (t < 20) {
            nb6_orbit_at(&fresh, t, &q);
            assert_memory_equal(&q, &r, sizeof q);
        }
    }
    const double t = e.orbit.now_t;
    assert_int_equal(nb6_external_extend_to(&far, t, &err), NBC_OK);
    nb6_orbit_at(&far, t, &s);
    assert_memory_equal(&s, &r, sizeof s);
    /* before what is kept: to the accuracy of the steps back */
    nb6_orbit_at(&far, t - 10, &s);
    nb6_orbit_at(&fresh, t - 10, &q);
    assert_true(worst(s.x, q.x) < 1e-11);
}

/* ---- the field in the frame */

static struct nb6_tide_config with_gas(void)
{
    struct nb6_tide_config tide = milky_way();
    tide.gas_mass = 1.2;
    tide.gas_length = 0.8;
    tide.gas_rate = 0.5;
    tide.gas_delay = 0.25;
    return tide;
}

static void path_at(double s, double x[3], double v[3], double acc[3], double jerk[3])
{
    static const double path[3][4] = {{0.3, 0.4, -0.3, 0.2}, {-0.2, 0.7, 0.25, -0.1}, {0.15, -0.5, 0.1, 0.3}};
    for (int d = 0; d < 3; d++) {
        const double *c = path[d];
        x[d] = c[0] + s * (c[1] + s * (c[2] + s * c[3]));
        v[d] = c[1] + s * (2 * c[2] + 3 * s * c[3]);
        acc[d] = 2 * c[2] + 6 * s * c[3];
        jerk[d] = 6 * c[3];
    }
}

/* The field's own time derivatives, the orbit's motion and the gas's loss among them. */
static void field_along_a_path(void **state)
{
    (void)state;
    const struct nb6_units units = units_of_order_one();
    const struct nb6_tide_config tide = with_gas();
    const struct nb6_external e = make_external(&tide, &units);
    const double t0 = 1.1, h = 0x1p-6;
    double value[9][4][3], energy[9];
    for (int m = 0; m < 9; m++) {
        const double s = (m - 4) * h;
        double x[3], v[3], acc[3], jerk[3];
        path_at(s, x, v, acc, jerk);
        nb6_external_force(&e, t0 + s, x, v, acc, value[m][0], value[m][1]);
        nb6_external_higher(&e, t0 + s, x, v, acc, jerk, acc, value[m][2], value[m][3]);
        path_at(0, x, v, acc, jerk);
        energy[m] = nb6_external_potential(&e, t0 + s, x);
    }
    for (int k = 1; k < 4; k++)
        for (int d = 0; d < 3; d++) {
            double before[9];
            for (int m = 0; m < 9; m++) before[m] = value[m][k - 1][d];
            assert_near("derivative", value[4][k][d], slope(before, h), 1e-7);
        }
    /* work at rest is what the potential there grows by: Hermite's rule over 2^-6, h^5/720 of a fifth derivative */
    double x[3], v[3], acc[3], jerk[3];
    const double zero[3] = {0, 0, 0};
    path_at(0, x, v, acc, jerk);
    const struct nb6_moment from = {t0 - h / 4, x, zero}, to = {t0 + h / 4, x, zero};
    const double grown = nb6_external_potential(&e, to.t, x) - nb6_external_potential(&e, from.t, x);
    assert_near("work", nb6_external_work(&e, &from, &to), grown, 1e-10);
    assert_near("rate", nb6_external_work(&e, &from, &to) / (h / 2), slope(energy, h), 1e-5);
}

/* Where the centre of two members is at s, and how they move about it. */
static void pair_at(double s, double size, double centre[2][3], double x[3], double xdot[3])
{
    static const double from[3] = {0.3, -0.2, 0.15}, v[3] = {0.4, 0.7, -0.5};
    static const double out[3] = {0.6, -0.3, 0.7}, change[3] = {0.7, 0.5, -0.4};
    for (int d = 0; d < 3; d++) {
        centre[0][d] = from[d] + s * v[d];
        centre[1][d] = v[d];
        x[d] = size * (out[d] + s * change[d]);
        xdot[d] = size * change[d];
    }
}

/* The field at centre + f x less that at centre, and the rates of its potential for the same member. */
static void difference_at(const struct nb6_external *e, double t, const double centre[2][3], const double x[3],
                          const double xdot[3], double f, double force[2][3], double rate[2])
{
    const double zero[3] = {0, 0, 0};
    double y[3], v[3];
    for (int d = 0; d < 3; d++) {
        y[d] = f * x[d];
        v[d] = f * xdot[d];
    }
    nb6_external_relative(e, t, centre, y, v, v, zero, force[0], force[1]);
    nb6_external_rate(e, t, centre, y, v, (const double *)force[0], (const double *)force[1], rate);
}

/* Against the difference of two forces, of order 10, for what rounding leaves of that; and in two halves, each of which
 * is a difference of its own, to 1e-10 of it. */
static void check_difference(const struct nb6_external *e, double size)
{
    const double t = 1.1, zero[3] = {0, 0, 0};
    double centre[2][3], middle[2][3], end[2][3], x[3], xdot[3], force[2][3], first[2][3], second[2][3], none[2];
    double here[2][3], there[2][3];
    pair_at(0, size, centre, x, xdot);
    for (int d = 0; d < 3; d++)
        for (int m = 0; m < 2; m++) {
            middle[m][d] = centre[m][d] + 0.5 * (m ? xdot[d] : x[d]);
            end[m][d] = centre[m][d] + (m ? xdot[d] : x[d]);
        }
    difference_at(e, t, (const double(*)[3])centre, x, xdot, 1, force, none);
    difference_at(e, t, (const double(*)[3])centre, x, xdot, 0.5, first, none);
    difference_at(e, t, (const double(*)[3])middle, x, xdot, 0.5, second, none);
    nb6_external_force(e, t, centre[0], centre[1], zero, here[0], here[1]);
    nb6_external_force(e, t, end[0], end[1], zero, there[0], there[1]);
    for (int d = 0; d < 3; d++)
        for (int m = 0; m < 2; m++) {
            assert_near("difference", force[m][d], there[m][d] - here[m][d], m ? 1e-11 : 1e-12);
            assert_near("halves", force[m][d], first[m][d] + second[m][d], 1e-10 * size);
        }
}

/* Derivatives along the path of both, and in time where they are, of two members of masses 1 and 2: by differences of
 * eighth order, to 1e-8. Potentials are of second order in the size. */
static void check_derivatives(const struct nb6_external *e, double size)
{
    const double t = 1.1, h = 0x1p-6, mass[2] = {1, 2}, share[2] = {1, -0.5};
    double force[9][3], power[9], energy[9], outward[9], centre[2][3], x[3], xdot[3], is[2][3], rate[2];
    double jerk[3], sum[2] = {0, 0}, pull = 0;
    for (int m = 0; m < 9; m++) {
        const double s = (m - 4) * h;
        pair_at(s, size, centre, x, xdot);
        power[m] = energy[m] = 0;
        for (int k = 1; k >= 0; k--) {
            difference_at(e, t + s, (const double(*)[3])centre, x, xdot, share[k], is, rate);
            power[m] += mass[k] * rate[0];
            if (m == 4) sum[0] += mass[k] * rate[0];
            if (m == 4) sum[1] += mass[k] * rate[1];
        }
        memcpy(force[m], is[0], sizeof force[m]);
        if (m == 4) memcpy(jerk, is[1], sizeof jerk);
        pair_at(0, size, centre, x, xdot);
        for (int k = 0; k < 2; k++) {
            const double y[3] = {share[k] * x[0], share[k] * x[1], share[k] * x[2]};
            energy[m] += mass[k] * nb6_external_relative_potential(e, t + s, centre[0], y);
        }
        const double y[3] = {(1 + s) * x[0], (1 + s) * x[1], (1 + s) * x[2]};
        outward[m] = nb6_external_relative_potential(e, t, centre[0], y);
    }
    for (int d = 0; d < 3; d++) {
        double before[9];
        for (int m = 0; m < 9; m++) before[m] = force[m][d];
        assert_near("jerk", jerk[d], slope(before, h), 1e-6 * size);
        pull += x[d] * force[4][d];
    }
    assert_near("potential", pull, -slope(outward, h), 1e-8 * size * size);
    assert_near("rate", sum[0], slope(energy, h), 1e-6 * size * size);
    assert_near("its derivative", sum[1], slope(power, h), 1e-5 * size * size);
}

/* On both sides of each change of formulae, one of which is nothing but the gradient. */
static void relative_field(void **state)
{
    (void)state;
    const struct nb6_units units = units_of_order_one();
    const struct nb6_tide_config tide = with_gas();
    const struct nb6_external e = make_external(&tide, &units);
    const double size[] = {1e-9, 3e-5, 4e-4, 1e-3, 0.05, 0.3};
    for (size_t k = 0; k < sizeof size / sizeof size[0]; k++) {
        check_difference(&e, size[k]);
        if (size[k] > 1e-7) check_derivatives(&e, size[k]); /* rates are sums that cancel to the second order */
    }
    double force[2][3], centre[2][3], x[3], xdot[3], rate[2];
    pair_at(0, 3e-5, centre, x, xdot);
    difference_at(&e, 1.1, (const double(*)[3])centre, x, xdot, 1, force, rate);
    assert_true(nb6_external_strongest(&e, 1.1, centre[0]) * 3e-5 >= worst(force[0], (const double[3]){0, 0, 0}));
}

/* The field as a polynomial about a place, for a system that is near it: forces, jerks and power are those of the field
 * on each member, those of the tide to 1e-10 (the terms left out, at 1e-4 of the length, are 1e-11 of it), its rate to
 * 1e-6 (1.5e-7). It is not used farther away. */
static void near_field(void **state)
{
    (void)state;
    const struct nb6_units units = units_of_order_one();
    struct nb6_tide_config tide[3] = {with_gas(), milky_way(), milky_way()};
    tide[2].kind = NB6_TIDE_MILKY_WAY;
    for (int f = 0; f < 3; f++) {
        const struct nb6_external e = make_external(&tide[f], &units);
        const double t = 1.1, mass[2] = {0.3, 0.7}, share[2] = {0.7, -0.3};
        for (int far = 0; far < 2; far++) {
            double centre[2][3], x[3], xdot[3], y[2][3], v[2][3], acc[2][3], jerk[2][3], power[2], sum[2] = {0, 0};
            struct nb6_external_series series;
            pair_at(0, 5e-6, centre, x, xdot);
            const double before = (far ? 1.5 : 0.9) * nb6_external_near_time(&e, t, (const double(*)[3])centre);
            double place[3];
            for (int d = 0; d < 3; d++) {
                place[d] = centre[0][d] - before * centre[1][d];
                for (int m = 0; m < 2; m++) {
                    y[m][d] = share[m] * x[d];
                    v[m][d] = share[m] * xdot[d];
                }
            }
            assert_true(nb6_external_expand(&e, t - before, place, &series));
            assert_near("strongest", series.strongest / nb6_external_strongest(&e, t - before, place), 1, 1e-12);
            const int near = nb6_external_near(&e, &series, t, (const double(*)[3])centre, 2, mass,
                                               (const double(*)[3])y, (const double(*)[3])v, acc, jerk, power);
            assert_int_equal(near, !far);
            for (int m = 0; m < 2 && near; m++) {
                double force[2][3], rate[2];
                difference_at(&e, t, (const double(*)[3])centre, x, xdot, share[m], force, rate);
                for (int d = 0; d < 3; d++) {
                    assert_near("force", acc[m][d], force[0][d], 1e-10 * series.strongest * 5e-6);
                    assert_near("jerk", jerk[m][d], force[1][d], 1e-6 * (series.strongest * 5e-6 + fabs(force[1][d])));
                }
                for (int k = 0; k < 2; k++) sum[k] += mass[m] * rate[k];
            }
            /* Terms that are linear in x cancel, and leave rounding of the tide. The second derivatives lack 100 times
             * the square of 1e-4, their change as the centre moves 10 times 1e-4. */
            static const double OF_POWER[2] = {1e-6, 3e-3};
            for (int k = 0; k < 2 && near; k++)
                assert_near("power", power[k], sum[k], 1e-15 * series.strongest * 5e-6 + OF_POWER[k] * fabs(sum[k]));
        }
    }
}

/* A star of its own orbit in the galaxy: seen from the frame it is where the difference of both orbits says, and its
 * energy in the frame less the work grows by nothing. Runge-Kutta with 4000 steps of 1/200 leaves some 1e-12. */
static void star_beside_the_cluster(void **state)
{
    (void)state;
    const struct nb6_units units = units_of_order_one();
    const struct nb6_tide_config tide = milky_way();
    struct nb6_external frame = make_external(&tide, &units), own = frame;
    struct nbc_error err = {0};
    const double x0[3] = {0.4, -0.3, 0.2}, v0[3] = {0.2, 0.1, -0.3}, h = 1.0 / 200, zero[3] = {0, 0, 0};
    double y[6] = {x0[0], x0[1], x0[2], v0[0], v0[1], v0[2]}, work = 0, x[3], v[3];
    for (int k = 0; k < 3; k++) {
        x[k] = frame.orbit.now_x[k] + x0[k];
        v[k] = frame.orbit.now_v[k] + v0[k];
    }
    assert_int_equal(nb6_orbit_begin(&own, x, v, &err), NBC_OK);
    const double start = 0.5 * (v0[0] * v0[0] + v0[1] * v0[1] + v0[2] * v0[2]) + nb6_external_potential(&frame, 0, x0);
    for (int step = 0; step < 4000; step++) {
        static const double at[4] = {0, 0.5, 0.5, 1}, weight[4] = {1, 2, 2, 1};
        double k[4][6], jerk[3], z[6], old[6];
        memcpy(old, y, sizeof old);
        for (int m = 0; m < 4; m++) {
            for (int c = 0; c < 6; c++) z[c] = old[c] + (m ? at[m] * h * k[m - 1][c] : 0);
            memcpy(k[m], z + 3, 3 * sizeof *z);
            nb6_external_force(&frame, (step + at[m]) * h, z, z + 3, zero, k[m] + 3, jerk);
        }
        for (int m = 0; m < 4; m++)
            for (int c = 0; c < 6; c++) y[c] += h / 6 * weight[m] * k[m][c];
        const struct nb6_moment from = {step * h, old, old + 3}, to = {(step + 1) * h, y, y + 3};
        work += nb6_external_work(&frame, &from, &to);
        if (step % 50 == 0) assert_int_equal(nb6_external_extend_to(&frame, (step + 1) * h, &err), NBC_OK);
    }
    struct nb6_orbit_point r, q;
    nb6_orbit_at(&frame, 20, &r);
    nb6_orbit_at(&own, 20, &q);
    for (int k = 0; k < 3; k++) {
        assert_near("place", r.x[k] + y[k], q.x[k], 1e-10);
        assert_near("velocity", r.v[k] + y[3 + k], q.v[k], 1e-10);
    }
    const double end = 0.5 * (y[3] * y[3] + y[4] * y[4] + y[5] * y[5]) + nb6_external_potential(&frame, 20, y);
    print_message("work %.6g, energy %.6g\n", work, end);
    assert_true(fabs(work) > 0.01);
    assert_near("energy", end - work, start, 1e-10);
}

/* ---- the driver */

/* Largest error of a massless star beside the cluster, integrated by the driver with constant steps, against its own
 * orbit. Its companion has a mass of 1e-12. */
static double driver_error(double dt)
{
    struct nb6_config config;
    cluster_config(&config);
    cluster_config_ref(&config);
    cluster_config_fixed(&config, dt, dt, 0);
    config.integration.fixed_nnb = 0;
    config.tide = milky_way();
    config.rbar_pc = 1000;
    config.zmbar_msun = 5e9; /* two stars: 1e10 Msun in a kpc, as units_of_order_one has */
    config.run.dt_adjust = config.run.dt_output = 1000;
    const double row[2][7] = {{0, 0.4, -0.3, 0.2, 0.2, 0.1, -0.3}, {1e-12, -1.7, 0.5, 0, 0, 0, 0}};
    struct cluster pair = cluster_from_rows(2, row);
    nb6_t *sim = cluster_start(&config, &pair, NULL);
    struct nb6_external own = sim->run.external;
    struct nbc_error err = {0};
    double x[3], v[3], error = 0;
    for (int k = 0; k < 3; k++) {
        x[k] = own.orbit.x[0][k] + row[0][1 + k];
        v[k] = own.orbit.v[0][k] + row[0][4 + k];
    }
    assert_int_equal(nb6_orbit_begin(&own, x, v, &err), NBC_OK);
    cluster_evolve(sim, 20);
    struct cluster now = cluster_now(sim);
    struct nb6_orbit_point r, q;
    nb6_orbit_at(&sim->run.external, 20, &r);
    nb6_orbit_at(&own, 20, &q);
    for (int k = 0; k < 3; k++)
        error = fmax(error, fmax(fabs(r.x[k] + now.x[0][k] - q.x[k]), fabs(r.v[k] + now.v[0][k] - q.v[k])));
    cluster_free(&now);
    cluster_free(&pair);
    nb6_free(sim);
    return error;
}

/* Fourth order in the step: 2^4 within 15 percent. */
static void order_of_the_driver(void **state)
{
    (void)state;
    double coarse = driver_error(0x1p-3);
    for (int k = 4; k < 6; k++) {
        const double fine = driver_error(ldexp(1, -k));
        print_message("dt 2^-%d: error %.3e, ratio %.2f\n", k, fine, coarse / fine);
        if (!(fabs(coarse / fine - 16) <= 0.15 * 16)) fail_msg("the error ratio is not 16");
        coarse = fine;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kepler_orbit),        cmocka_unit_test(orbit_in_all_parts),
        cmocka_unit_test(field_along_a_path),  cmocka_unit_test(relative_field),
        cmocka_unit_test(near_field),          cmocka_unit_test(star_beside_the_cluster),
        cmocka_unit_test(order_of_the_driver),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
