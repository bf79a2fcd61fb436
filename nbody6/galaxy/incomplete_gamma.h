/** Incomplete gamma functions, which C has not. Private to nbody6/galaxy. */
#ifndef NB6_INCOMPLETE_GAMMA_H
#define NB6_INCOMPLETE_GAMMA_H

#include "common/hd.h"

#include <float.h>
#include <math.h>

/* More than either needs where it is used. */
enum { NB6_GAMMA_TERMS = 200 };

/* sum_n x^n / (a (a+1) ... (a+n)) */
NBC_HD double nb6_gamma_series(double a, double x)
{
    double term = 1 / a, sum = term;
    for (int n = 1; n < NB6_GAMMA_TERMS && term > sum * DBL_EPSILON / 4; n++) {
        term *= x / (a + n);
        sum += term;
    }
    return sum;
}

/* 1 / (x + 1 - a - 1 (1-a)/(x + 3 - a - ...)): numerators and denominators of its approximants by their recurrences,
 * which have no division; two that follow each other differ by the product of all numerators so far over both
 * denominators. With x > 1 the sums stay below 1e300 until they agree to rounding.
 * @param[in] weight, least  it is right when approximants differ by less than least/weight of themselves */
NBC_HD double nb6_gamma_fraction(double a, double x, double weight, double least)
{
    double b = x + 1 - a, before[2] = {0, 1}, now[2] = {1, b}, product = 1;
    for (int n = 1; n < NB6_GAMMA_TERMS; n++) {
        const double numerator = -n * (n - a);
        b += 2;
        const double next[2] = {b * now[0] + numerator * before[0], b * now[1] + numerator * before[1]};
        product *= -numerator;
        before[0] = now[0];
        before[1] = now[1];
        now[0] = next[0];
        now[1] = next[1];
        if (!(fabs(product) * weight >= least * (now[0] * before[1]))) break;
    }
    return now[0] / now[1];
}

/** The lower one, int_0^x s^(a-1) e^-s ds, for a > 0, x >= 0, to some 1e-15 of Gamma(a).
 *  Source: Press et al. 2007, Numerical Recipes, section 6.2: series below x = a + 1, continued fraction above, of
 * which only as many terms are needed as the upper one is large.
 *  @param[in] all  Gamma(a)   @param[in] density  x^a e^-x */
NBC_HD double nb6_lower_gamma(double a, double x, double all, double density)
{
    if (x < a + 1) return x > 0 ? density * nb6_gamma_series(a, x) : 0;
    return all - density * nb6_gamma_fraction(a, x, density, 0.25 * DBL_EPSILON * all);
}

/** The upper one, from x on, to some 1e-15 of itself where x > a + 1, else of Gamma(a). */
NBC_HD double nb6_upper_gamma(double a, double x)
{
    const double density = x > 0 ? pow(x, a) * exp(-x) : 0;
    if (x < a + 1) return tgamma(a) - nb6_lower_gamma(a, x, 0, density);
    return density * nb6_gamma_fraction(a, x, 1, DBL_EPSILON);
}

#endif
