/** Keys along a Hilbert curve (common/curve.h) through a cube onto which all of space is mapped, from double positions,
 *  the same on every device; gpunb/cpu/kernel_curve.h has the map from float ones. */
#ifndef GPUNB_CURVE_H
#define GPUNB_CURVE_H

#include "common/curve.h"
#include "common/hd.h"

#include <math.h>
#include <stdint.h>

/** The map from space to the unit cube that the curve is drawn in: u = s/(1 + |s|), s = (x - centre)/scale. */
struct gpunb_map {
    double centre[3];
    double per_scale;
};

enum { GPUNB_CURVE_BITS = NBC_HILBERT_BITS_32, GPUNB_CURVE_KEY_BITS = 3 * GPUNB_CURVE_BITS };

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
    return (uint32_t)nbc_hilbert_key64(gpunb_curve_cell(x[0], map->centre[0], map->per_scale),
                                       gpunb_curve_cell(x[1], map->centre[1], map->per_scale),
                                       gpunb_curve_cell(x[2], map->centre[2], map->per_scale), GPUNB_CURVE_BITS);
}

#endif
