#include "nbody6/fewbody/contacts.h"

#include "common/nbc.h"
#include "nbody6/fewbody/kind.h"
#include "nbody6/fewbody/mergers.h"
#include "nbody6/fewbody/parts.h"
#include "nbody6/state/bodies.h"
#include "nbody6/state/body.h"
#include "nbody6/state/members.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/state/view.h"
#include "regularization/chain.h"
#include "regularization/hierarchy.h"
#include "regularization/ks.h"

#include <math.h>
#include <string.h>

/* Two stars are about to touch from this many times the sum of their radii on: both are synchronised at one block time,
 * and become a pair or members of a chain, before they touch. */
static const double AHEAD = 4;

/* Part of the sum of the radii by which a pericentre may be wrong, or is thought to be. */
static const double ROOM = 0.5;

/* Steps of a centre of mass are this part of the time until a body comes within that distance, but need not be shorter
 * than the same part of the time of the passage. */
static const double PART = 0.25;

/* The stars of a body; a frozen pair among them is one with all places where its stars may be inside. */
struct side {
    int n;
    struct point {
        double mass, radius, x[3], v[3];
        double pull; /* acceleration by the other stars of the same body */
    } star[CHAIN_MAX];
};

double nb6_contact_range(const struct nb6_sim *sim)
{
    double largest = 0;
    if (!nb6_stars_have_radii(sim)) return 0;
    for (int64_t i = 0; i < sim->n; i++) largest = fmax(largest, nb6_get_star(sim, i)->radius);
    return AHEAD * 2 * largest;
}

/* ---- where the stars of a body are */

static void add_star(const struct nb6_sim *sim, nb6_index i, const double x[3], const double v[3], struct side *side)
{
    struct point *star = &side->star[side->n++];
    *star = (struct point){.mass = nb6_get_body(sim, i)->mass, .radius = nb6_get_star(sim, i)->radius};
    memcpy(star->x, x, sizeof star->x);
    memcpy(star->v, v, sizeof star->v);
}

static double apocentre_of(const struct nb6_sim *sim, nb6_slot slot)
{
    struct ks_elements e;
    ks_elements(&sim->subsystems.ks[slot], &e);
    return e.a * (1 + e.e);
}

/* The state of a frozen pair may be of a time long ago. */
static void add_frozen(const struct nb6_sim *sim, nb6_index body, const double x[3], const double v[3],
                       struct side *side)
{
    const double radius = nb6_largest_radius(sim, body);
    add_star(sim, body, x, v, side);
    side->star[side->n - 1].radius = radius + apocentre_of(sim, nb6_slot_of(sim, body));
}

/* Those of a body that takes part, at x, v.   @return as nb6_parts_of_slot */
static int add_stars(const struct nb6_sim *sim, nb6_index body, nb6_time t, const double x[3], const double v[3],
                     struct side *side)
{
    const struct nb6_motion motion = nb6_subsystems_motion(&sim->subsystems);
    struct nb6_parts parts;
    int status = NBC_OK;
    if (!nb6_is_centre(sim, body)) {
        add_star(sim, body, x, v, side);
        return NBC_OK;
    }
    const nb6_slot slot = nb6_slot_of(sim, body);
    const struct nb6_chain *chain = nb6_chain_of(&sim->subsystems, slot);
    const nb6_index *member = chain ? chain->star : sim->subsystems.system[slot].member;
    status = nb6_parts_of_slot(&sim->subsystems, &motion, slot, nb6_relative_time(sim, t), &parts);
    for (int m = 0; m < parts.n && !status; m++) {
        for (int k = 0; k < 3; k++) {
            parts.x[m][k] += x[k];
            parts.v[m][k] += v[k];
        }
        if (nb6_is_centre(sim, member[m]))
            add_frozen(sim, member[m], parts.x[m], parts.v[m], side);
        else
            add_star(sim, member[m], parts.x[m], parts.v[m], side);
    }
    return status;
}

static void find_pulls(struct side *side)
{
    for (int a = 0; a < side->n; a++)
        for (int b = 0; b < side->n; b++) {
            double r2 = 0;
            for (int k = 0; k < 3; k++) {
                const double d = side->star[a].x[k] - side->star[b].x[k];
                r2 += d * d;
            }
            if (r2 > 0) side->star[a].pull += side->star[b].mass / r2;
        }
}

