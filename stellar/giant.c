/* Equation numbers without a name are those of Hurley, Pols & Tout 2000. */
#include "stellar/giant.h"

#include "stellar/giant_fits.h"
#include "stellar/helium_star.h"
#include "stellar/main_sequence.h"

#include "stellar/power.h"

#include <math.h>

/* Rates of shells of helium (eq. 68), and of hydrogen and helium together (eq. 71) */
static const double A_HE = 7.66e-5, A_H_HE = 1.27e-5;

/* Core at the second dredge-up. Eq. 69 */
static double dredged_core(double mc_bagb)
{
    return mc_bagb > 0.8 && mc_bagb < 2.25 ? 0.44 * mc_bagb + 0.448 : mc_bagb;
}

/* First giant branch: eqs. 28, 40 to 45 */
static void make_first_branch(const struct stellar_fits *f, const struct stellar_core_law *law, struct stellar_giant *g)
{
    const double m = g->m0;
    const int flash = m < f->m_hef, branch = m < f->m_fgb;
    g->l_hei = stellar_l_hei(f, m);
    g->l_ehg = branch ? stellar_l_bgb(f, m) : g->l_hei;
    g->mc_bgb = flash ? stellar_law_core(law, g->l_ehg) : stellar_mc_heavy(f, m, f->c_bgb);
    g->mc_hei = flash ? stellar_law_core(law, g->l_hei) : stellar_mc_heavy(f, m, f->c_hei);
    g->gb = stellar_shell_make(law, stellar_a_h(m), g->t_bgb, g->l_ehg);
    g->t_hei = branch ? stellar_shell_time(&g->gb, stellar_law_core(law, g->l_hei)) : g->t_bgb;
    g->mc_ehg = branch ? g->mc_bgb : g->mc_hei;
}

/* Second giant branch: eqs. 66 to 73 */
static void make_second_branch(const struct stellar_fits *f, const struct stellar_core_law *law,
                               struct stellar_giant *g)
{
    const double m = g->m0;
    g->l_bagb = stellar_l_bagb(f, m);
    g->mc_bagb = stellar_mc_bagb(f, m);
    g->mc_du = dredged_core(g->mc_bagb);
    g->t_he = stellar_t_he(f, m, g->mc_hei, g->t_bgb);
    g->t_bagb = g->t_hei + g->t_he;
    g->eagb = stellar_shell_make(law, A_HE, g->t_bagb, g->l_bagb);
    g->t_du = fmax(g->t_bagb, stellar_shell_time(&g->eagb, g->mc_du));
    g->tpagb = stellar_shell_make(law, A_H_HE, g->t_du, stellar_law_luminosity(law, g->mc_du));
    g->lambda = fmin(0.9, 0.3 + 0.001 * m * m * m * m * m);
}

/* Begin of the blue phase: eqs. 58, 59 */
static void make_blue_phase(const struct stellar_fits *f, struct stellar_giant *g)
{
    const double m = g->m0;
    g->tau_bl = stellar_tau_bl(f, m);
    g->tau_x = m >= f->m_hef && m < f->m_fgb ? 1 - g->tau_bl : 0;
    if (m < f->m_hef) {
        g->l_x = stellar_l_zahb(f, m, g->mc_hei);
        g->least_part = stellar_power(f->r_ratio_hef, m / f->m_hef);
    } else {
        g->l_x = m < f->m_fgb ? stellar_l_min(f, m) : g->l_hei;
    }
}

void stellar_giant_make(const struct stellar_fits *f, double m0, struct stellar_giant *g)
{
    struct stellar_core_law law;
    const double power = stellar_power(m0, 5.25);
    g->m0 = m0;
    g->t_bgb = stellar_t_bgb(f, m0);
    g->t_ms = stellar_t_ms(f, m0, g->t_bgb);
    g->l_tms = stellar_l_tms(f, m0);
    g->r_tms = stellar_r_tms(f, m0);
    stellar_giant_law(f, m0, &law);
    make_first_branch(f, &law, g);
    make_second_branch(f, &law, g);
    make_blue_phase(f, g);
    g->mc_tms = g->mc_ehg * (1.586 + power) / (2.434 + 1.02 * power);
}

double stellar_r_least(const struct stellar_fits *f, const struct stellar_giant *g, double m)
{
    if (g->m0 < f->m_hef) return stellar_r_gb(f, m, g->l_x) * g->least_part;
    return stellar_r_mhe(f, g->m0 < f->m_fgb ? m : g->m0);
}

/* Radius at helium ignition of a star with no first giant branch. Eq. 50, or that of a giant if no blue phase follows
 */
static double ignition_radius(const struct stellar_fits *f, const struct stellar_giant *g, double m)
{
    const double least = fmin(stellar_r_least(f, g, m), stellar_r_agb(f, m, g->l_hei)), middle = 12;
    if (g->tau_bl <= 0) return stellar_r_agb(f, m, g->l_hei);
    if (g->m0 >= fmax(f->m_fgb, middle)) return least;
    return least * stellar_power(stellar_r_gb(f, m, g->l_hei) / least, log(g->m0 / middle) / log(f->m_fgb / middle));
}

