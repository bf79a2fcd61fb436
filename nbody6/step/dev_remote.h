/** Remote pairs on a device (fewbody/pair_remote.h): what they add to forces, and whether their perturbers are still
 *  those that the host has chosen. */
#ifndef NB6_DEV_REMOTE_H
#define NB6_DEV_REMOTE_H

#include "common/hd.h"
#include "nbody6/fewbody/perturber_rule.h"
#include "nbody6/fewbody/remote.h"
#include "nbody6/fewbody/tide_sum.h"
#include "nbody6/state/body.h"
#include "nbody6/step/dev_force.h"
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

/** A remote pair that the last block has moved, as it looks around: in float, but for places, since the host
 * and all stages of a device wait for it. A margin makes sure that the host is asked whenever nb6_pair_select could
 * decide otherwise. */
struct nb6_dev_site {
    double x[3], v[3], dt; /**< of its centre of mass; the next step of that */
    nb6_time t;
    float mass;
    float r2, unit, lightest, light2; /**< as struct nb6_perturber_rule has them */
    float reach, reach_of_mass;       /**< as struct nb6_remote */
};

#define NB6_DEV_LOOK_MARGIN 1e-5f
/** A body within the root of this is near, whatever it is: floats have room for its tide. */
#define NB6_DEV_LOOK_TOUCH2 1e-16f

NBC_HD struct nb6_dev_site nb6_dev_site_of(const struct nb6_dev *dev, int32_t i)
{
    const struct nb6_body *body = &dev->body[i];
    const struct nb6_remote *own = nb6_dev_remote_of(dev, i);
    const struct nb6_perturber_rule *rule = &dev->system[i - dev->first_centre].perturber;
    struct nb6_dev_site site;
    site.r2 = (float)rule->r2;
    site.unit = (float)rule->unit;
    site.lightest = (float)rule->lightest;
    site.light2 = (float)rule->light2;
    site.reach = (float)own->reach;
    site.reach_of_mass = (float)own->reach_of_mass;
    site.mass = (float)body->mass;
    site.dt = nb6_step_length(dev->star[i].level_irr);
    site.t = body->t0;
    for (int d = 0; d < 3; d++) {
        site.x[d] = body->x0[d];
        site.v[d] = body->v0[d];
    }
    return site;
}

/** Another body, as seen from there. */
struct nb6_dev_sight {
    float x[3], v[3], mass;
    float r2, v2, nearest2; /**< the last as nb6_nearest2 says */
};

NBC_HD struct nb6_dev_sight nb6_dev_see(const struct nb6_dev_site *site, const struct nb6_body *other)
{
    struct nb6_dev_sight s;
    double x[3], v[3];
    float then2 = 0;
    nb6_predict(other, nb6_time_to_double(site->t - other->t0), x, v);
    s.mass = (float)other->mass;
    s.r2 = s.v2 = 0;
    for (int d = 0; d < 3; d++) {
        x[d] -= site->x[d];
        v[d] -= site->v[d];
        const float then = (float)(x[d] + site->dt * v[d]);
        s.x[d] = (float)x[d];
        s.v[d] = (float)v[d];
        s.r2 += s.x[d] * s.x[d];
        s.v2 += s.v[d] * s.v[d];
        then2 += then * then;
    }
    s.nearest2 = fminf(s.r2, then2);
    return s;
}

/** As nb6_perturber_limit2. */
NBC_HD float nb6_dev_limit2_of(const struct nb6_dev_site *site, float mass)
{
    const float limit = cbrtf(site->unit * mass);
    return mass > site->lightest ? limit * (limit * site->r2) : site->light2;
}

/** As nb6_mean_radius. */
NBC_HD float nb6_dev_mean_radius(const struct nb6_mean_rule *rule, float mass, float v)
{
    const float near = (float)rule->apocentres * cbrtf(1 + mass / (float)rule->mass);
    return fmaxf(fmaxf(near, (float)rule->periods * v), cbrtf(mass * (float)rule->waves));
}

/** As nb6_may_be_hierarchy. */
NBC_HD int nb6_dev_may_be_hierarchy(const struct nb6_dev_site *site, const struct nb6_dev_sight *s)
{
    const float more = 1 + NB6_DEV_LOOK_MARGIN, mass = site->mass + s->mass;
    const float wide = fmaxf(site->reach, site->reach_of_mass * mass) * more;
    return s->nearest2 < wide * wide && s->v2 * sqrtf(s->r2) < (float)nb6_hierarchy_bound() * mass * more;
}

/** What a lane has found at the neighbours of a remote pair. */
struct nb6_dev_look {
    int is_found;                 /**< 1: the host has to choose perturbers, or the pair is not as remote any more */
    int hits;                     /**< perturbers that were met */
    float field[6], field_dot[6]; /**< tide of the others */
};

