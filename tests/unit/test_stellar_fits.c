/* The fits join where their pieces meet, and curves are what other copies of the tables make of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>

#include "stellar/giant.h"
#include "stellar/giant_fits.h"
#include "stellar/helium_star.h"
#include "stellar/main_sequence.h"

static const double Z[] = {0.0001, 0.0003, 0.001, 0.004, 0.01, 0.02, 0.03};
enum { METALLICITIES = sizeof Z / sizeof Z[0] };

static double l_hei(const struct stellar_fits *f, double m)
{
    return stellar_l_hei(f, m);
}

/* A number of the giant of this mass. */
#define OF_A_GIANT(number)                                                                                             \
    static double number(const struct stellar_fits *f, double m)                                                       \
    {                                                                                                                  \
        struct stellar_giant g;                                                                                        \
        stellar_giant_make(f, m, &g);                                                                                  \
        return g.number;                                                                                               \
    }
OF_A_GIANT(t_he)
OF_A_GIANT(mc_hei)
OF_A_GIANT(mc_bgb)
OF_A_GIANT(l_x)

static double r_least(const struct stellar_fits *f, double m)
{
    struct stellar_giant g;
    stellar_giant_make(f, m, &g);
    return stellar_r_least(f, &g, m);
}

/* Radius and luminosity near the end of the main sequence, where all terms of HPT eqs. 12 and 13 count */
static double ms_late(const struct stellar_fits *f, double m, int is_radius)
{
    struct stellar_ms s;
    double l, r;
    stellar_ms_make(f, m, &s);
    stellar_ms_point(&s, 0.97 * s.t_ms, &l, &r);
    return is_radius ? r : l;
}

static double l_late(const struct stellar_fits *f, double m)
{
    return ms_late(f, m, 0);
}

static double r_late(const struct stellar_fits *f, double m)
{
    return ms_late(f, m, 1);
}

static double r_agb(const struct stellar_fits *f, double m)
{
    return stellar_r_agb(f, m, 1000);
}

/* Values on both sides of a mass differ by as much as the mass does times a slope: 1e-9 times some hundreds at most.
 * The slope is that of exp(15 (M - M_HeF)) with a large factor. */
static void assert_joined(double (*value)(const struct stellar_fits *, double), const struct stellar_fits *f, double m)
{
    const double below = value(f, m * (1 - 1e-9)), above = value(f, m * (1 + 1e-9));
    if (!(fabs(above / below - 1) < 1e-6)) fail_msg("z %g, mass %g: %.9g and %.9g", f->z, m, below, above);
}

static void joints(void **state)
{
    (void)state;
    for (int k = 0; k < METALLICITIES; k++) {
        struct stellar_fits f;
        stellar_fits_make(Z[k], &f);
        double (*const at_flash[])(const struct stellar_fits *, double) = {l_hei, stellar_l_bagb, t_he, mc_hei, mc_bgb,
                                                                           l_x,   r_least,        r_agb};
        for (size_t i = 0; i < sizeof at_flash / sizeof at_flash[0]; i++) assert_joined(at_flash[i], &f, f.m_hef);
        assert_joined(r_agb, &f, f.m_hef - 0.2);
        const double main_sequence[] = {0.5,     0.65,    0.7,           2,       16,      f.a[33],
                                        f.a[52], f.a[53], f.a[57] + 0.1, f.a[66], f.a[67], f.a[68],
                                        f.a[74], f.a[75], f.a[75] + 0.1};
        for (size_t i = 0; i < sizeof main_sequence / sizeof main_sequence[0]; i++) {
            assert_joined(l_late, &f, main_sequence[i]);
            assert_joined(r_late, &f, main_sequence[i]);
        }
        assert_joined(stellar_r_tms, &f, f.a[17]);
        assert_joined(stellar_r_tms, &f, f.a[17] + 0.1);
        /* HPT eq. 51 itself has b17 there, which is 1 at low metallicity only. */
        assert_true(fabs(stellar_l_min(&f, f.m_fgb) / (f.b[17] * l_hei(&f, f.m_fgb)) - 1) < 1e-12);
    }
}

/* The end of each phase is the begin of the next one: L and R of giant phases without a wind, at six masses. The radius
 * of a star of more than m_fgb jumps by some percent at the base of the asymptotic branch if a blue phase ends there.
 */
