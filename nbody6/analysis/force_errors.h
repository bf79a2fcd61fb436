/** Errors of forces on a sample of the bodies. */
#ifndef NB6_FORCE_ERRORS_H
#define NB6_FORCE_ERRORS_H

#include <math.h>
#include <stdint.h>

/** Body k of a sample of n bodies, which is spread evenly over them. */
static inline int64_t nb6_sample_of(int64_t n, int64_t sample, int64_t k)
{
    return k * n / sample;
}

/** |is - should|/|should|; without a force there, |is|. */
static inline double nb6_relative_error(const double is[3], const double should[3])
{
    double d2 = 0, s2 = 0;
    for (int k = 0; k < 3; k++) {
        d2 += (is[k] - should[k]) * (is[k] - should[k]);
        s2 += should[k] * should[k];
    }
    return s2 > 0 ? sqrt(d2 / s2) : sqrt(d2);
}

#endif
