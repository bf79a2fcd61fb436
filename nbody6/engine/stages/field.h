/** The field of single stars at points in space, on a device: sums in double by slices of the stars, in any order; then
 *  the slices in theirs. */
#ifndef NB6_STAGES_FIELD_H
#define NB6_STAGES_FIELD_H

#include "common/hd.h"
#include "nbody6/engine/stages/edit.h"
#include "nbody6/engine/stages/state.h"

#include <math.h>
#include <stdint.h>

/** Acceleration, and the potential as the fourth number. */
enum { NB6_DEV_FIELD_SLICES = 64, NB6_DEV_FIELD_SUMS = 4 };

/** The stars of a slice: first, ..., end - 1. */
NBC_HD void nb6_dev_field_slice(const struct nb6_dev *dev, int64_t slice, int64_t *first, int64_t *end)
{
    *first = dev->first_centre * slice / NB6_DEV_FIELD_SLICES;
    *end = dev->first_centre * (slice + 1) / NB6_DEV_FIELD_SLICES;
}

/** A star at the very place of a point does not act on it. */
NBC_HD void nb6_dev_add_to_field(const struct nb6_dev_mass *by, const double x[3], double sum[NB6_DEV_FIELD_SUMS])
{
    double d[3], r2 = 0;
    for (int k = 0; k < 3; k++) {
        d[k] = by->x[k] - x[k];
        r2 += d[k] * d[k];
    }
    if (!(r2 > 0)) return;
    const double over_r = by->m / sqrt(r2), over_r3 = over_r / r2;
    for (int k = 0; k < 3; k++) sum[k] += over_r3 * d[k];
    sum[3] -= over_r;
}

#endif
