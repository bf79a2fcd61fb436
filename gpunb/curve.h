/** Keys along a Hilbert curve through a cube onto which all of space is mapped, the same on every device. */
#ifndef GPUNB_CURVE_H
#define GPUNB_CURVE_H

#include "common/hd.h"

/** The map from space to the unit cube that the curve is drawn in: u = s/(1 + |s|), s = (x - centre)/scale. */
struct gpunb_map {
    double centre[3];
    double per_scale;
};

enum { GPUNB_CURVE_BITS = 10, GPUNB_CURVE_KEY_BITS = 3 * GPUNB_CURVE_BITS };

/** Place of a cell on the curve, from its coordinates (0 .. 2^GPUNB_CURVE_BITS - 1): after Skilling 2004, the transpose
 * of the Hilbert index, whose bits are then interleaved. */
NBC_HD uint32_t gpunb_hilbert_key(uint32_t x, uint32_t y, uint32_t z)
{
    uint32_t c[3] = {x, y, z};
    for (uint32_t bit = 1u << (GPUNB_CURVE_BITS - 1); bit > 1; bit >>= 1) {
        const uint32_t mask = bit - 1;
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
        for (int k = 0; k < 3; k++) {
            if (c[k] & bit) {
                c[0] ^= mask;
            } else {
                const uint32_t swap = (c[0] ^ c[k]) & mask;
                c[0] ^= swap;
                c[k] ^= swap;
            }
        }
    }
    c[1] ^= c[0];
    c[2] ^= c[1];
    uint32_t flip = 0;
    for (uint32_t bit = 1u << (GPUNB_CURVE_BITS - 1); bit > 1; bit >>= 1)
        if (c[2] & bit) flip ^= bit - 1;
    uint32_t key = 0;
    for (int b = GPUNB_CURVE_BITS - 1; b >= 0; b--)
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
        for (int k = 0; k < 3; k++) key = key << 1 | ((c[k] ^ flip) >> b & 1u);
    return key;
}

NBC_HD uint32_t gpunb_curve_cell(double x, double centre, double per_scale)
{
    const float s = (float)((x - centre) * per_scale);
    /* s/(1 + |s|) from -1 to 1; an infinite s, whose quotient would be NaN, goes to the end. */
    const float u = fabsf(s) < 1e30f ? s / (1.0f + fabsf(s)) : copysignf(1.0f, s);
    const int cells = 1 << GPUNB_CURVE_BITS, cell = (int)((u + 1.0f) * (0.5f * (float)cells));
    return (uint32_t)(cell < 0 ? 0 : cell < cells - 1 ? cell : cells - 1);
}

NBC_HD uint32_t gpunb_curve_key(const double x[3], const struct gpunb_map *map)
{
    return gpunb_hilbert_key(gpunb_curve_cell(x[0], map->centre[0], map->per_scale),
                             gpunb_curve_cell(x[1], map->centre[1], map->per_scale),
                             gpunb_curve_cell(x[2], map->centre[2], map->per_scale));
}

#endif
