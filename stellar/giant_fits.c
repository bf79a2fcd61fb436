/* Equation numbers without a name are those of Hurley, Pols & Tout 2000. */
#include "stellar/giant_fits.h"

#include "stellar/giant.h"
#include "stellar/helium_star.h"
#include "stellar/main_sequence.h"

#include "stellar/power.h"

#include <math.h>

static double line(double x0, double y0, double x1, double y1, double x)
{
    return y0 + (y1 - y0) * (x - x0) / (x1 - x0);
}

/* log10 of D above 2.5 solar masses, below eq. 38 */
static double log_d_heavy(double log_d, double m)
{
    return fmax(-1, fmax(0.975 * log_d - 0.18 * m, 0.5 * log_d - 0.06 * m));
}

void stellar_giant_law(const struct stellar_fits *f, double m, struct stellar_core_law *law)
{
    const double b = fmax(3e4, 500 + 1.75e4 * stellar_power(m, 0.6)),
                 x = fmax(0, fmin(1, (m - f->m_hef) / (2.5 - f->m_hef)));
    const double log_d = m >= 2.5 ? log_d_heavy(f->log_d, m) : f->log_d + x * (log_d_heavy(f->log_d, 2.5) - f->log_d);
    stellar_core_law_make(law, 6 - x, 3 - x, b, stellar_power10(log_d));
}

double stellar_a_h(double m)
{
    return stellar_power10(fmax(-4.8, fmin(-5.7 + 0.8 * m, -4.1 + 0.14 * m)));
}

double stellar_r_gb(const struct stellar_fits *f, double m, double l)
{
    const double *b = f->b;
    return fmin(b[4] * stellar_power(m, -b[5]), b[6] * stellar_power(m, -b[7])) *
           (stellar_power(l, b[1]) + b[2] * stellar_power(l, b[3]));
}

/* Factor of eq. 74 above m_hef */
static double agb_factor(const double b[], double m)
{
    const double log_m = log(m);
    return fmin(b[51] * exp(-b[52] * log_m), b[53] * exp(-b[54] * log_m));
}

double stellar_r_agb(const struct stellar_fits *f, double m, double l)
{
    const double *b = f->b, low = f->m_hef - 0.2;
    double factor, power;
    if (m >= f->m_hef) {
        factor = agb_factor(b, m);
        power = b[55] * b[3];
    } else if (m <= low) {
        factor = b[56] + b[57] * m;
        power = b[3];
    } else {
        factor = line(low, b[56] + b[57] * low, f->m_hef, agb_factor(b, f->m_hef), m);
        power = line(low, b[3], f->m_hef, b[55] * b[3], m);
    }
    const double log_l = log(l);
    return factor * (exp(b[1] * log_l) + b[2] * exp(power * log_l));
}

/* Eq. 49 above m_hef */
static double l_hei_heavy(const double b[], double m)
{
    return (b[11] + b[12] * stellar_power(m, 3.8)) / (b[13] + m * m);
}

double stellar_l_hei(const struct stellar_fits *f, double m)
{
    if (m >= f->m_hef) return l_hei_heavy(f->b, m);
    return f->b[9] * stellar_power(m, f->b[10]) / (1 + f->alpha1 * exp(15 * (m - f->m_hef)));
}

double stellar_l_min(const struct stellar_fits *f, double m)
{
    const double *b = f->b, power = stellar_power(m, b[15]);
    return stellar_l_hei(f, m) * (b[14] + f->c_min * power * stellar_power(m, 0.1)) / (b[16] + power);
}

/* Eq. 52 */
static double envelope_fraction(const struct stellar_fits *f, double m, double mc)
{
    return fmax(1e-12, (m - mc) / (f->m_hef - mc));
}

double stellar_l_zahb(const struct stellar_fits *f, double m, double mc)
{
    const double *b = f->b, mu = envelope_fraction(f, m, mc), l_core = stellar_l_zhe(mc);
    const double alpha2 = (b[18] + l_core - f->l_min_hef) / (f->l_min_hef - l_core);
    return l_core + (1 + b[20]) / (1 + b[20] * stellar_power(mu, 1.6479)) * b[18] * stellar_power(mu, b[19]) /
                        (1 + alpha2 * exp(15 * (m - f->m_hef)));
}

double stellar_r_zahb(const struct stellar_fits *f, double m, double mc)
{
    const double *b = f->b, mu = envelope_fraction(f, m, mc);
    const double share = (1 + b[21]) * stellar_power(mu, b[22]) / (1 + b[21] * stellar_power(mu, b[23]));
    return (1 - share) * stellar_r_zhe(mc) + share * stellar_r_gb(f, m, stellar_l_zahb(f, m, mc));
}

