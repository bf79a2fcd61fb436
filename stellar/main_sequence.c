/* Equation numbers without a name are those of Hurley, Pols & Tout 2000. */
#include "stellar/main_sequence.h"

#include "stellar/power.h"

#include <math.h>

double stellar_l_zams(const struct stellar_fits *f, double m)
{
    const double *c = f->lz, h = sqrt(m), m2 = m * m, m3 = m2 * m, m5 = m3 * m2, m9 = m5 * m2 * m2;
    return (c[0] * m5 * h + c[1] * m9 * m2) / (c[2] + m3 + c[3] * m5 + c[4] * m5 * m2 + c[5] * m5 * m3 + c[6] * m9 * h);
}

double stellar_r_zams(const struct stellar_fits *f, double m)
{
    const double *c = f->rz, h = sqrt(m), m2 = m * m, m4 = m2 * m2, m8 = m4 * m4, m18 = m8 * m8 * m2;
    return (c[0] * m2 * h + c[1] * m4 * m2 * h + c[2] * m8 * m2 * m + (c[3] + c[4] * h) * m18 * m) /
           (c[5] + c[6] * m2 + (c[7] * m8 + m18 + c[8] * m18 * m) * h);
}

double stellar_t_bgb(const struct stellar_fits *f, double m)
{
    const double *a = f->a, m2 = m * m, m4 = m2 * m2, m7 = m4 * m2 * m;
    return (a[1] + a[2] * m4 + a[3] * m4 * m * sqrt(m) + m7) / (a[4] * m2 + a[5] * m7);
}

double stellar_l_bgb(const struct stellar_fits *f, double m)
{
    const double *a = f->a;
    return (a[27] * stellar_power(m, a[31]) + a[28] * stellar_power(m, 9.301992)) /
           (a[29] + a[30] * stellar_power(m, 4.637345) + stellar_power(m, a[32]));
}

double stellar_l_tms(const struct stellar_fits *f, double m)
{
    const double *a = f->a, m3 = m * m * m, m_a16 = stellar_power(m, a[16]);
    return (a[11] * m3 + a[12] * m3 * m + a[13] * m_a16 * stellar_power(m, 1.8)) / (a[14] + a[15] * m3 * m * m + m_a16);
}

/* Eq. 9a, below a17 */
static double r_tms_light(const double a[], double m)
{
    return (a[18] + a[19] * stellar_power(m, a[21])) / (a[20] + stellar_power(m, a[22]));
}

/* Eq. 9b, above a17 + 0.1 */
static double r_tms_heavy(const double a[], double m)
{
    const double c1 = -8.672073e-2, m3 = m * m * m, m_a26 = stellar_power(m, a[26]);
    return (c1 * m3 + m_a26 * (a[23] + a[24] * m * sqrt(m))) / (a[25] + m3 * m * m);
}

static double line(double x0, double y0, double x1, double y1, double x)
{
    return y0 + (y1 - y0) * (x - x0) / (x1 - x0);
}

double stellar_r_tms(const struct stellar_fits *f, double m)
{
    const double *a = f->a, m0 = a[17], m1 = a[17] + 0.1;
    if (m >= m1) return r_tms_heavy(a, m);
    if (m > m0) return line(m0, r_tms_light(a, m0), m1, r_tms_heavy(a, m1), m);
    return m < 0.5 ? fmax(r_tms_light(a, m), 1.5 * stellar_r_zams(f, m)) : r_tms_light(a, m);
}

/* Least t_hook / t_BGB. Eq. 7 */
static double hook_fraction(const double a[], double m)
{
    return fmax(0.5, 1 - 0.01 * fmax(a[6] / stellar_power(m, a[7]), a[8] + a[9] / stellar_power(m, a[10])));
}

double stellar_t_ms(const struct stellar_fits *f, double m, double t_bgb)
{
    return t_bgb * fmax(hook_fraction(f->a, m), f->x_ms);
}

/* Eq. 16 above a33 */
static double delta_l_heavy(const double a[], double m)
{
    return fmin(a[34] / stellar_power(m, a[35]), a[36] / stellar_power(m, a[37]));
}

/* Eq. 16 */
static double delta_l(const struct stellar_fits *f, double m)
{
    const double *a = f->a;
    if (m <= f->m_hook) return 0;
    if (m >= a[33]) return delta_l_heavy(a, m);
    return delta_l_heavy(a, a[33]) * stellar_power((m - f->m_hook) / (a[33] - f->m_hook), 0.4);
}

/* Eq. 17 above 2 solar masses */
static double delta_r_heavy(const double a[], double m)
{
    const double m3 = m * m * m;
    return (a[38] + a[39] * m3 * sqrt(m)) / (a[40] * m3 + stellar_power(m, a[41])) - 1;
}

/* Eq. 17 */
static double delta_r(const struct stellar_fits *f, double m)
{
    const double *a = f->a;
    if (m <= f->m_hook) return 0;
    if (m <= a[42]) return a[43] * sqrt((m - f->m_hook) / (a[42] - f->m_hook));
    if (m < 2) return a[43] + (delta_r_heavy(a, 2) - a[43]) * stellar_power((m - a[42]) / (2 - a[42]), a[44]);
    return delta_r_heavy(a, m);
}

/* Eq. 18 */
static double eta(const struct stellar_fits *f, double m)
{
    if (f->z > 0.0009 || m <= 1) return 10;
    return m >= 1.1 ? 20 : line(1, 10, 1.1, 20, m);
}

/* Eq. 19a */
static double alpha_l_heavy(const double a[], double m)
{
    return (a[45] + a[46] * stellar_power(m, a[48])) / (stellar_power(m, 0.4) + a[47] * stellar_power(m, 1.9));
}

