/* Places of sources along a curve through all of space, sixteen at a time: plain loops, of which the compiler makes
 * vectors. */
#ifndef GPUNB_CPU_KERNEL_CURVE_H
#define GPUNB_CPU_KERNEL_CURVE_H

#include "gpunb/cpu/cpu.h"

#include <math.h>

/* s/(1 + |s|) goes from -1 to 1; numbers that are too large go to the ends. */
static inline void find_cubes(const float *x, float centre, const struct gpunb_curve *curve, uint32_t *cube)
{
    const float per_scale = curve->per_scale, half_cubes = curve->half_cubes;
    for (int l = 0; l < CPU_CELL; l++) {
        const float s = (x[l] - centre) * per_scale, low = s < 1e6f ? s : 1e6f, bounded = low > -1e6f ? low : -1e6f;
        cube[l] = (uint32_t)(int32_t)((bounded / (1.0f + fabsf(bounded)) + 1.0f) * half_cubes);
    }
}

/* All bits where this one is set. */
static inline uint32_t where(uint32_t cube, int bit)
{
    return 0u - (cube >> bit & 1u);
}

/* Ten bits, three places apart. */
static inline uint32_t spread(uint32_t bits)
{
    bits = (bits | bits << 16) & 0x030000ffu;
    bits = (bits | bits << 8) & 0x0300f00fu;
    bits = (bits | bits << 4) & 0x030c30c3u;
    return (bits | bits << 2) & 0x09249249u;
}

/* Hilbert's curve, after Skilling 2004. */
static void curve(const struct gpunb_cell *cell, const struct gpunb_curve *curve, uint32_t *place)
{
    uint32_t x[CPU_CELL], y[CPU_CELL], z[CPU_CELL], flip[CPU_CELL] = {0};
    const int bits = curve->bits;
    find_cubes(cell->xh, curve->centre[0], curve, x);
    find_cubes(cell->yh, curve->centre[1], curve, y);
    find_cubes(cell->zh, curve->centre[2], curve, z);
    for (int bit = bits - 1; bit > 0; bit--) {
        const uint32_t below = (1u << bit) - 1;
        for (int l = 0; l < CPU_CELL; l++) {
            uint32_t a = x[l] ^ (where(x[l], bit) & below);
            const uint32_t in_y = where(y[l], bit), swap_y = (a ^ y[l]) & below & ~in_y;
            a ^= swap_y | (in_y & below);
            y[l] ^= swap_y;
            const uint32_t in_z = where(z[l], bit), swap_z = (a ^ z[l]) & below & ~in_z;
            x[l] = a ^ (swap_z | (in_z & below));
            z[l] ^= swap_z;
        }
    }
    for (int l = 0; l < CPU_CELL; l++) {
        y[l] ^= x[l];
        z[l] ^= y[l];
    }
    for (int bit = bits - 1; bit > 0; bit--)
        for (int l = 0; l < CPU_CELL; l++) flip[l] ^= where(z[l], bit) & ((1u << bit) - 1);
    for (int l = 0; l < CPU_CELL; l++)
        place[l] = spread(x[l] ^ flip[l]) << 2 | spread(y[l] ^ flip[l]) << 1 | spread(z[l] ^ flip[l]);
}

#endif
