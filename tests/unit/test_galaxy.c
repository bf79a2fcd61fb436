/* Galaxies and gas: forces against differences of potentials, derivatives against differences along paths, and what the
 * galaxies are known by. Orbits and the field beside one are in test_galaxy_orbits.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <float.h>
#include <gsl/gsl_sf_gamma.h>
#include <math.h>
#include <string.h>

#include "common/nbc.h"
#include "nbody6/galaxy/components.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/galaxy/incomplete_gamma.h"
#include "nbody6/galaxy/jet.h"
#include "nbody6/input/config.h"
#include "nbody6/input/units.h"
#include "tests/support/galaxy.h"

/* ---- components */

/* One of the parts alone: 0 point mass, 1 and 2 bulges, 3 disk, 4 halo, 5 gas, which is none of the galaxy, 6 and 7 cut
 * bulges, on either side of the change of formulae, 8 NFW halo. */
enum { PARTS = 9 };

static void set_part(int part, double p[NB6_EXTERNAL_PARAMETERS])
{
    memset(p, 0, NB6_EXTERNAL_PARAMETERS * sizeof *p);
    if (part == 0) p[NB6_GALAXY_POINT_MASS] = 1.3;
    if (part == 1 || part == 2) {
        p[NB6_GALAXY_BULGE_MASS] = 0.8;
        p[NB6_GALAXY_BULGE_LENGTH] = 0.7;
        p[NB6_GALAXY_BULGE_SLOPE] = part == 1 ? 1.4 : 2;
    }
    if (part == 3) {
        p[NB6_GALAXY_DISK_MASS] = 1.1;
        p[NB6_GALAXY_DISK_LENGTH] = 0.9;
        p[NB6_GALAXY_DISK_HEIGHT] = 0.3;
    }
    if (part == 4) {
        p[NB6_GALAXY_HALO_V2] = 0.6;
        p[NB6_GALAXY_HALO_R2] = 0.4;
    }
    if (part == 6 || part == 7) {
        p[NB6_GALAXY_CUT_BULGE_MASS] = 0.9;
        p[NB6_GALAXY_BULGE_LENGTH] = part == 6 ? 1.9 : 0.8;
        p[NB6_GALAXY_BULGE_SLOPE] = 1.8;
    }
    if (part == 8) {
        p[NB6_GALAXY_NFW_MASS] = 1.2;
        p[NB6_GALAXY_NFW_LENGTH] = 2.5;
    }
    p[NB6_GALAXY_GAS_R2] = 0.36;
}

static double potential_of(int part, const double p[NB6_EXTERNAL_PARAMETERS], const double x[3])
{
    return part == 5 ? 1.7 * nb6_gas_potential(p, x) : nb6_galaxy_potential(p, x);
}

static void acceleration_of(int part, const double p[NB6_EXTERNAL_PARAMETERS], const struct nb6_jet x[3], int order,
                            struct nb6_jet acc[3])
{
    const struct nb6_jet mass = {{1.7}};
    if (part == 5)
        nb6_gas_acceleration(p, &mass, x, order, acc);
    else
        nb6_galaxy_acceleration(p, x, order, acc);
}

static void forces_are_gradients(void **state)
{
    (void)state;
    const double at[3] = {1.3, -0.8, 0.45}, h = 0x1p-6;
    for (int part = 0; part < PARTS; part++) {
        double p[NB6_EXTERNAL_PARAMETERS];
        struct nb6_jet x[3] = {{{at[0]}}, {{at[1]}}, {{at[2]}}}, acc[3];
        set_part(part, p);
        acceleration_of(part, p, x, 0, acc);
        for (int d = 0; d < 3; d++) {
            double phi[9];
            for (int m = 0; m < 9; m++) {
                double y[3] = {at[0], at[1], at[2]};
                y[d] += (m - 4) * h;
                phi[m] = potential_of(part, p, y);
            }
            assert_near("force", acc[d].c[0], -slope(phi, h), 1e-10);
        }
    }
}

