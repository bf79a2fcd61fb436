#include "stellar/helium_star.h"

#include "stellar/power.h"

#include <math.h>

/* Rate of helium burning, HPT eq. 68 */
static const double A_HE = 7.66e-5;

double stellar_l_zhe(double m)
{
    const double h = sqrt(m), m2 = m * m, m6 = m2 * m2 * m2;
    return 15262 * m6 * m2 * m2 * sqrt(h) / (m6 * m2 * m + 29.54 * m6 * m * h + 31.18 * m6 + 0.0469);
}

double stellar_r_zhe(double m)
{
    const double m3 = m * m * m;
    return 0.2391 * stellar_power(m, 4.6) / (m3 * m + 0.162 * m3 + 0.0065);
}

double stellar_t_hems(double m)
{
    const double m2 = m * m, m4 = m2 * m2;
    return (0.4129 + 18.81 * m4 + 1.853 * m4 * m2) / (m4 * m2 * sqrt(m));
}

void stellar_helium_make(double m0, struct stellar_helium *s)
{
    struct stellar_core_law law;
    double r;
    s->t_ms = stellar_t_hems(m0);
    s->l_zams = stellar_l_zhe(m0);
    stellar_hems_point(m0, 1, &s->l_tms, &r);
    stellar_core_law_make(&law, 5, 3, 4.1e4, 5.5e4 / (1 + 0.4 * m0 * m0 * m0 * m0)); /* eq. 84 */
    s->shell = stellar_shell_make(&law, A_HE, s->t_ms, s->l_tms);
}

void stellar_hems_point(double m, double tau, double *l, double *r)
{
    const double alpha = fmax(0, 0.85 - 0.08 * m), beta = fmax(0, 0.4 - 0.22 * log10(m)), tau2 = tau * tau;
    *l = stellar_l_zhe(m) * (1 + 0.45 * tau + alpha * tau2);
    *r = stellar_r_zhe(m) * (1 + beta * tau * (1 - tau2 * tau2 * tau));
}

double stellar_r_hegb(double m, double l, double l_tms, int *is_giant)
{
    const double m2 = m * m, lambda = 500 * (2 + m2 * m2 * m) / (m2 * sqrt(m));
    const double gap =
        stellar_r_zhe(m) * stellar_power(l / l_tms, 0.2) + 0.02 * (exp(l / lambda) - exp(l_tms / lambda));
    const double giant = 0.08 * stellar_power(l, 0.75);
    *is_giant = !(gap < giant);
    return *is_giant ? giant : gap;
}

double stellar_helium_core_limit(double m)
{
    const double limit = fmin(1.45 * m - 0.31, m);
    return limit > 0 ? limit : m;
}