/* The stars of a body, from the origin x, v.   @return 0: they have no places at that time */
static int find_side(const struct nb6_sim *sim, nb6_index body, nb6_time t, const double x[3], const double v[3],
                     struct side *side)
{
    double y[3], w[3];
    side->n = 0;
    nb6_get_predicted(sim, body, t, y, w);
    for (int k = 0; k < 3; k++) {
        y[k] -= x[k];
        w[k] -= v[k];
    }
    if (add_stars(sim, body, t, y, w, side)) return 0;
    find_pulls(side);
    return 1;
}

/* ---- two stars */

struct approach {
    double x[3], v[3], r2, v2, rv, touch;
};

static struct approach approach_of(const struct point *a, const struct point *b)
{
    struct approach s = {.touch = a->radius + b->radius};
    for (int k = 0; k < 3; k++) {
        s.x[k] = b->x[k] - a->x[k];
        s.v[k] = b->v[k] - a->v[k];
        s.r2 += s.x[k] * s.x[k];
        s.v2 += s.v[k] * s.v[k];
        s.rv += s.x[k] * s.v[k];
    }
    return s;
}

/* INFINITY: they are not about to touch. The others of their bodies turn them away from their orbit by `turn` until
 * then.   @param[in] is_sure  1: it has to be known that they will touch; 0: that they may */
static double time_to_touch(const struct point *a, const struct point *b, int is_sure)
{
    const struct approach s = approach_of(a, b);
    if (!(s.touch > 0) || !(s.r2 < AHEAD * AHEAD * s.touch * s.touch)) return INFINITY;
    if (s.r2 <= s.touch * s.touch) return 0;
    if (!(s.rv < 0)) return INFINITY;
    const double time = s.r2 / -s.rv, turn = 0.5 * (a->pull + b->pull) * time * time;
    struct hierarchy_orbit orbit;
    hierarchy_orbit_find(a->mass + b->mass, s.x, s.v, &orbit);
    if (is_sure) return orbit.pericentre <= s.touch && turn < ROOM * s.touch ? time : INFINITY;
    return orbit.pericentre <= s.touch + fmin(fmax(turn, ROOM * s.touch), s.touch) ? time : INFINITY;
}

/* ---- two bodies */

static double first_touch(const struct side *a, const struct side *b, int is_sure)
{
    double first = INFINITY;
    for (int m = 0; m < a->n; m++)
        for (int k = 0; k < b->n; k++) first = fmin(first, time_to_touch(&a->star[m], &b->star[k], is_sure));
    return first;
}

/* As far from its centre as the stars of a body may be, in some time from now. */
static double extent_of(const struct nb6_sim *sim, nb6_index body)
{
    return nb6_is_centre(sim, body) ? nb6_slot_reference_radius(sim, nb6_slot_of(sim, body)) : 0;
}

/* A body from far away. */
struct outline {
    double extent, radius; /* of all of it; of its largest star */
};

static struct outline outline_of(const struct nb6_sim *sim, nb6_index body)
{
    return (struct outline){extent_of(sim, body), nb6_largest_radius(sim, body)};
}

/* Distance of two centres within which stars may be about to touch; 0: they are points. */
static double reach_of(const struct nb6_sim *sim, const struct outline *own, nb6_index j)
{
    const double radii = own->radius + nb6_largest_radius(sim, j);
    return radii > 0 ? own->extent + extent_of(sim, j) + AHEAD * radii : 0;
}

/* The first contact with one of some bodies. */
static struct nb6_contact first_contact(const struct nb6_sim *sim, nb6_index i, nb6_time t, size_t n,
                                        const nb6_index *body, int is_sure)
{
    struct nb6_contact first = {.j = NB6_NOBODY, .time = INFINITY};
    const struct outline outline = outline_of(sim, i);
    struct side own = {.n = 0}, other;
    double x[3], v[3];
    nb6_get_predicted(sim, i, t, x, v);
    for (size_t k = 0; k < n; k++) {
        const double reach = reach_of(sim, &outline, body[k]);
        if (!(nb6_get_distance2(sim, body[k], t, x) < reach * reach)) continue;
        if (own.n == 0 && !find_side(sim, i, t, x, v, &own)) return first;
        if (!find_side(sim, body[k], t, x, v, &other)) continue;
        const double time = first_touch(&own, &other, is_sure);
        if (time < first.time) first = (struct nb6_contact){body[k], time};
    }
    return first;
}

struct nb6_contact nb6_contact_of_slot(const struct nb6_sim *sim, nb6_slot slot, nb6_time t, int is_sure)
{
    const struct nb6_perturbers *pert = &sim->subsystems.pert[slot];
    return first_contact(sim, nb6_centre(sim, slot), t, (size_t)pert->n, pert->body, is_sure);
}

