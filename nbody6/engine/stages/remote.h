/** Remote pairs on a device (fewbody/pairs/remote.h): their contribution to forces, and whether their perturbers are
 *  still those that the host has selected. */
#ifndef NB6_STAGES_REMOTE_H
#define NB6_STAGES_REMOTE_H

#include "common/hd.h"
#include "nbody6/engine/stages/force.h"
#include "nbody6/engine/stages/state.h"
#include "nbody6/fewbody/pairs/remote_look.h"
#include "nbody6/fewbody/remote.h"
#include "nbody6/fewbody/tide_sum.h"
#include "nbody6/state/body.h"

#include <math.h>
#include <stdint.h>

/** The record of the system of a centre of mass; NULL: the body is a star. */
NBC_HD const struct nb6_remote *nb6_dev_remote_of(const struct nb6_dev *dev, int32_t i)
{
    return i < dev->first_centre ? 0 : &dev->remote[i - dev->first_centre];
}

/* ---- forces ---- */

/** Whether the remote pair with centre q resolves body i, unless it is one of the perturbers of i itself. */
NBC_HD int nb6_dev_is_resolver(const struct nb6_dev *dev, int32_t q, int32_t i)
{
    const struct nb6_remote *pair = nb6_dev_remote_of(dev, q), *own = nb6_dev_remote_of(dev, i);
    if (!pair || q == i || !nb6_remote_resolves(pair, i)) return 0;
    return !own || !nb6_remote_resolves(own, q);
}

/** Add the contribution of body j, a system with record `other`, to the force on body i with record `own`: every 32nd
 *  term.
 *  @param[in] point  body i at the block time */
NBC_HD void nb6_dev_add_remote(const struct nb6_dev *dev, const struct nb6_dev_point *point,
                               const struct nb6_remote *own, int32_t j, const struct nb6_remote *other, int lane,
                               double sum[6])
{
    const struct nb6_body *body = &dev->body[j];
    double x[3], v[3];
    nb6_predict(body, nb6_time_to_double(dev->control->t - body->t0), x, v);
    for (int k = 0; k < 3; k++) {
        x[k] -= point->x[k];
        v[k] -= point->v[k];
    }
    nb6_remote_force(own, other, body->mass, x, v, lane, NB6_DEV_LANES, sum);
}

/** Contribution of its own perturbers to the force on a centre of mass: the part of one lane. */
NBC_HD void nb6_dev_add_perturbers(const struct nb6_dev *dev, const struct nb6_dev_point *point, int32_t i, int lane,
                                   double sum[6])
{
    const struct nb6_remote *own = nb6_dev_remote_of(dev, i);
    for (int k = 0; own && k < own->n; k++)
        nb6_dev_add_remote(dev, point, own, own->body[k],
                           own->mutual >> k & 1 ? nb6_dev_remote_of(dev, own->body[k]) : 0, lane, sum);
}

/** Set the correction of a body to the contribution of remote pairs, where watched members have theirs. */
NBC_HD void nb6_dev_set_correction(const struct nb6_dev *dev, int32_t i, const double sum[6])
{
    struct nb6_dev_correction *c = &dev->correction[i];
    for (int k = 0; k < 3; k++) {
        c->acc[k] = sum[k];
        c->jerk[k] = sum[3 + k];
    }
    c->longest = INFINITY;
    c->radius = 0; /* the limit by the system applies */
}

/* ---- perturbers ---- */

/** Remote pair i, which the last block has moved. */
NBC_HD struct nb6_remote_site nb6_dev_site_of(const struct nb6_dev *dev, int32_t i)
{
    return nb6_remote_site_of(&dev->body[i], nb6_dev_remote_of(dev, i), &dev->system[i - dev->first_centre].perturber,
                              nb6_step_length(dev->star[i].level_irr));
}

/** The test of one lane for a remote pair that the last block has moved: every 32nd neighbour, and one of its
 *  perturbers. This is the form of the emulation; on a device a squad of warps does it (cuda/remote.cuh). */
NBC_HD void nb6_dev_remote_lane(const struct nb6_dev *dev, int32_t i, int lane, struct nb6_remote_look *look)
{
    const struct nb6_remote_site site = nb6_dev_site_of(dev, i);
    const struct nb6_remote *own = nb6_dev_remote_of(dev, i);
    const int32_t *list = nb6_dev_list(dev, i);
    nb6_remote_look_clear(look);
    for (int32_t k = lane; k < dev->star[i].nnb; k += NB6_DEV_LANES) {
        if (nb6_remote_resolves(own, list[k]))
            look->hits++;
        else
            nb6_remote_look_at(&site, &dev->body[list[k]], look);
    }
    if (lane >= own->n) return;
    const int32_t j = own->body[lane];
    look->is_found |= j < 0 || nb6_remote_has_changed(&site, own, &dev->body[j], nb6_dev_remote_of(dev, j));
}

/** Whether the last block, of which a body was a member, has ended its regular step. */
NBC_HD int nb6_dev_has_new_list(const struct nb6_dev *dev, int32_t i)
{
    return dev->star[i].t0_reg == dev->body[i].t0;
}

/** Whether the results of all lanes need the host. */
NBC_HD int nb6_dev_remote_has_found(const struct nb6_dev *dev, int32_t i, int is_found, int hits)
{
    const struct nb6_remote *own = nb6_dev_remote_of(dev, i);
    const struct nb6_star *star = &dev->star[i];
    if (is_found || hits != own->n) return 1;
    return nb6_dev_has_new_list(dev, i) && nb6_strongest_outside(dev->rules.mass, (double)dev->n, star->acc_reg,
                                                                 star->r_nb, star->nnb) > own->far_limit;
}

#endif
