/* The potential kernel, in double: one source for all instruction sets. From simd_*.h:
 *   SIMD_D           doubles in a vector
 *   vd               vector of doubles
 *   vd_load, vd_set1, vd_fma (a*b + c)
 *   vd_rsqrt_above(r2, limit)   1/sqrt(r2) with a relative error below 1e-11, 0 where r2 <= limit */
#ifndef GPUNB_CPU_KERNEL_POT_H
#define GPUNB_CPU_KERNEL_POT_H

#include "gpunb/cpu/cpu.h"

#include <string.h>

enum { POT_BLOCK = 4 };

static inline __attribute__((always_inline)) void pot_targets(const struct gpunb_cpu_pot *job, size_t first,
                                                              const int N)
{
    vd x[POT_BLOCK], y[POT_BLOCK], z[POT_BLOCK], sum[POT_BLOCK];
    const vd limit = vd_set1(GPUNB_ZERO_R2);
    for (int b = 0; b < N; b++) {
        size_t i = job->i_first + first + (size_t)b;
        x[b] = vd_set1(job->x[i]);
        y[b] = vd_set1(job->y[i]);
        z[b] = vd_set1(job->z[i]);
        sum[b] = vd_set1(0.0);
    }
    for (size_t j = 0; j < job->n_padded; j += SIMD_D) {
        const vd xj = vd_load(job->x + j), yj = vd_load(job->y + j), zj = vd_load(job->z + j), m = vd_load(job->m + j);
#pragma GCC unroll 4
        for (int b = 0; b < N; b++) {
            vd dx = xj - x[b], dy = yj - y[b], dz = zj - z[b];
            vd r2 = vd_fma(dz, dz, vd_fma(dy, dy, dx * dx));
            sum[b] = vd_fma(m, vd_rsqrt_above(r2, limit), sum[b]);
        }
    }
    for (int b = 0; b < N; b++) {
        double lanes[SIMD_D];
        memcpy(lanes, &sum[b], sizeof lanes);
        for (int half = SIMD_D / 2; half > 0; half /= 2)
            for (int l = 0; l < half; l++) lanes[l] += lanes[l + half];
        job->pot[first + (size_t)b] = -lanes[0];
    }
}

static void potential(const struct gpunb_cpu_pot *job)
{
    size_t first = 0;
    for (; first + POT_BLOCK <= job->n_i; first += POT_BLOCK) pot_targets(job, first, POT_BLOCK);
    for (; first < job->n_i; first++) pot_targets(job, first, 1);
}

#endif
