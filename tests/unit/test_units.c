/* Physical units against figures that were not made from this code's constants. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>

#include "nbody6/input/units.h"

static const double PI = 3.14159265358979323846;

static void assert_relative(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance * fabs(expected))) {
        print_error("%.12g instead of %.12g, tolerance %g\n", value, expected, tolerance);
        fail();
    }
}

/* G = 4.3009172706e-3 is from the measured GM_sun = 1.32712440018e20, 1.4e-10 above the nominal one; pc/Myr is given to
 * 6 digits. */
static void constants(void **state)
{
    (void)state;
    assert_relative(NB6_G_PC_KMS2_MSUN, 4.3009172706e-3, 2e-10);
    assert_relative(NB6_PC_PER_MYR_KMS, 0.977792, 0.5e-6);
}

/* NBODY6 and its users: T* = 14.94 sqrt(R^3/M) Myr, which is 0.20 percent too long, and V* = 6.557e-2 sqrt(M/R) km/s,
 * made from constants of 4 digits. */
static void legacy_formulas(void **state)
{
    (void)state;
    const double rbar[] = {1.0, 1.223, 0.3}, zmbar[] = {1.0, 0.7, 0.5};
    const int64_t n[] = {1, 1000, 100000};
    for (int k = 0; k < 3; k++) {
        const struct nb6_units units = nb6_units_from(rbar[k], zmbar[k], n[k]);
        const double mass = zmbar[k] * (double)n[k], r3 = rbar[k] * rbar[k] * rbar[k];
        assert_relative(units.length_pc, rbar[k], 0.0);
        assert_relative(units.mass_msun, mass, 1e-15); /* one rounding */
        assert_relative(units.time_myr, 14.94 * sqrt(r3 / mass), 2.1e-3);
        assert_relative(units.velocity_kms, 6.557e-2 * sqrt(mass / rbar[k]), 2e-4);
    }
}

/* The Earth: a circular orbit of 1 au about one solar mass takes a Gaussian year, 365.2568983 days, at 29.784692 km/s.
 * Both are published to about 8 digits; GM_sun nominal differs from the Gaussian constant by 3e-9. */
static void orbit_of_the_earth(void **state)
{
    (void)state;
    const double au_pc = PI / 648000.0;
    const struct nb6_units units = nb6_units_from(au_pc, 1.0, 1);
    assert_relative(2.0 * PI * units.time_myr * 1e6 * 365.25, 365.2568983, 2e-8);
    assert_relative(units.velocity_kms, 29.784692, 5e-8);
}

/* By hand: 10 kpc (10^4/(3 10^11))^(1/3) = 32.1830 pc. */
static void tidal_radius(void **state)
{
    (void)state;
    assert_relative(nb6_units_tidal_radius_pc(1e4, 1e11, 10.0), 32.18298, 1e-6);
    /* the mean density within it is that of the galaxy within its orbit, times 3: definition of the Jacobi radius */
    const double r = nb6_units_tidal_radius_pc(730.0, 1.78e11, 13.3);
    assert_relative(730.0 / (r * r * r), 3.0 * 1.78e11 / pow(13300.0, 3.0), 1e-14); /* roundings */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants),
        cmocka_unit_test(legacy_formulas),
        cmocka_unit_test(orbit_of_the_earth),
        cmocka_unit_test(tidal_radius),
    };
    return cmocka_run_group_tests_name("units", tests, NULL, NULL);
}