/* Eq. 19 */
static double alpha_l(const double a[], double m)
{
    if (m >= 2) return alpha_l_heavy(a, m);
    if (m < 0.5) return a[49];
    if (m < 0.7) return line(0.5, a[49], 0.7, 0.3, m);
    if (m < a[52]) return line(0.7, 0.3, a[52], a[50], m);
    if (m < a[53]) return line(a[52], a[50], a[53], a[51], m);
    return line(a[53], a[51], 2, alpha_l_heavy(a, 2), m);
}

/* Eq. 20 */
static double beta_l(const double a[], double m)
{
    const double beta = fmax(0, a[54] - a[55] * stellar_power(m, a[56]));
    if (m <= a[57] || beta <= 0) return beta;
    const double end = fmax(0, a[54] - a[55] * stellar_power(a[57], a[56]));
    return fmax(0, end - 10 * (m - a[57]) * end);
}

/* Eq. 21a */
static double alpha_r_middle(const double a[], double m)
{
    return a[58] * stellar_power(m, a[60]) / (a[59] + stellar_power(m, a[61]));
}

/* Eq. 21 */
static double alpha_r(const double a[], double m)
{
    if (m < 0.5) return a[62];
    if (m < 0.65) return line(0.5, a[62], 0.65, a[63], m);
    if (m < a[68]) return line(0.65, a[63], a[68], a[64], m);
    if (m < a[66]) return line(a[68], a[64], a[66], alpha_r_middle(a, a[66]), m);
    return m <= a[67] ? alpha_r_middle(a, m) : alpha_r_middle(a, a[67]) + a[65] * (m - a[67]);
}

/* Eq. 22a */
static double beta_r_middle(const double a[], double m)
{
    return a[69] * m * m * m * sqrt(m) / (a[70] + stellar_power(m, a[71]));
}

/* Eq. 22, which is printed with a74 - 1.06 below the fraction: with a74 - 1 it is the line that ends at a72 */
static double beta_r(const double a[], double m)
{
    if (m <= 1) return 0.06;
    if (m < a[74]) return line(1, 1.06, a[74], a[72], m) - 1;
    if (m < 2) return line(a[74], a[72], 2, beta_r_middle(a, 2), m) - 1;
    return (m <= 16 ? beta_r_middle(a, m) : beta_r_middle(a, 16) + a[73] * (m - 16)) - 1;
}

/* Eq. 23 up to one solar mass */
static double gamma_r_light(const double a[], double m)
{
    return a[76] + a[77] * stellar_power(fabs(m - a[78]), a[79]);
}

/* Eq. 23 */
static double gamma_of_radius(const double a[], double m)
{
    if (m > a[75] + 0.1) return 0;
    if (m <= 1) return gamma_r_light(a, m);
    const double one = gamma_r_light(a, 1);
    if (m <= a[75]) return one + (a[80] - one) * stellar_power((m - 1) / (a[75] - 1), a[81]);
    return (a[75] == 1 ? one : a[80]) * (1 - 10 * (m - a[75]));
}

void stellar_ms_make(const struct stellar_fits *f, double m, struct stellar_ms *s)
{
    const double *a = f->a;
    s->t_bgb = stellar_t_bgb(f, m);
    s->t_hook = hook_fraction(a, m) * s->t_bgb;
    s->t_ms = stellar_t_ms(f, m, s->t_bgb);
    s->l_zams = stellar_l_zams(f, m);
    s->r_zams = stellar_r_zams(f, m);
    s->l_tms = stellar_l_tms(f, m);
    s->r_tms = stellar_r_tms(f, m);
    s->alpha_l = alpha_l(a, m);
    s->beta_l = beta_l(a, m);
    s->delta_l = delta_l(f, m);
    s->eta = eta(f, m);
    s->alpha_r = alpha_r(a, m);
    s->beta_r = beta_r(a, m);
    s->gamma_r = gamma_of_radius(a, m);
    s->delta_r = delta_r(f, m);
    s->r_least = m < 0.1 ? 0.0258 * stellar_power(1 + f->x_hydrogen, 5.0 / 3) * stellar_power(m, -1.0 / 3) : 0;
}

static double power10(double x)
{
    const double x2 = x * x, x4 = x2 * x2;
    return x4 * x4 * x2;
}

void stellar_ms_point(const struct stellar_ms *s, double age, double *l, double *r)
{
    const double tau = fmin(1, age / s->t_ms), tau2 = tau * tau, tau10 = power10(tau);
    const double tau_eta = s->eta == 10 ? tau10 : stellar_power(tau, s->eta);
    const double hook = fmin(1, age / s->t_hook);                          /* eq. 14 */
    const double fall = fmax(0, fmin(1, (age / s->t_hook - 0.99) / 0.01)); /* eq. 15 */
    const double to_l = log10(s->l_tms / s->l_zams) - s->alpha_l - s->beta_l;
    const double to_r = log10(s->r_tms / s->r_zams) - s->alpha_r - s->beta_r - s->gamma_r;
    const double log_l =
        s->alpha_l * tau + s->beta_l * tau_eta + to_l * tau2 - s->delta_l * (hook * hook - fall * fall);
    const double log_r = s->alpha_r * tau + s->beta_r * tau10 + s->gamma_r * tau10 * tau10 * tau10 * tau10 +
                         to_r * tau2 * tau - s->delta_r * (hook * hook * hook - fall * fall * fall);
    *l = s->l_zams * stellar_power10(log_l);
    *r = fmax(s->r_least, s->r_zams * stellar_power10(log_r));
}