static void phases_join(void **state)
{
    (void)state;
    static const double MASS[] = {1, 1.7, 3, 6, 10, 11.5};
    struct stellar_fits f;
    stellar_fits_make(0.02, &f);
    for (size_t k = 0; k < sizeof MASS / sizeof MASS[0]; k++) {
        const double m = MASS[k];
        struct stellar_giant g;
        double l[2], r[2], mc;
        stellar_giant_make(&f, m, &g);
        stellar_hg_point(&f, &g, m, g.t_ms, &l[0], &r[0], &mc);
        assert_true(fabs(l[0] / stellar_l_tms(&f, m) - 1) < 1e-12 && fabs(r[0] / stellar_r_tms(&f, m) - 1) < 1e-12);
        stellar_hg_point(&f, &g, m, g.t_bgb, &l[0], &r[0], &mc);
        stellar_gb_point(&f, &g, m, g.t_bgb, &l[1], &r[1], &mc);
        assert_true(fabs(l[1] / l[0] - 1) < 1e-9 && fabs(r[1] / r[0] - 1) < 1e-9);
        stellar_gb_point(&f, &g, m, g.t_hei, &l[0], &r[0], &mc);
        stellar_cheb_point(&f, &g, m, g.t_hei, &l[1], &r[1], &mc);
        /* Below m_hef the flash lies between them. */
        if (m > f.m_hef) assert_true(fabs(l[1] / l[0] - 1) < 1e-9 && fabs(r[1] / r[0] - 1) < 1e-9);
        stellar_cheb_point(&f, &g, m, g.t_bagb, &l[0], &r[0], &mc);
        stellar_eagb_point(&f, &g, m, g.t_bagb, &l[1], &r[1], &mc);
        assert_true(fabs(l[1] / l[0] - 1) < 1e-9 && fabs(r[1] / r[0] - 1) < 1e-9);
        stellar_eagb_point(&f, &g, m, g.t_du, &l[0], &r[0], &mc);
        stellar_tpagb_point(&f, &g, m, g.t_du, &l[1], &r[1], &mc);
        assert_true(fabs(l[1] / l[0] - 1) < 1e-9 && fabs(r[1] / r[0] - 1) < 1e-9);
    }
}

/* A core grows by A L: the closed form against differences, of second order in a step of 1e-5 of the time left. */
static void shells(void **state)
{
    (void)state;
    struct stellar_fits f;
    struct stellar_giant g;
    stellar_fits_make(0.02, &f);
    stellar_giant_make(&f, 1, &g);
    for (double x = 0.01; x < 1; x += 0.03) {
        const double t = g.t_bgb + x * (g.t_hei - g.t_bgb), dt = 1e-5 * (g.gb.t_inf2 - t);
        const double rate = (stellar_shell_core(&g.gb, t + dt) - stellar_shell_core(&g.gb, t - dt)) / (2 * dt);
        const double l = stellar_law_luminosity(&g.gb.law, stellar_shell_core(&g.gb, t));
        assert_true(fabs(rate / (g.gb.a * l) - 1) < 1e-6);
        assert_true(fabs(stellar_shell_time(&g.gb, stellar_shell_core(&g.gb, t)) / t - 1) < 1e-10);
    }
}

/* Zero age and the end of the main sequence of COSMIC 4.3.3, which has its own copy of the tables, to its steps: 1e-5
 * of the age. Its luminosities and radii have seven digits here. */
static void other_copies(void **state)
{
    (void)state;
    static const struct {
        double z, mass, t_ms, l, r;
    } ROW[] = {{0.0001, 0.85, 10746.44, 0.7472801, 0.7438135}, {0.0001, 3, 268.526696, 121.3732, 1.226179},
               {0.001, 1, 6177.65722, 1.456202, 0.8945384},    {0.001, 4, 147.112348, 309.9507, 1.669556},
               {0.02, 2, 1164.16393, 15.89126, 1.61021},       {0.02, 5, 104.016168, 530.13, 2.635593},
               {0.03, 1.2, 6234.87824, 1.520488, 1.132326},    {0.03, 7, 48.0322306, 1725.653, 3.400137}};
    for (size_t k = 0; k < sizeof ROW / sizeof ROW[0]; k++) {
        const double m = ROW[k].mass;
        struct stellar_fits f;
        stellar_fits_make(ROW[k].z, &f);
        assert_true(fabs(stellar_t_ms(&f, m, stellar_t_bgb(&f, m)) / ROW[k].t_ms - 1) < 1e-5);
        assert_true(fabs(stellar_l_zams(&f, m) / ROW[k].l - 1) < 5e-7);
        assert_true(fabs(stellar_r_zams(&f, m) / ROW[k].r - 1) < 5e-7);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(joints), cmocka_unit_test(phases_join),
                                       cmocka_unit_test(shells), cmocka_unit_test(other_copies)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
