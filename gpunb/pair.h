/** One pair in double: the formula that `ref` sums and that the float kernels fall back to. */
#ifndef GPUNB_PAIR_H
#define GPUNB_PAIR_H

#include "gpunb/backend.h"

#include <math.h>

#ifdef __CUDACC__
#define GPUNB_INLINE static __host__ __device__ inline
#else
#define GPUNB_INLINE static inline
#endif

/** Sums on one target: acceleration, jerk, sum of m_j/r_ij. */
struct gpunb_sum {
    double acc[3], jerk[3], pot;
};

/** NA12 eq. 4: min(|R|, |R + dt V|)^2 < w r_nb2. */
GPUNB_INLINE int gpunb_pair_is_neighbour(const double dx[3], const double dv[3], double dt, double limit2)
{
    double r2 = 0.0, r2p = 0.0;
    for (int k = 0; k < 3; k++) {
        double p = dx[k] + dt * dv[k];
        r2 += dx[k] * dx[k];
        r2p += p * p;
    }
    return r2 < limit2 || r2p < limit2;
}

/** NA12 eq. 10, 11: adds m R/R^3 and m [V/R^3 - 3 (R.V) R/R^5]; nothing at zero distance. */
GPUNB_INLINE void gpunb_pair_add(const double dx[3], const double dv[3], double mass, struct gpunb_sum *sum)
{
    double r2 = dx[0] * dx[0] + dx[1] * dx[1] + dx[2] * dx[2];
    if (r2 <= GPUNB_ZERO_R2) return;
    double rv = dx[0] * dv[0] + dx[1] * dv[1] + dx[2] * dv[2];
#ifdef __CUDA_ARCH__
    double rinv = rsqrt(r2), rinv2 = rinv * rinv;
#else
    double rinv = 1.0 / sqrt(r2), rinv2 = 1.0 / r2;
#endif
    double mr3 = mass * rinv * rinv2, alpha = -3.0 * rv * rinv2;
    for (int k = 0; k < 3; k++) {
        sum->acc[k] += mr3 * dx[k];
        sum->jerk[k] += mr3 * (dv[k] + alpha * dx[k]);
    }
    sum->pot += mass * rinv;
}

#endif