/* Each derivative along a curved path against differences of the one before it. */
static void series_along_paths(void **state)
{
    (void)state;
    const double path[3][4] = {{1.3, 0.4, -0.3, 0.2}, {-0.8, 0.7, 0.25, -0.1}, {0.45, -0.5, 0.1, 0.3}}, h = 0x1p-6;
    for (int part = 0; part < PARTS; part++) {
        double p[NB6_EXTERNAL_PARAMETERS], series[9][3][4];
        set_part(part, p);
        for (int m = 0; m < 9; m++) {
            const double s = (m - 4) * h;
            struct nb6_jet x[3], acc[3];
            for (int d = 0; d < 3; d++) {
                const double *c = path[d];
                x[d] = (struct nb6_jet){{c[0] + s * (c[1] + s * (c[2] + s * c[3])),
                                         c[1] + s * (2 * c[2] + 3 * s * c[3]), c[2] + 3 * s * c[3], c[3]}};
            }
            acceleration_of(part, p, x, 3, acc);
            for (int d = 0; d < 3; d++) memcpy(series[m][d], acc[d].c, sizeof acc[d].c);
        }
        for (int d = 0; d < 3; d++)
            for (int k = 1; k < 4; k++) {
                double before[9];
                for (int m = 0; m < 9; m++) before[m] = series[m][d][k - 1];
                assert_near("term of a series", series[4][d][k], slope(before, h) / k, 1e-8);
            }
    }
}

/* In Plummer's gas the mass falls as its law says, and so do the derivatives of that. */
static void mass_of_gas(void **state)
{
    (void)state;
    double p[NB6_EXTERNAL_PARAMETERS] = {
        [NB6_GALAXY_GAS_MASS] = 2, [NB6_GALAXY_GAS_RATE] = 0.7, [NB6_GALAXY_GAS_DELAY] = 1.5};
    double mass[4], before[9], h = 0x1p-6;
    assert_false(nb6_gas_is_leaving(p, 1.4));
    nb6_gas_mass(p, 1.4, 0, mass);
    assert_true(mass[0] == 2 && mass[1] == 0 && mass[2] == 0 && mass[3] == 0);
    assert_true(nb6_gas_is_leaving(p, 1.5));
    nb6_gas_mass(p, 2.5, 1, mass);
    assert_near("mass", mass[0], 2 / 1.7, 1e-15);
    for (int k = 1; k < 4; k++) {
        double now[4];
        for (int m = 0; m < 9; m++) {
            nb6_gas_mass(p, 2.5 + (m - 4) * h, 1, now);
            before[m] = now[k - 1];
        }
        assert_near("rate", mass[k], slope(before, h), 1e-10);
    }
}

/* ---- the galaxy of NBODY6 */

/* VCIRC sets the circular velocity of all parts at RCIRC, 220 km/s, and that of the halo far out. */
static void circular_velocity(void **state)
{
    (void)state;
    const struct nb6_units units = units_of_order_one();
    struct nb6_tide_config tide = milky_way();
    const struct nb6_external e = make_external(&tide, &units);
    const struct nb6_jet x[3] = {{{8.5}}, {{0}}, {{0}}};
    struct nb6_jet acc[3];
    nb6_galaxy_acceleration(e.parameter, x, 0, acc);
    assert_near("at RCIRC, km/s", sqrt(-8.5 * acc[0].c[0]) * units.velocity_kms, 220, 1e-10);
    assert_near("v0, km/s", sqrt(e.parameter[NB6_GALAXY_HALO_V2]) * units.velocity_kms, 220, 1e-10);
    tide.halo_velocity_kms = 150; /* less than disk and bulge have */
    struct nb6_config config = {.tide = tide};
    struct nb6_external none;
    struct nbc_error err = {0};
    assert_int_equal(nb6_external_make(&config, &units, &none, &err), NBC_BAD_INPUT);
    assert_non_null(strstr(err.text, "VCIRC"));
}

/* ---- the Milky Way */

/* MWPotential2014: 220 km/s at 8 kpc, shares of the parts, the masses that its author gives (Bovy 2015, table 1: bulge
 * 0.5e10, disk 6.8e10, halo within its virial radius, 245 kpc, 0.8e12 Msun, to as many digits), and the mass of the
 * bulge from a sum over its density. */
