/* Rates in solar masses a year inside, as the papers have them. */
#include "stellar/wind.h"

#include "stellar/power.h"

#include <math.h>

double stellar_temperature(double l, double r)
{
    return r > 0 ? 5772 * sqrt(sqrt(l) / r) : 0;
}

/* Giants: Kudritzki & Reimers 1978, HPT eq. 106. It begins with the Hertzsprung gap, as in the programs that share
 * these fits. */
static double reimers(double coefficient, double m, double l, double r)
{
    return coefficient * 4e-13 * l * r / m;
}

/* Asymptotic giant branch: Vassiliadis & Wood 1993, as in HPT section 7.1 */
static double superwind(double m, double l, double r)
{
    const double log_p = fmin(3.3, -2.07 - 0.9 * log10(m) + 1.94 * log10(r));
    const double rate = stellar_power10(-11.4 + 0.0125 * (stellar_power10(log_p) - 100 * fmax(0, m - 2.5)));
    return fmin(rate, 1.36e-9 * l);
}

/* Luminous stars: Nieuwenhuijzen & de Jager 1990, as in HPT section 7.1. The paper lets it begin at 4000 solar
 * luminosities; here it grows from nothing to all of it over the next 500, as in the programs that share these fits. */
static double luminous(double z, double m, double l, double r)
{
    if (l <= 4000) return 0;
    return fmin(1, (l - 4000) / 500) * 9.6e-15 * sqrt(z / 0.02) * stellar_power(r, 0.81) * stellar_power(l, 1.24) *
           stellar_power(m, 0.16);
}

/* Wolf-Rayet stars: Hamann, Koesterke & Wessolowski 1995, reduced as in HPT section 7.1 */
static double wolf_rayet(double l, double mu)
{
    return mu < 1 ? 1e-13 * l * sqrt(l) * (1 - mu) : 0;
}

/* Beyond the limit of Humphreys & Davidson 1994 */
static int is_beyond_limit(double l, double r)
{
    return l > 6e5 && 1e-5 * r * sqrt(l) > 1;
}

static double cube(double x)
{
    return x * x * x;
}

/* Luminous blue variables, HPT section 7.1 */
static double blue_variable(double l, double r)
{
    return is_beyond_limit(l, r) ? 0.1 * cube(1e-5 * r * sqrt(l) - 1) * (l / 6e5 - 1) : 0;
}

/* Hot stars: Vink, de Koter & Lamers 2001, as in Belczynski et al. 2010, ApJ 714, 1217, eqs. 6 and 7, which hold up to
 * 22500 K, and from 27500 to 50000 K. Between them, and for hotter stars, each is taken at its own end.
 * @param[in] cool_side  1: eq. 6, below the jump at 25000 K */
static double hot_star(double z, double m, double l, double t, int cool_side)
{
    const double log_l = log10(l / 1e5), log_m = log10(m / 30), log_z = log10(z / 0.02);
    if (cool_side)
        return stellar_power10(-6.688 + 2.210 * log_l - 1.339 * log_m - 1.601 * log10(1.3 / 2) + 0.85 * log_z +
                               1.07 * log10(fmin(t, 22500) / 20000));
    const double log_t = log10(fmin(fmax(t, 27500), 50000) / 40000);
    return stellar_power10(-6.697 + 2.194 * log_l - 1.313 * log_m - 1.226 * log10(2.6 / 2) + 0.85 * log_z +
                           0.933 * log_t - 10.92 * log_t * log_t);
}

/* Winds of HPT that come with the type */
static double giant_winds(const struct stellar_model *model, int type, double m, double l, double r)
{
    double rate = luminous(model->fits.z, m, l, r);
    if (type >= STELLAR_HG) rate = fmax(rate, reimers(model->options.nwind, m, l, r));
    if (type == STELLAR_EAGB || type == STELLAR_TPAGB) rate = fmax(rate, superwind(m, l, r));
    return rate;
}

/* MDFLAG 1 and 2 */
static double wind_hurley(const struct stellar_model *model, int type, double m, double l, double r, double mu)
{
    double rate = giant_winds(model, type, m, l, r);
    const double share = type >= STELLAR_HE_MS ? model->options.hewind : 1;
    if (type >= STELLAR_HG) rate = fmax(rate, share * wolf_rayet(l, mu));
    return type <= STELLAR_TPAGB && model->options.mdflag == 2 ? rate + blue_variable(l, r) : rate;
}

/* MDFLAG 3 and 4: Belczynski et al. 2010, eqs. 6 to 9. MDFLAG 4 has no jump at 25000 K: the formula of the hot side
 * holds on both. */
static double wind_belczynski(const struct stellar_model *model, int type, double m, double l, double r, double mu)
{
    const double t = stellar_temperature(l, r), z = model->fits.z;
    const double bare = type >= STELLAR_HG ? stellar_power(z / 0.02, 0.86) * wolf_rayet(l, mu) : 0;
    if (type >= STELLAR_HE_MS) return fmax(bare, giant_winds(model, type, m, l, r));
    if (is_beyond_limit(l, r)) return model->options.flbv * 1e-4;
    if (t >= 12500) return fmax(bare, hot_star(z, m, l, t, t <= 25000 && model->options.mdflag == 3));
    return fmax(bare, giant_winds(model, type, m, l, r));
}

double stellar_wind(const struct stellar_model *model, int type, double m, double l, double r, double mu)
{
    if (type >= STELLAR_HE_WD || model->options.mdflag == 0) return 0;
    return 1e6 * (model->options.mdflag <= 2 ? wind_hurley(model, type, m, l, r, mu)
                                             : wind_belczynski(model, type, m, l, r, mu));
}
