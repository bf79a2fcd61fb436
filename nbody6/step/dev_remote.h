/** Remote pairs on a device (fewbody/pair_remote.h): what they add to forces, and whether their perturbers are still
 *  those that the host has chosen. */
#ifndef NB6_DEV_REMOTE_H
#define NB6_DEV_REMOTE_H

#include "common/hd.h"
#include "nbody6/fewbody/perturber_rule.h"
#include "nbody6/fewbody/remote.h"
#include "nbody6/fewbody/tide_sum.h"
#include "nbody6/state/body.h"
#include "nbody6/step/dev_state.h"

#include <math.h>
#include <stdint.h>

/** What is known of a centre of mass; NULL: the body is a star. */
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

/** Add what body j, as `other` says, adds to the force on body i, seen as `own`: every 32nd term.
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

/** The share of a lane in what its own perturbers add to the force on a centre of mass. */
NBC_HD void nb6_dev_add_perturbers(const struct nb6_dev *dev, const struct nb6_dev_point *point, int32_t i, int lane,
                                   double sum[6])
{
    const struct nb6_remote *own = nb6_dev_remote_of(dev, i);
    for (int k = 0; own && k < own->n; k++)
        nb6_dev_add_remote(dev, point, own, own->body[k],
                           own->mutual >> k & 1 ? nb6_dev_remote_of(dev, own->body[k]) : 0, lane, sum);
}

/** What they and others add, where the corrections of watched members are. */
NBC_HD void nb6_dev_set_correction(const struct nb6_dev *dev, int32_t i, const double sum[6])
{
    struct nb6_dev_correction *c = &dev->correction[i];
    for (int k = 0; k < 3; k++) {
        c->acc[k] = sum[k];
        c->jerk[k] = sum[3 + k];
    }
    c->longest = INFINITY;
    c->radius = 0; /* that of the system counts */
}

/* ---- perturbers ---- */

/** What a lane, or all, have found at the neighbours of a remote pair. */
struct nb6_dev_look {
    int is_found;                  /**< 1: the host has to choose perturbers, or the pair is not as remote any more */
    int hits;                      /**< perturbers that were met */
    double field[6], field_dot[6]; /**< tide of the others */
};

/** As nb6_pair_select says: whether it would find other perturbers, or that somebody is near.
 *  @param[in] nearest2, r2, v2  as for nb6_may_be_hierarchy */
NBC_HD int nb6_dev_is_other(const struct nb6_dev *dev, int32_t i, int32_t j, int is_perturber, double nearest2,
                            double r2, double v2)
{
    const double ROUNDING = 1e-9;
    const struct nb6_remote *own = nb6_dev_remote_of(dev, i), *other = nb6_dev_remote_of(dev, j);
    const double m_own = dev->body[i].mass, m = dev->body[j].mass;
    const double limit2 = nb6_perturber_limit2(&dev->system[i - dev->first_centre].perturber, m);
    if (nb6_may_be_hierarchy(own->reach, own->reach_of_mass, m_own + m, nearest2 * (1 - ROUNDING), r2, v2)) return 1;
    if (!is_perturber) return nearest2 < limit2 * (1 + ROUNDING);
    double r = nb6_mean_radius(&own->mean, m, sqrt(v2));
    if (other) r = fmax(r, nb6_mean_radius(&other->mean, m_own, sqrt(v2)));
    r *= nb6_all_mean();
    return !(nearest2 > r * r * (1 + ROUNDING)) || nearest2 >= nb6_let_go2(limit2) * (1 - ROUNDING);
}

/** The look of one lane, at every 32nd neighbour of a remote pair, whose time the block time is. */
NBC_HD void nb6_dev_remote_lane(const struct nb6_dev *dev, int32_t i, int lane, struct nb6_dev_look *look)
{
    const struct nb6_body *body = &dev->body[i];
    const int32_t *list = nb6_dev_list(dev, i);
    const double dt = nb6_step_length(dev->level[i]);
    look->is_found = look->hits = 0;
    for (int k = 0; k < 6; k++) look->field[k] = look->field_dot[k] = 0;
    for (int32_t k = lane; k < dev->star[i].nnb; k += NB6_DEV_LANES) {
        const struct nb6_body *other = &dev->body[list[k]];
        const int is_perturber = nb6_remote_resolves(nb6_dev_remote_of(dev, i), list[k]);
        double x[3], v[3], r2 = 0, v2 = 0;
        nb6_predict(other, nb6_time_to_double(dev->control->t - other->t0), x, v);
        for (int d = 0; d < 3; d++) {
            x[d] -= body->x0[d];
            v[d] -= body->v0[d];
            r2 += x[d] * x[d];
            v2 += v[d] * v[d];
        }
        look->hits += is_perturber;
        look->is_found |= nb6_dev_is_other(dev, i, list[k], is_perturber, nb6_nearest2(x, v, dt), r2, v2);
        if (!is_perturber && r2 > 0) nb6_add_tide(other->mass, x, v, look->field, look->field_dot);
    }
}

/** Whether the block has ended a regular step of a body. */
NBC_HD int nb6_dev_has_new_list(const struct nb6_dev *dev, int32_t i)
{
    return dev->star[i].t0_reg == dev->control->t;
}

/** Whether that of all lanes leaves anything for the host. */
NBC_HD int nb6_dev_remote_has_found(const struct nb6_dev *dev, int32_t i, const struct nb6_dev_look *look)
{
    const struct nb6_remote *own = nb6_dev_remote_of(dev, i);
    const struct nb6_star *star = &dev->star[i];
    if (look->is_found || look->hits != own->n) return 1;
    return nb6_dev_has_new_list(dev, i) && nb6_strongest_outside(dev->rules.mass, (double)dev->n, star->acc_reg,
                                                                 star->r_nb, star->nnb) > own->far_limit;
}

#endif
