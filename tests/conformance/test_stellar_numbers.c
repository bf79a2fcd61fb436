/* Single stars against numbers of the papers and of programs that share the fits (SSE, BSE, COSMIC). Where a program
 * deviates from the paper, docs/algorithms/stellar.md says how, and the tolerance here has the difference in it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "stellar/helium_star.h"
#include "tests/support/kroupa.h"
#include "tests/support/stars.h"

static void assert_near(double value, double should, double tolerance)
{
    if (!(fabs(value / should - 1) <= tolerance)) fail_msg("%.9g is not %.9g within %g", value, should, tolerance);
}

/* Four or five digits are given: half a unit of the last one. */
static void the_sun(void **state)
{
    (void)state;
    struct stellar_model *model = stars_model('A', 0.02, "");
    struct stellar_events events;
    const struct stellar_view birth = stars_at(model, 1, 0, NULL);
    assert_near(birth.luminosity, 0.6977, 1e-4);
    assert_near(birth.radius, 0.8883, 1e-4);
    assert_int_equal(birth.type, STELLAR_MS);
    stars_at(model, 1, 12000, &events);
    assert_near(stars_event(&events, STELLAR_HG)->time_myr, 11003, 5e-5);
    stellar_free(model);
}

/* SSE burns helium in a shell at 8.0e-5 instead of 7.66e-5 (HPT eq. 68), so that its early asymptotic branch is shorter
 * by 4 percent, 0.034 Myr, and loses 1.6e-3 Msun less: the last two rows. The steps of its wind, of first order, lose
 * 6e-4 Msun too much until then: it has 4.9325 with a hundredth of them. Else half a unit of the last digit given. */
static void phases_of_five_suns(void **state)
{
    (void)state;
    static const struct {
        int type;
        double time, mass, time_tolerance, mass_tolerance;
    } ROW[6] = {{STELLAR_HG, 104.0, 5.000, 0.05, 5e-4},      {STELLAR_GB, 104.4, 5.000, 0.05, 5e-4},
                {STELLAR_CHEB, 104.7, 4.998, 0.05, 5e-4},    {STELLAR_EAGB, 120.1, 4.932, 0.05, 7e-4},
                {STELLAR_TPAGB, 120.9, 4.895, 0.05, 2.1e-3}, {STELLAR_CO_WD, 121.5, 0.997, 0.084, 6e-4}};
    struct stellar_model *model = stars_model('A', 0.02, "");
    struct stellar_events events;
    stars_at(model, 5, 200, &events);
    assert_int_equal(events.n, 6);
    for (int k = 0; k < 6; k++) {
        assert_int_equal(events.event[k].type_after, ROW[k].type);
        assert_true(fabs(events.event[k].time_myr - ROW[k].time) <= ROW[k].time_tolerance);
        assert_true(fabs(events.event[k].mass_after - ROW[k].mass) <= ROW[k].mass_tolerance);
    }
    stellar_free(model);
}

/* The masses asked for are of programs that integrate the wind by steps of first order; COSMIC, with steps that are ten
 * times shorter than its own, has 11.434, 14.023, 8.247, 25.023: 5e-3 covers that. 80 Msun needs MDFLAG 2: the others
 * never become luminous blue variables for long. */
static void black_holes(void **state)
{
    (void)state;
    static const struct {
        double z, mass, left;
        const char *options;
    } ROW[4] = {{0.02, 40, 11.45, ""}, {0.02, 80, 14.00, "MDFLAG=2"}, {0.001, 20, 8.287, ""}, {0.001, 30, 25.06, ""}};
    for (int k = 0; k < 4; k++) {
        struct stellar_model *model = stars_model('A', ROW[k].z, ROW[k].options);
        const struct stellar_view end = stars_at(model, ROW[k].mass, 20, NULL);
        assert_int_equal(end.type, STELLAR_BH);
        assert_near(end.mass, ROW[k].left, 5.5e-3);
        stellar_free(model);
    }
}

