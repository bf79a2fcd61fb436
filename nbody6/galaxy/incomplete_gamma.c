#include "nbody6/galaxy/incomplete_gamma.h"

#include <float.h>
#include <math.h>

/* More than either needs where it is used. */
enum { TERMS_MAX = 200 };

/* x^a e^-x sum_n x^n / (a (a+1) ... (a+n)) */
static double series(double a, double x)
{
    double term = 1 / a, sum = term;
    for (int n = 1; n < TERMS_MAX && term > sum * DBL_EPSILON / 4; n++) {
        term *= x / (a + n);
        sum += term;
    }
    return sum * pow(x, a) * exp(-x);
}

/* x^a e^-x / (x + 1 - a - 1 (1-a)/(x + 3 - a - ...)), by the method of Lentz */
static double fraction(double a, double x)
{
    double b = x + 1 - a, c = 1 / DBL_MIN, d = 1 / b, product = d;
    for (int n = 1; n < TERMS_MAX; n++) {
        const double numerator = -n * (n - a);
        b += 2;
        d = 1 / (numerator * d + b);
        c = b + numerator / c;
        product *= d * c;
        if (fabs(d * c - 1) < DBL_EPSILON) break;
    }
    return product * pow(x, a) * exp(-x);
}

void nb6_incomplete_gamma(double a, double x, double *below, double *above)
{
    const double all = tgamma(a);
    if (x < a + 1) {
        *below = x > 0 ? series(a, x) : 0;
        *above = all - *below;
    } else {
        *above = fraction(a, x);
        *below = all - *above;
    }
}