double stellar_r_mhe(const struct stellar_fits *f, double m)
{
    const double *b = f->b, power = stellar_power(m, b[28]);
    return (b[24] * m + stellar_power(b[25] * m, b[26]) * power) / (b[27] + power);
}

/* Eq. 56 above m_hef */
static double l_bagb_heavy(const double b[], double m)
{
    const double power = stellar_power(m, b[33]);
    return (b[31] + b[32] * power * stellar_power(m, 1.8)) / (b[34] + power);
}

double stellar_l_bagb(const struct stellar_fits *f, double m)
{
    if (m >= f->m_hef) return l_bagb_heavy(f->b, m);
    return f->b[29] * stellar_power(m, f->b[30]) / (1 + f->alpha3 * exp(15 * (m - f->m_hef)));
}

/* Eq. 57 above m_hef, in units of t_bgb */
static double t_he_heavy(const double b[], double m)
{
    const double m5 = m * m * m * m * m;
    return (b[41] * stellar_power(m, b[42]) + b[43] * m5) / (b[44] + m5);
}

double stellar_t_he(const struct stellar_fits *f, double m, double mc, double t_bgb)
{
    const double *b = f->b;
    if (m >= f->m_hef) return t_bgb * t_he_heavy(b, m);
    const double mu = fmin(1, envelope_fraction(f, m, mc));
    return (b[39] + (stellar_t_hems(mc) - b[39]) * stellar_power(1 - mu, b[40])) *
           (1 + f->alpha4 * exp(15 * (m - f->m_hef)));
}

/* f_bl of eq. 58 */
static double blue_part(const struct stellar_fits *f, double m)
{
    const double shrunk = fmax(0, 1 - stellar_r_mhe(f, m) / stellar_r_agb(f, m, stellar_l_hei(f, m)));
    return stellar_power(m, f->b[48]) * stellar_power(shrunk, f->b[49]);
}

double stellar_tau_bl(const struct stellar_fits *f, double m)
{
    const double *b = f->b, x = m / f->m_fgb;
    if (m < f->m_hef) return 1;
    if (m > f->m_fgb) return fmax(0, fmin(1, (1 - b[47]) * blue_part(f, m) / f->f_bl_fgb));
    const double logs = log10(x) / log10(f->m_hef / f->m_fgb);
    return fmax(0, fmin(1, b[45] * stellar_power(x, 0.414) + f->alpha_bl * stellar_power(fmax(0, logs), b[46])));
}

double stellar_mc_bagb(const struct stellar_fits *f, double m)
{
    return sqrt(sqrt(f->b[36] * stellar_power(m, f->b[37]) + f->b[38]));
}

static const double C1 = 9.20925e-5, C2 = 5.402216; /* of eq. 44 */

double stellar_mc_heavy(const struct stellar_fits *f, double m, double c)
{
    return fmin(0.95 * stellar_mc_bagb(f, m), sqrt(sqrt(c + C1 * stellar_power(m, C2))));
}

/* C of eq. 44, if the core has the mass that belongs to luminosity l at m_hef */
static double core_constant(const struct stellar_fits *f, double l)
{
    struct stellar_core_law law;
    stellar_giant_law(f, f->m_hef, &law);
    return stellar_power(stellar_law_core(&law, l), 4) - C1 * stellar_power(f->m_hef, C2);
}

void stellar_giant_join(struct stellar_fits *f)
{
    const double *b = f->b, m = f->m_hef, l_hei = l_hei_heavy(b, m), l_bagb = l_bagb_heavy(b, m);
    f->alpha1 = (b[9] * stellar_power(m, b[10]) - l_hei) / l_hei;
    f->alpha3 = (b[29] * stellar_power(m, b[30]) - l_bagb) / l_bagb;
    f->alpha4 = (stellar_t_bgb(f, m) * t_he_heavy(b, m) - b[39]) / b[39];
    f->c_min = b[17] / stellar_power(f->m_fgb, 0.1) + (b[16] * b[17] - b[14]) / stellar_power(f->m_fgb, b[15] + 0.1);
    f->l_min_hef = stellar_l_min(f, m);
    f->r_ratio_hef = stellar_r_mhe(f, m) / stellar_r_gb(f, m, f->l_min_hef);
    f->c_bgb = core_constant(f, stellar_l_bgb(f, m));
    f->c_hei = core_constant(f, l_hei);
    f->alpha_bl = 1 - b[45] * stellar_power(m / f->m_fgb, 0.414);
    f->f_bl_fgb = blue_part(f, f->m_fgb);
}

void stellar_fits_make(double z, struct stellar_fits *f)
{
    stellar_tables(z, f);
    stellar_giant_join(f);
}
