/* Masses of the initial mass function of Kroupa 2001, MNRAS 322, 231, from 0.08 to 100 solar masses. */
#ifndef TEST_KROUPA_H
#define TEST_KROUPA_H

#include <math.h>

/* Integral of m^-slope from a to b */
static inline double kroupa_between(double slope, double a, double b)
{
    return (pow(b, 1 - slope) - pow(a, 1 - slope)) / (1 - slope);
}

/** The mass below which a fraction u of all stars lies. */
static inline double kroupa_mass(double u)
{
    const double least = 0.08, middle = 0.5, most = 100, low = 1.3, high = 2.3, join = pow(middle, high - low);
    const double light = kroupa_between(low, least, middle), heavy = join * kroupa_between(high, middle, most);
    const double x = u * (light + heavy);
    if (x < light) return pow(x * (1 - low) + pow(least, 1 - low), 1 / (1 - low));
    return pow((x - light) / join * (1 - high) + pow(middle, 1 - high), 1 / (1 - high));
}

#endif