static void bovy2015(void **state)
{
    (void)state;
    const struct nb6_units units = units_of_order_one();
    const struct nb6_tide_config tide = {
        .kind = NB6_TIDE_MILKY_WAY, .position_kpc = {8, 0, 0.02}, .velocity_kms = {10, 225, 7}};
    const struct nb6_external e = make_external(&tide, &units);
    const struct nb6_jet x[3] = {{{8}}, {{0}}, {{0}}};
    const double *p = e.parameter, msun = units.mass_msun;
    struct nb6_jet acc[3];
    nb6_galaxy_acceleration(p, x, 0, acc);
    assert_near("at 8 kpc, km/s", sqrt(-8 * acc[0].c[0]) * units.velocity_kms, 220, 1e-10);
    const int parts[3] = {NB6_GALAXY_CUT_BULGE_MASS, NB6_GALAXY_DISK_MASS, NB6_GALAXY_NFW_MASS};
    const double shares[3] = {0.05, 0.6, 0.35};
    for (int k = 0; k < 3; k++) {
        double alone[NB6_EXTERNAL_PARAMETERS];
        struct nb6_jet part[3];
        memcpy(alone, p, sizeof alone);
        for (int m = 0; m < 3; m++)
            if (m != k) alone[parts[m]] = 0;
        nb6_galaxy_acceleration(alone, x, 0, part);
        assert_near("share", part[0].c[0] / acc[0].c[0], shares[k], 1e-14);
    }
    assert_near("bulge", p[NB6_GALAXY_CUT_BULGE_MASS] * msun / 1e10, 0.5, 0.05);
    assert_near("disk", p[NB6_GALAXY_DISK_MASS] * msun / 1e10, 6.8, 0.05);
    const double c = 245.0 / 16;
    assert_near("halo", p[NB6_GALAXY_NFW_MASS] * (log1p(c) - c / (1 + c)) * msun / 1e12, 0.8, 0.05);
    double sum = 0; /* substitution r = s^5 makes r^0.2 smooth: the rule of Simpson is right to 1e-9 then */
    enum { N = 2000 };
    for (int k = 0; k <= N; k++) {
        const double s = pow(12, 0.2) * k / N, r = pow(s, 5);
        sum += (k == 0 || k == N ? 1 : k % 2 ? 4 : 2) * s * exp(-r * r / (1.9 * 1.9)) * 5 * pow(s, 4);
    }
    sum *= pow(12, 0.2) / (3 * N) * 2 / (tgamma(0.6) * pow(1.9, 1.2));
    assert_near("mass of the bulge", sum, 1, 1e-8);
}

/* All terms of the series, which are positive. */
static double lower_gamma_in_long_double(double a, double x)
{
    long double term = 1 / (long double)a, sum = term;
    for (int n = 1; term > sum * LDBL_EPSILON / 4; n++) {
        term *= x / (a + (long double)n);
        sum += term;
    }
    return (double)(sum * expl(a * logl(x) - x));
}

/* The lower function is right to two roundings of the whole one, on both sides of the edge between series and fraction;
 * the upper one also of itself where it is small, as far as GSL has it, to 5e-13. */
static void gamma_functions(void **state)
{
    (void)state;
    const double slopes[] = {0, 0.5, 1, 1.8, 1.95};
    for (int k = 0; k < 5; k++)
        for (int m = 0; m < 46; m++) {
            const double a = 0.5 * (3 - slopes[k]), b = 1 - 0.5 * slopes[k], x = 1e-3 * pow(10, m / 10.0);
            const double all = tgamma(a), own = nb6_lower_gamma(a, x, all, exp(a * log(x) - x));
            const double above = gsl_sf_gamma_inc(b, x), unit = x > b + 1 ? above : tgamma(b);
            assert_near("below", own / all, lower_gamma_in_long_double(a, x) / all, 2 * DBL_EPSILON);
            assert_near("above", nb6_upper_gamma(b, x) / unit, above / unit, 1e-12);
        }
}

/* About a point mass with e = 0 the field is that of KZ(14) = 2: its tide is the same, and near the centre its force in
 * the rotating frame. */
static void point_mass_as_linear(void **state)
{
    (void)state;
    const struct nb6_units units = nb6_units_from(1, 0.5, 1000);
    const struct nb6_tide_config moving = {
        .kind = NB6_TIDE_GALAXY, .galaxy_mass_msun = 1e11, .position_kpc = {8.5, 0, 0}};
    const struct nb6_tide_config linear = {
        .kind = NB6_TIDE_POINT_MASS, .galaxy_mass_msun = 1e11, .galaxy_distance_kpc = 8.5};
    const struct nb6_external a = make_external(&moving, &units), b = make_external(&linear, &units);
    assert_near("t_x", a.t_x / b.t_x, 1, 1e-9);
    assert_near("t_z", a.t_z / b.t_z, 1, 1e-9);
    assert_near("tidal radius", nb6_external_tidal_radius(&a, 1) / nb6_external_tidal_radius(&b, 1), 1, 1e-9);
    /* along x, without the rotation: 2 omega^2 x, but for x/R = 1e-4 */
    const double x[3] = {1, 0, 0}, v[3] = {0, 0, 0};
    double acc[3], jerk[3];
    nb6_external_force(&a, 0, x, v, v, acc, jerk);
    assert_near("force", acc[0] / (2.0 / 3 * b.t_x), 1, 3.0 / 8500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gamma_functions),      cmocka_unit_test(forces_are_gradients),
        cmocka_unit_test(series_along_paths),   cmocka_unit_test(mass_of_gas),
        cmocka_unit_test(circular_velocity),    cmocka_unit_test(bovy2015),
        cmocka_unit_test(point_mass_as_linear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
