/* Winds by hand, from the formulae of the papers: one point in each regime, and at the limits between regimes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>

#include "stellar/wind.h"
#include "tests/support/stars.h"

static double radius_of(double l, double t)
{
    return sqrt(l) * pow(5772 / t, 2);
}

static const double THICK = 10; /* measure of an envelope that hides the core */

/* Msun/yr of a star of 30 Msun; 1e-12: rounding of powers */
static void assert_wind(const char *options, double z, int type, double l, double r, double mu, double rate)
{
    struct stellar_model *model = stars_model('A', z, options);
    const double wind = stellar_wind(model, type, 30, l, r, mu) / 1e6;
    if (!(fabs(wind - rate) <= 1e-12 * rate)) fail_msg("%s: %.15g is not %.15g", options, wind, rate);
    stellar_free(model);
}

static double de_jager(double z, double m, double l, double r)
{
    return 9.6e-15 * pow(r, 0.81) * pow(l, 1.24) * pow(m, 0.16) * sqrt(z / 0.02);
}

/* HPT, section 7.1 */
static void hurley(void **state)
{
    (void)state;
    assert_wind("MDFLAG=1", 0.002, STELLAR_MS, 1e5, 10, THICK, de_jager(0.002, 30, 1e5, 10));
    assert_wind("MDFLAG=1", 0.02, STELLAR_MS, 4250, 10, THICK, de_jager(0.02, 30, 4250, 10) / 2);
    assert_wind("MDFLAG=1", 0.02, STELLAR_MS, 4000, 10, THICK, 0);
    assert_wind("MDFLAG=0", 0.02, STELLAR_HG, 1e6, 10, THICK, 0);
    assert_wind("MDFLAG=1", 0.02, STELLAR_GB, 3000, 800, THICK, 0.5 * 4e-13 * 3000 * 800 / 30);
    assert_wind("MDFLAG=1", 0.02, STELLAR_HG, 1e5, 1, 0.25, 0.75e-13 * pow(1e5, 1.5));
    assert_wind("MDFLAG=1", 0.002, STELLAR_HE_MS, 1e5, 1, 0, 0.5e-13 * pow(1e5, 1.5));
}

/* Vassiliadis & Wood 1993 as HPT have it: a star of 1 Msun, whose period is 100 days, and one at the limit */
static void superwind(void **state)
{
    (void)state;
    struct stellar_model *model = stars_model('A', 0.02, "NWIND=0");
    const double r = pow(10, 4.07 / 1.94), rate = pow(10, -11.4 + 0.0125 * 100);
    assert_true(fabs(stellar_wind(model, STELLAR_EAGB, 1, 3000, r, THICK) / 1e6 / rate - 1) < 1e-12); /* rounding */
    assert_true(fabs(stellar_wind(model, STELLAR_TPAGB, 1, 3000, 6 * r, THICK) / 1e6 / (1.36e-9 * 3000) - 1) < 1e-12);
    assert_true(stellar_wind(model, STELLAR_GB, 1, 3000, r, THICK) == 0);
    stellar_free(model);
}

/* Luminous blue variables: HPT adds their wind, Belczynski et al. 2010 put it in the place of all others. */
static void blue_variables(void **state)
{
    (void)state;
    const double hpt = 0.1 * pow(0.5, 3) * (1e6 / 6e5 - 1);
    assert_wind("MDFLAG=1", 0.02, STELLAR_HG, 1e6, 150, THICK, de_jager(0.02, 30, 1e6, 150));
    assert_wind("MDFLAG=2", 0.02, STELLAR_HG, 1e6, 150, THICK, de_jager(0.02, 30, 1e6, 150) + hpt);
    assert_wind("MDFLAG=3", 0.02, STELLAR_HG, 1e6, 150, THICK, 1.5e-4);
    assert_wind("MDFLAG=4 FLBV=0.5", 0.002, STELLAR_CHEB, 1e6, 3000, THICK, 0.5e-4);
}

static double hot(double z, double t)
{
    const double x = log10(t / 40000);
    return pow(10, -6.697 - 1.226 * log10(1.3) + 0.933 * x - 10.92 * x * x) * pow(z / 0.02, 0.85);
}

static double cool(double t)
{
    return pow(10, -6.688 - 1.601 * log10(0.65) + 1.07 * log10(t / 20000));
}

/* Belczynski et al. 2010, eqs. 6, 7 and 9, of 30 Msun and 1e5 Lsun; each formula is taken at the end of its range of
 * temperatures beyond it. */
static void belczynski(void **state)
{
    (void)state;
    static const struct {
        double t, limit; /* K; the one at which the formula is taken */
        int is_hot;
    } ROW[] = {{12600, 12600, 0}, {20000, 20000, 0}, {24900, 22500, 0}, {25100, 27500, 1},
               {40000, 40000, 1}, {49000, 49000, 1}, {60000, 50000, 1}};
    for (size_t k = 0; k < sizeof ROW / sizeof ROW[0]; k++) {
        const double r = radius_of(1e5, ROW[k].t);
        const double limit = ROW[k].limit;
        assert_wind("MDFLAG=3", 0.02, STELLAR_MS, 1e5, r, THICK, ROW[k].is_hot ? hot(0.02, limit) : cool(limit));
        assert_wind("MDFLAG=4", 0.001, STELLAR_MS, 1e5, r, THICK, hot(0.001, fmax(27500, limit)));
    }
    const double red = radius_of(1e5, 12400);
    assert_wind("MDFLAG=3", 0.002, STELLAR_MS, 1e5, red, THICK, de_jager(0.002, 30, 1e5, red));
    assert_wind("MDFLAG=3", 0.002, STELLAR_HE_MS, 1e5, 1, 0, 1e-13 * pow(1e5, 1.5) * pow(0.1, 0.86));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(hurley), cmocka_unit_test(superwind),
                                       cmocka_unit_test(blue_variables), cmocka_unit_test(belczynski)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