NBC_HD void nb6_dev_clear_look(struct nb6_dev_look *look)
{
    look->is_found = look->hits = 0;
    for (int k = 0; k < 6; k++) look->field[k] = look->field_dot[k] = 0;
}

/** As nb6_add_tide. */
NBC_HD void nb6_dev_add_tide(const struct nb6_dev_sight *s, struct nb6_dev_look *look)
{
    const float rinv = nbc_inverse_root(s->r2), inv2 = rinv * rinv, w = s->mass * rinv * inv2;
    const float xv = (s->x[0] * s->v[0] + s->x[1] * s->v[1] + s->x[2] * s->v[2]) * inv2;
    for (int a = 0, k = 0; a < 3; a++)
        for (int b = a; b < 3; b++, k++) {
            const float xx = s->x[a] * s->x[b] * inv2, turn = (s->x[a] * s->v[b] + s->v[a] * s->x[b]) * inv2;
            const float one = a == b ? 1.0f : 0.0f;
            look->field[k] += w * (3 * xx - one);
            look->field_dot[k] += 3 * w * (turn - xv * (5 * xx - one));
        }
}

/** A neighbour that is no perturber: whether it may become one, or is near; its tide. */
NBC_HD void nb6_dev_look_at(const struct nb6_dev_site *site, const struct nb6_body *other, struct nb6_dev_look *look)
{
    const struct nb6_dev_sight s = nb6_dev_see(site, other);
    const int is_apart = s.r2 > NB6_DEV_LOOK_TOUCH2; /* NaN is not */
    const float limit2 = nb6_dev_limit2_of(site, s.mass) * (1 + NB6_DEV_LOOK_MARGIN);
    look->is_found |= !is_apart || s.nearest2 < limit2 || nb6_dev_may_be_hierarchy(site, &s);
    if (is_apart) nb6_dev_add_tide(&s, look);
}

/** Whether a perturber may be none any more, or is near.
 *  @param[in] own, remote  of the pair, and of the perturber; NULL: it is a star */
NBC_HD int nb6_dev_has_changed(const struct nb6_dev_site *site, const struct nb6_remote *own,
                               const struct nb6_body *other, const struct nb6_remote *remote)
{
    const struct nb6_dev_sight s = nb6_dev_see(site, other);
    const float v = sqrtf(s.v2), less = 1 - NB6_DEV_LOOK_MARGIN, more = 1 + NB6_DEV_LOOK_MARGIN;
    const float let_go2 = (float)nb6_let_go2(1) * nb6_dev_limit2_of(site, s.mass);
    float r = nb6_dev_mean_radius(&own->mean, s.mass, v);
    if (remote) r = fmaxf(r, nb6_dev_mean_radius(&remote->mean, site->mass, v));
    r *= (float)nb6_all_mean() * more;
    return !(s.nearest2 > r * r) || s.nearest2 >= let_go2 * less || nb6_dev_may_be_hierarchy(site, &s);
}

/** The look of one lane, at every 32nd neighbour of a remote pair that the last block has moved, and at one of its
 *  perturbers, as the emulation makes it; on a device a squad of warps does (device_remote.cuh). */
NBC_HD void nb6_dev_remote_lane(const struct nb6_dev *dev, int32_t i, int lane, struct nb6_dev_look *look)
{
    const struct nb6_dev_site site = nb6_dev_site_of(dev, i);
    const struct nb6_remote *own = nb6_dev_remote_of(dev, i);
    const int32_t *list = nb6_dev_list(dev, i);
    nb6_dev_clear_look(look);
    for (int32_t k = lane; k < dev->star[i].nnb; k += NB6_DEV_LANES) {
        if (nb6_remote_resolves(own, list[k]))
            look->hits++;
        else
            nb6_dev_look_at(&site, &dev->body[list[k]], look);
    }
    if (lane >= own->n) return;
    const int32_t j = own->body[lane];
    look->is_found |= j < 0 || nb6_dev_has_changed(&site, own, &dev->body[j], nb6_dev_remote_of(dev, j));
}

/** Whether the last block, which has moved a body, has ended its regular step. */
NBC_HD int nb6_dev_has_new_list(const struct nb6_dev *dev, int32_t i)
{
    return dev->star[i].t0_reg == dev->body[i].t0;
}

/** Whether what all lanes have found leaves anything for the host. */
NBC_HD int nb6_dev_remote_has_found(const struct nb6_dev *dev, int32_t i, int is_found, int hits)
{
    const struct nb6_remote *own = nb6_dev_remote_of(dev, i);
    const struct nb6_star *star = &dev->star[i];
    if (is_found || hits != own->n) return 1;
    return nb6_dev_has_new_list(dev, i) && nb6_strongest_outside(dev->rules.mass, (double)dev->n, star->acc_reg,
                                                                 star->r_nb, star->nnb) > own->far_limit;
}

#endif
