#include <math.h>

#include "kepler.h"

/* Both ways to get at all orders from two of them: c_n = 1/n! - z c_(n+2). Downwards errors are multiplied by z,
 * upwards divided by it; between the limits the former is the better one, outside of them the latter. */
#define SERIES_LOW -60.0
#define SERIES_HIGH 16.0

static const double inverse_factorial[KEPLER_STUMPFF_MAX + 1] = {1.0,       1.0,       1.0 / 2,    1.0 / 6,    1.0 / 24,
                                                                 1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320};

/* Sum of (-z)^k n!/(n + 2k)!, for large n: the terms fall at once where z > 0, and have one sign where z < 0. */
static double series(double z, int n)
{
    double sum = 1.0, term = 1.0;
    for (int i = n + 1; i < n + 80; i += 2) {
        term *= -z / (double)(i * (i + 1));
        double next = sum + term;
        if (next == sum) break;
        sum = next;
    }
    return sum * inverse_factorial[n];
}

void kepler_stumpff(double z, double c[KEPLER_STUMPFF_MAX + 1])
{
    const int top = KEPLER_STUMPFF_MAX;
    if (z >= SERIES_LOW && z <= SERIES_HIGH) {
        c[top] = series(z, top);
        c[top - 1] = series(z, top - 1);
        for (int n = top - 2; n >= 0; n--) c[n] = inverse_factorial[n] - z * c[n + 2];
        return;
    }
    double x = sqrt(fabs(z));
    c[0] = z > 0 ? cos(x) : cosh(x);
    c[1] = (z > 0 ? sin(x) : sinh(x)) / x;
    for (int n = 2; n <= top; n++) c[n] = (inverse_factorial[n - 2] - c[n - 2]) / z;
}
