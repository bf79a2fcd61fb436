/* The prediction kernel, in double: one source for all instruction sets. From simd_*.h:
 *   SIMD_D           doubles in a vector
 *   vd, vdm          vector of doubles; mask of its lanes
 *   vd_load, vd_set1
 *   vd_round(a, half, kept)     the bits of a, plus half, without those that are not kept
 *   vd_to_floats(p, a)          rounded to the nearest float
 *   vdm_or_above(m, a, limit)   m, or |a| > limit, or a is NaN;  vdm_any(m)
 * The operations are those of gpunb_jp_at (common/predictor.h) and gpunb_split in the same order, none of them fused:
 * the bits are those of gpunb_send for the same predicted numbers, on every processor. */
#ifndef GPUNB_CPU_KERNEL_PREDICT_H
#define GPUNB_CPU_KERNEL_PREDICT_H

#include "common/predictor.h"
#include "gpunb/cpu/cpu.h"

/* Lanes at `l` of a coordinate of a cell.   @return `bad` and the lanes that gpunb_send would not take */
static inline __attribute__((always_inline)) vdm predict_axis(const struct gpunb_jp_cell *from, int k, int l, vd s,
                                                              float *high, float *low, float *v, vdm bad)
{
    const vd limit = vd_set1(GPUNB_LIMIT);
    const vd x0 = vd_load(from->row[JP_X + k] + l), v0 = vd_load(from->row[JP_V + k] + l);
    const vd acc = vd_load(from->row[JP_ACC + k] + l), jerk = vd_load(from->row[JP_JERK + k] + l);
    const vd x = NBC_PREDICT_PLACES(s, x0, v0, acc, jerk);
    const vd velocity = NBC_PREDICT_VELOCITIES(s, v0, acc, jerk);
    const vd rounded = vd_round(x, 0x10000000, ~(int64_t)0x1fffffff);
    vd_to_floats(high + l, rounded);
    vd_to_floats(low + l, x - rounded);
    vd_to_floats(v + l, velocity);
    return vdm_or_above(vdm_or_above(bad, x, limit), velocity, limit);
}

static int predict(const struct gpunb_jp_cell *from, double t, struct gpunb_cell *to)
{
    vdm bad = {0};
    for (int l = 0; l < CPU_CELL; l += SIMD_D) {
        const vd s = vd_set1(t) - vd_load(from->row[JP_T0] + l);
        bad = predict_axis(from, 0, l, s, to->xh, to->xl, to->vx, bad);
        bad = predict_axis(from, 1, l, s, to->yh, to->yl, to->vy, bad);
        bad = predict_axis(from, 2, l, s, to->zh, to->zl, to->vz, bad);
    }
    memcpy(to->m, from->m, sizeof to->m);
    return !vdm_any(bad);
}

#endif