static void mass_kept(double z, const double should[4])
{
    /* 4000 stars at equal fractions of the mass function: 16000 give the same to 5e-4. The issue of the numbers gives
     * 0.003. MDFLAG 2, as luminous blue variables count at low metallicity: 0.0165 more stays without them. */
    enum { N = 4000 };
    static const double TIME[4] = {10, 100, 1000, 12000};
    struct stellar_model *model = stars_model('A', z, "MDFLAG=2");
    struct stellar_star *star = calloc(N, sizeof *star);
    struct stellar_view *view = calloc(N, sizeof *view);
    double born = 0;
    for (int i = 0; i < N; i++) {
        assert_int_equal(stellar_birth(model, i, kroupa_mass((i + 0.5) / N), 0, &star[i], NULL), NBC_OK);
        born += star[i].mass;
    }
    for (int k = 0; k < 4; k++) {
        double mass = 0;
        assert_int_equal(stellar_evolve_all(model, N, star, TIME[k], view, NULL, NULL), NBC_OK);
        for (int i = 0; i < N; i++) mass += view[i].mass;
        if (!(fabs(mass / born - should[k]) <= 0.003)) fail_msg("%g Myr: %g, not %g", TIME[k], mass / born, should[k]);
    }
    free(star);
    free(view);
    stellar_free(model);
}

static void a_population(void **state)
{
    (void)state;
    mass_kept(0.02, (const double[4]){0.908, 0.790, 0.691, 0.593});
    mass_kept(0.001, (const double[4]){0.940, 0.811, 0.708, 0.622});
}

/* Half a unit of the last of four digits */
static void helium_stars(void **state)
{
    (void)state;
    static const double ROW[2][4] = {{2, 2366, 0.3351, 4.640}, {4, 16668, 0.5279, 1.514}};
    struct stellar_model *model = stars_model('A', 0.02, "HEWIND=0");
    for (int k = 0; k < 2; k++) {
        struct stellar_star star;
        struct stellar_view view;
        struct stellar_events events;
        assert_int_equal(stellar_birth_helium(model, 1, ROW[k][0], 0, &star, NULL), NBC_OK);
        assert_int_equal(stellar_evolve(model, &star, 0, &view, NULL, NULL), NBC_OK);
        assert_near(view.luminosity, ROW[k][1], 2.5e-4);
        assert_near(view.radius, ROW[k][2], 2e-4);
        assert_near(stellar_t_hems(ROW[k][0]), ROW[k][3], 4e-4);
        assert_int_equal(stellar_evolve(model, &star, 100, &view, &events, NULL), NBC_OK);
        assert_int_equal(view.type, STELLAR_NS);
    }
    stellar_free(model);
}

/* Remnants of COSMIC 4.3.3 with remnantflag 1, ifflag 0, windflag 0, LBV_flag 1, hewind 0.5, zsun 0.02, steps of a
 * tenth of its own: the largest difference is 1.6e-3, of the shell that burns faster there. */
static void white_dwarfs_and_neutron_stars(void **state)
{
    (void)state;
    static const struct {
        double z, mass;
        int type;
        double left;
    } ROW[] = {
        {0.02, 0.9, STELLAR_CO_WD, 0.51406}, {0.02, 1.6, STELLAR_CO_WD, 0.58837},  {0.02, 3, STELLAR_CO_WD, 0.74813},
        {0.02, 7, STELLAR_ONE_WD, 1.28631},  {0.02, 9, STELLAR_NS, 1.32412},       {0.02, 15, STELLAR_NS, 1.73789},
        {0.001, 1, STELLAR_CO_WD, 0.57735},  {0.001, 2.9, STELLAR_CO_WD, 0.91817}, {0.001, 4, STELLAR_CO_WD, 1.00994},
        {0.001, 6, STELLAR_ONE_WD, 1.32897}, {0.001, 8, STELLAR_NS, 1.34252},      {0.001, 12, STELLAR_NS, 1.60197}};
    for (size_t k = 0; k < sizeof ROW / sizeof ROW[0]; k++) {
        struct stellar_model *model = stars_model('A', ROW[k].z, "MDFLAG=2");
        const struct stellar_view end = stars_at(model, ROW[k].mass, 30000, NULL);
        assert_int_equal(end.type, ROW[k].type);
        assert_near(end.mass, ROW[k].left, 2e-3);
        stellar_free(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sun),      cmocka_unit_test(phases_of_five_suns),
        cmocka_unit_test(black_holes),  cmocka_unit_test(a_population),
        cmocka_unit_test(helium_stars), cmocka_unit_test(white_dwarfs_and_neutron_stars)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
