/** Keys along a Hilbert curve (common/curve.h) through a cube onto which all of space is mapped: from double positions,
 *  where gpunb/cpu/kernel_curve.h has the same map from float ones. */
#ifndef GPUNB_CUDA_CURVE_CUH
#define GPUNB_CUDA_CURVE_CUH

#include "common/curve.h"
#include "gpunb/cuda/kernels.h"

enum { CURVE_BITS = NBC_HILBERT_BITS_32, CURVE_KEY_BITS = 3 * CURVE_BITS };

static __device__ inline uint32_t curve_cell(double x, double centre, double per_scale)
{
    const float s = (float)((x - centre) * per_scale);
    /* s/(1 + |s|) from -1 to 1; an infinite s, whose quotient would be NaN, goes to the end. */
    const float u = fabsf(s) < 1e30f ? s / (1.0f + fabsf(s)) : copysignf(1.0f, s);
    const int cells = 1 << CURVE_BITS, cell = (int)((u + 1.0f) * (0.5f * (float)cells));
    return (uint32_t)max(0, min(cell, cells - 1));
}

static __device__ inline uint32_t curve_key(const double x[3], const struct cuda_map &map)
{
    return nbc_hilbert_key32(curve_cell(x[0], map.centre[0], map.per_scale),
                             curve_cell(x[1], map.centre[1], map.per_scale),
                             curve_cell(x[2], map.centre[2], map.per_scale), CURVE_BITS);
}

#endif
