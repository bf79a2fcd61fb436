/* Sources of gpunb_send to cells, sixteen at a time, for all instruction sets. Needs from simd_*.h what
 * kernel_predict.h names, and vd_components(p, c), the components of SIMD_D vectors in memory. The operations are those
 * of gpunb_split.
 */
#ifndef GPUNB_CPU_KERNEL_PACK_H
#define GPUNB_CPU_KERNEL_PACK_H

#include "gpunb/cpu/cpu.h"

static inline __attribute__((always_inline)) void pack_axis(vd x, vd v, float *high, float *low, float *velocity)
{
    const vd rounded = vd_round(x, 0x10000000, ~(int64_t)0x1fffffff);
    vd_to_floats(high, rounded);
    vd_to_floats(low, x - rounded);
    vd_to_floats(velocity, v);
}

static void pack(const double *mass, const double (*x)[3], const double (*v)[3], struct gpunb_cell *to)
{
    for (int l = 0; l < CPU_CELL; l += SIMD_D) {
        vd place[3], velocity[3];
        vd_components(x[l], place);
        vd_components(v[l], velocity);
        pack_axis(place[0], velocity[0], to->xh + l, to->xl + l, to->vx + l);
        pack_axis(place[1], velocity[1], to->yh + l, to->yl + l, to->vy + l);
        pack_axis(place[2], velocity[2], to->zh + l, to->zl + l, to->vz + l);
    }
    for (int l = 0; l < CPU_CELL; l++) to->m[l] = (float)mass[l];
}

#endif