int nb6_contacts_are_near(const struct nb6_sim *sim, nb6_slot slot, int32_t but, double size, nb6_time t)
{
    const struct nb6_perturbers *pert = &sim->subsystems.pert[slot];
    const nb6_index i = nb6_centre(sim, slot);
    const double radius = fmax(nb6_largest_radius(sim, i), nb6_largest_radius(sim, but));
    double x[3], v[3];
    nb6_get_predicted(sim, i, t, x, v);
    for (int32_t k = 0; k < pert->n; k++) {
        const double radii = radius + nb6_largest_radius(sim, pert->body[k]);
        const double reach = size + extent_of(sim, pert->body[k]) + AHEAD * radii;
        if (pert->body[k] == but || !(radii > 0)) continue;
        if (nb6_get_distance2(sim, pert->body[k], t, x) < reach * reach) return 1;
    }
    return 0;
}

struct nb6_contact nb6_contact_of_star(const struct nb6_sim *sim, nb6_index i, nb6_time t)
{
    size_t nnb = 0;
    const nb6_index *list = nb6_get_list(sim, i, &nnb);
    return first_contact(sim, i, t, nnb, list, 0);
}

double nb6_contact_inside(const struct nb6_sim *sim, nb6_slot slot)
{
    const struct nb6_subsystem *pair = &sim->subsystems.system[slot];
    const struct ks_pair *ks = &sim->subsystems.ks[slot];
    struct point a = {.mass = ks->m}, b = {.mass = 0};
    if (!nb6_kind_of(&sim->subsystems, slot)->is_pair || nb6_is_hierarchy(sim, slot)) return INFINITY;
    ks_relative(ks, b.x, b.v);
    a.radius = nb6_get_star(sim, pair->member[0])->radius;
    b.radius = nb6_get_star(sim, pair->member[1])->radius;
    return time_to_touch(&a, &b, 0);
}

/* ---- steps */

/* Part of the time in which two stars come near each other, or pass. */
static double step_of(const struct point *a, const struct point *b)
{
    const struct approach s = approach_of(a, b);
    const double r = sqrt(s.r2), left = fmax(r - AHEAD * s.touch, s.touch);
    if (!(s.touch > 0) || !(s.v2 > 0) || !(s.rv < 0)) return INFINITY;
    return PART * left / sqrt(s.v2 + 2 * (a->mass + b->mass) / r);
}

static double step_with(const struct nb6_sim *sim, nb6_index i, const struct outline *outline, nb6_index j, nb6_time t,
                        const double x[3], const double v[3], struct side *own)
{
    const double reach = reach_of(sim, outline, j);
    double y[3], w[3], r2 = 0, v2 = 0, step = INFINITY;
    struct side other;
    if (!(reach > 0)) return INFINITY;
    nb6_get_predicted(sim, j, t, y, w);
    for (int k = 0; k < 3; k++) {
        r2 += (y[k] - x[k]) * (y[k] - x[k]);
        v2 += (w[k] - v[k]) * (w[k] - v[k]);
    }
    const double r = sqrt(r2), mass = nb6_get_body(sim, i)->mass + nb6_get_body(sim, j)->mass;
    if (r > 2 * reach) return PART * (r - reach) / sqrt(v2 + 2 * mass / r);
    if ((own->n == 0 && !find_side(sim, i, t, x, v, own)) || !find_side(sim, j, t, x, v, &other)) return INFINITY;
    for (int a = 0; a < own->n; a++)
        for (int b = 0; b < other.n; b++) step = fmin(step, step_of(&own->star[a], &other.star[b]));
    return step;
}

double nb6_contact_step(const struct nb6_sim *sim, nb6_slot slot)
{
    const struct nb6_perturbers *pert = &sim->subsystems.pert[slot];
    const nb6_index i = nb6_centre(sim, slot);
    const nb6_time t = sim->active.t > sim->ti_now ? sim->active.t : sim->ti_now;
    struct side own = {.n = 0};
    double x[3], v[3], step = nb6_slot_step_limit(sim, slot);
    if (!nb6_stars_have_radii(sim)) return step;
    const struct outline outline = outline_of(sim, i);
    nb6_get_predicted(sim, i, t, x, v);
    for (int32_t k = 0; k < pert->n; k++) step = fmin(step, step_with(sim, i, &outline, pert->body[k], t, x, v, &own));
    return step;
}
