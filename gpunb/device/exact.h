/** Pairs in double at the end of a piece (struct device_finish), on a device. */
#ifndef GPUNB_DEVICE_EXACT_H
#define GPUNB_DEVICE_EXACT_H

#include "gpunb/device/kernels.h"
#include "gpunb/pair.h"

/** A target: position and velocity as the force kernel has them. */
struct device_exact {
    double x[3], v[3], dt, r_nb2;
    int i, self; /**< its number; its own source on this device, -1: none */
};

NBC_HD struct device_exact gpunb_exact_target(const struct device_force *f, int place)
{
    struct device_exact t;
    const int at = f->first + place, i = f->order ? f->order[at] : at, self = f->targets.self[i];
    t.i = i;
    t.self = self >= f->j_first ? self - f->j_first : -1;
    for (int k = 0; k < 3; k++) {
        t.x[k] = f->twofloat ? f->targets.x[i][k] : (double)nbc_rounded(f->targets.x[i][k]);
        t.v[k] = (double)nbc_rounded(f->targets.v[i][k]);
    }
    t.dt = f->targets.dt[i];
    t.r_nb2 = f->targets.r_nb2[i];
    return t;
}

/** Source j on the target (NA12 eq. 4, 10, 11): it is a neighbour, or it acts on the target.
 *  @return whether it is a neighbour */
NBC_HD int gpunb_exact_pair(const struct device_finish *a, const struct device_exact *t, int j, struct gpunb_sum *sum)
{
    const struct device_source *s = &a->sources[j];
    double dx[3], dv[3];
    if (j == t->self) return 0;
    for (int k = 0; k < 3; k++) {
        dx[k] = (a->force.twofloat ? s->x[k] : (double)nbc_rounded(s->x[k])) - t->x[k];
        dv[k] = (double)s->v[k] - t->v[k];
    }
    if (gpunb_pair_is_neighbour(dx, dv, t->dt, a->force.weighted ? (double)s->m * t->r_nb2 : t->r_nb2)) return 1;
    gpunb_pair_add(dx, dv, (double)s->m, sum);
    return 0;
}

/** Add a partial sum of the force kernel.   @param[in] from [DEVICE_SUMS] */
NBC_HD void gpunb_add_partial(const double *from, struct gpunb_sum *sum)
{
    for (int k = 0; k < 3; k++) {
        sum->acc[k] += from[k];
        sum->jerk[k] += from[3 + k];
    }
    sum->pot += from[6];
}

#endif
