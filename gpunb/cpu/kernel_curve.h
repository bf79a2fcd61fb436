/* Places of sources along a curve through all of space, sixteen at a time: plain loops, of which the compiler makes
 * vectors. */
#ifndef GPUNB_CPU_KERNEL_CURVE_H
#define GPUNB_CPU_KERNEL_CURVE_H

#include "common/curve.h"
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

/* The steps of nbc_hilbert_key64 for up to NBC_HILBERT_BITS_32 bits, each for all lanes. */
static void curve(const struct gpunb_cell *cell, const struct gpunb_curve *curve, uint32_t *place)
{
    uint32_t x[CPU_CELL], y[CPU_CELL], z[CPU_CELL];
    find_cubes(cell->xh, curve->centre[0], curve, x);
    find_cubes(cell->yh, curve->centre[1], curve, y);
    find_cubes(cell->zh, curve->centre[2], curve, z);
    for (int bit = curve->bits - 1; bit > 0; bit--)
        for (int l = 0; l < CPU_CELL; l++) nbc_hilbert_turn(&x[l], &y[l], &z[l], bit);
    for (int l = 0; l < CPU_CELL; l++) {
        nbc_hilbert_decode(&x[l], &y[l], &z[l]);
        place[l] = nbc_hilbert_join32(x[l], y[l], z[l]);
    }
}

#endif
