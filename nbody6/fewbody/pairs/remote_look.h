/** The check of bodies around a remote pair by an engine with an engine image (remote.h): in float, except for
 *  positions, since the host and all stages of a block wait for it. A margin ensures that the host service is called
 *  whenever nb6_pair_select could decide otherwise. */
#ifndef NB6_PAIRS_REMOTE_LOOK_H
#define NB6_PAIRS_REMOTE_LOOK_H

#include "common/hd.h"
#include "nbody6/fewbody/perturber_rule.h"
#include "nbody6/fewbody/remote.h"
#include "nbody6/state/body.h"

#include <math.h>
#include <stdint.h>

/** Data of a remote pair in the last block for the check of its neighbours. */
struct nb6_remote_site {
    double x[3], v[3], dt; /**< of its centre of mass; the next step of that */
    nb6_time t;
    float mass;
    float r2, unit, lightest, light2; /**< as struct nb6_perturber_rule has them */
    float reach, reach_of_mass;       /**< as struct nb6_remote */
};

#define NB6_REMOTE_LOOK_MARGIN 1e-5f
/** A body within the root of this is near, whatever its mass: floats can hold its tide. */
#define NB6_REMOTE_LOOK_TOUCH2 1e-16f

/** @param[in] body  the centre of mass of the pair   @param[in] dt  its next step */
NBC_HD struct nb6_remote_site nb6_remote_site_of(const struct nb6_body *body, const struct nb6_remote *pair,
                                                 const struct nb6_perturber_rule *rule, double dt)
{
    struct nb6_remote_site site;
    site.r2 = (float)rule->r2;
    site.unit = (float)rule->unit;
    site.lightest = (float)rule->lightest;
    site.light2 = (float)rule->light2;
    site.reach = (float)pair->reach;
    site.reach_of_mass = (float)pair->reach_of_mass;
    site.mass = (float)body->mass;
    site.dt = dt;
    site.t = body->t0;
    for (int d = 0; d < 3; d++) {
        site.x[d] = body->x0[d];
        site.v[d] = body->v0[d];
    }
    return site;
}

/** Another body, as seen from there. */
struct nb6_remote_sight {
    float x[3], v[3], mass;
    float r2, v2, nearest2; /**< the last by nb6_nearest2 */
};

NBC_HD struct nb6_remote_sight nb6_remote_see(const struct nb6_remote_site *site, const struct nb6_body *other)
{
    struct nb6_remote_sight s;
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
NBC_HD float nb6_remote_limit2(const struct nb6_remote_site *site, float mass)
{
    const float limit = cbrtf(site->unit * mass);
    return mass > site->lightest ? limit * (limit * site->r2) : site->light2;
}

/** As nb6_mean_radius. */
NBC_HD float nb6_remote_mean_radius(const struct nb6_mean_rule *rule, float mass, float v)
{
    const float near = (float)rule->apocentres * cbrtf(1 + mass / (float)rule->mass);
    return fmaxf(fmaxf(near, (float)rule->periods * v), cbrtf(mass * (float)rule->waves));
}

/** As nb6_may_be_hierarchy. */
NBC_HD int nb6_remote_may_be_hierarchy(const struct nb6_remote_site *site, const struct nb6_remote_sight *s)
{
    const float more = 1 + NB6_REMOTE_LOOK_MARGIN, mass = site->mass + s->mass;
    const float wide = fmaxf(site->reach, site->reach_of_mass * mass) * more;
    return s->nearest2 < wide * wide && s->v2 * sqrtf(s->r2) < (float)nb6_hierarchy_bound() * mass * more;
}

/** Results of a lane for the neighbours of a remote pair. */
struct nb6_remote_look {
    int is_found;                 /**< 1: the host has to choose perturbers, or the pair is not as remote any more */
    int hits;                     /**< perturbers that were met */
    float field[6], field_dot[6]; /**< tide of the others */
};

NBC_HD void nb6_remote_look_clear(struct nb6_remote_look *look)
{
    look->is_found = look->hits = 0;
    for (int k = 0; k < 6; k++) look->field[k] = look->field_dot[k] = 0;
}

/** As nb6_add_tide. */
NBC_HD void nb6_remote_look_add_tide(const struct nb6_remote_sight *s, struct nb6_remote_look *look)
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
NBC_HD void nb6_remote_look_at(const struct nb6_remote_site *site, const struct nb6_body *other,
                               struct nb6_remote_look *look)
{
    const struct nb6_remote_sight s = nb6_remote_see(site, other);
    const int is_apart = s.r2 > NB6_REMOTE_LOOK_TOUCH2; /* NaN is not */
    const float limit2 = nb6_remote_limit2(site, s.mass) * (1 + NB6_REMOTE_LOOK_MARGIN);
    look->is_found |= !is_apart || s.nearest2 < limit2 || nb6_remote_may_be_hierarchy(site, &s);
    if (is_apart) nb6_remote_look_add_tide(&s, look);
}

/** Whether a perturber may be none any more, or is near.
 *  @param[in] own, remote  of the pair, and of the perturber; NULL: it is a star */
NBC_HD int nb6_remote_has_changed(const struct nb6_remote_site *site, const struct nb6_remote *own,
                                  const struct nb6_body *other, const struct nb6_remote *remote)
{
    const struct nb6_remote_sight s = nb6_remote_see(site, other);
    const float v = sqrtf(s.v2), less = 1 - NB6_REMOTE_LOOK_MARGIN, more = 1 + NB6_REMOTE_LOOK_MARGIN;
    const float let_go2 = (float)nb6_let_go2(1) * nb6_remote_limit2(site, s.mass);
    float r = nb6_remote_mean_radius(&own->mean, s.mass, v);
    if (remote) r = fmaxf(r, nb6_remote_mean_radius(&remote->mean, site->mass, v));
    r *= (float)nb6_all_mean() * more;
    return !(s.nearest2 > r * r) || s.nearest2 >= let_go2 * less || nb6_remote_may_be_hierarchy(site, &s);
}

#endif