void stellar_hg_point(const struct stellar_fits *f, const struct stellar_giant *g, double m, double age, double *l,
                      double *r, double *mc)
{
    const double tau = (age - g->t_ms) / (g->t_bgb - g->t_ms); /* eq. 25 */
    const double r_end = g->m0 < f->m_fgb ? stellar_r_gb(f, m, g->l_ehg) : ignition_radius(f, g, m);
    *l = g->l_tms * stellar_power(g->l_ehg / g->l_tms, tau); /* eq. 26 */
    *r = g->r_tms * stellar_power(r_end / g->r_tms, tau);    /* eq. 27 */
    *mc = g->mc_tms + (g->mc_ehg - g->mc_tms) * tau;         /* eq. 30 */
}

void stellar_gb_point(const struct stellar_fits *f, const struct stellar_giant *g, double m, double age, double *l,
                      double *r, double *mc)
{
    const double core = stellar_shell_core(&g->gb, age), tau = (age - g->t_bgb) / (g->t_hei - g->t_bgb);
    *l = stellar_law_luminosity(&g->gb.law, core);
    *r = stellar_r_gb(f, m, *l);
    *mc = g->m0 < f->m_hef ? core : g->mc_bgb + (g->mc_hei - g->mc_bgb) * tau; /* eq. 45 */
}

/* Radius between two ends of which the smaller one is a minimum. Eq. 65
 * @param[in] s  from 0 at r_begin to 1 at r_end */
static double through_minimum(double r_begin, double r_least, double r_end, double s)
{
    const double at_begin = cbrt(log(fmax(1, r_begin / r_least))), at_end = cbrt(log(fmax(1, r_end / r_least)));
    const double rho = fabs(at_end * s - at_begin * (1 - s));
    return r_least * exp(rho * rho * rho);
}

/* Radius at the begin of the blue phase. Eq. 60 */
static double blue_begin_radius(const struct stellar_fits *f, const struct stellar_giant *g, double m)
{
    if (g->m0 < f->m_hef) return stellar_r_zahb(f, m, g->mc_hei);
    return g->m0 < f->m_fgb ? stellar_r_gb(f, m, g->l_x) : ignition_radius(f, g, m);
}

void stellar_cheb_point(const struct stellar_fits *f, const struct stellar_giant *g, double m, double age, double *l,
                        double *r, double *mc)
{
    const double tau = fmax(0, fmin(1, (age - g->t_hei) / g->t_he));
    *mc = g->mc_hei + (g->mc_bagb - g->mc_hei) * tau; /* eq. 67 */
    if (tau < g->tau_x) {                             /* down the giant branch: eqs. 61, 63, 64 */
        const double left = (g->tau_x - tau) / g->tau_x;
        *l = g->l_x * stellar_power(g->l_hei / g->l_x, left * left * left);
        *r = stellar_r_gb(f, m, *l);
        return;
    }
    const double r_x = blue_begin_radius(f, g, m), r_mhe = stellar_r_least(f, g, m), r_least = fmin(r_mhe, r_x);
    const int branch = g->m0 < f->m_fgb; /* a massive star begins at its least radius or has no blue phase */
    const double xi = fmin(2.5, fmax(0.4, (branch ? r_mhe : r_least) / r_x)), tau_y = branch ? 1 : g->tau_bl;
    *l = g->l_x *
         stellar_power(g->l_bagb / g->l_x, stellar_power((tau - g->tau_x) / (1 - g->tau_x), xi)); /* eqs. 61, 62 */
    if (tau >= tau_y) {
        *r = stellar_r_agb(f, m, *l);
    } else {
        const double l_y =
            g->l_x * stellar_power(g->l_bagb / g->l_x, stellar_power((tau_y - g->tau_x) / (1 - g->tau_x), xi));
        *r = through_minimum(r_x, r_least, stellar_r_agb(f, m, l_y), (tau - g->tau_x) / (tau_y - g->tau_x));
    }
}

void stellar_eagb_point(const struct stellar_fits *f, const struct stellar_giant *g, double m, double age, double *l,
                        double *r, double *mco)
{
    *mco = stellar_shell_core(&g->eagb, age);
    *l = stellar_law_luminosity(&g->eagb.law, *mco);
    *r = stellar_r_agb(f, m, *l);
}

void stellar_tpagb_point(const struct stellar_fits *f, const struct stellar_giant *g, double m, double age, double *l,
                         double *r, double *mc)
{
    const double grown = stellar_shell_core(&g->tpagb, age);
    *l = stellar_law_luminosity(&g->tpagb.law, grown);
    *r = stellar_r_agb(f, m, *l);
    *mc = g->mc_du + (1 - g->lambda) * (grown - g->mc_du);
}

double stellar_tpagb_time(const struct stellar_giant *g, double mc)
{
    return stellar_shell_time(&g->tpagb, g->mc_du + (mc - g->mc_du) / (1 - g->lambda));
}
