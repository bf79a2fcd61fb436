/** Incomplete gamma functions, which C has not. Private to nbody6/galaxy. */
#ifndef NB6_INCOMPLETE_GAMMA_H
#define NB6_INCOMPLETE_GAMMA_H

#include "common/hd.h"

#include <float.h>
#include <math.h>

/* More than either needs where it is used. */
enum { NB6_GAMMA_TERMS = 200 };

/* x^a e^-x sum_n x^n / (a (a+1) ... (a+n)) */
NBC_HD double nb6_gamma_series(double a, double x)
{
    double term = 1 / a, sum = term;
    for (int n = 1; n < NB6_GAMMA_TERMS && term > sum * DBL_EPSILON / 4; n++) {
        term *= x / (a + n);
        sum += term;
    }
    return sum * pow(x, a) * exp(-x);
}

/* x^a e^-x / (x + 1 - a - 1 (1-a)/(x + 3 - a - ...)), by the method of Lentz */
NBC_HD double nb6_gamma_fraction(double a, double x)
{
    double b = x + 1 - a, c = 1 / DBL_MIN, d = 1 / b, product = d;
    for (int n = 1; n < NB6_GAMMA_TERMS; n++) {
        const double numerator = -n * (n - a);
        b += 2;
        d = 1 / (numerator * d + b);
        c = b + numerator / c;
        product *= d * c;
        if (fabs(d * c - 1) < DBL_EPSILON) break;
    }
    return product * pow(x, a) * exp(-x);
}

/** The lower one, int_0^x s^(a-1) e^-s ds, and the upper one, from x on, for a > 0, x >= 0, to some 1e-15 of Gamma(a).
 *  Source: Press et al. 2007, Numerical Recipes, section 6.2: series below x = a + 1, continued fraction above. */
NBC_HD void nb6_incomplete_gamma(double a, double x, double *below, double *above)
{
    const double all = tgamma(a);
    if (x < a + 1) {
        *below = x > 0 ? nb6_gamma_series(a, x) : 0;
        *above = all - *below;
    } else {
        *above = nb6_gamma_fraction(a, x);
        *below = all - *above;
    }
}

#endif
