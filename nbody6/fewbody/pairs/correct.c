/* Forces and potential of resolved pairs and chains, beyond those of their points of mass. */
#include "nbody6/fewbody/pairs/correct.h"

#include "nbody6/fewbody/kind.h"
#include "nbody6/fewbody/pairs/view.h"
#include "nbody6/fewbody/parts.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/state/ascending.h"
#include "nbody6/state/bodies.h"
#include "nbody6/state/body.h"
#include "nbody6/state/members.h"
#include "nbody6/state/resolvers.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/state/view.h"
#include "regularization/ks.h"

#include <string.h>

static void relative(const struct nb6_sim *sim, int64_t j, nb6_time t, const double x[3], const double v[3],
                     double dx[3], double dv[3])
{
    nb6_get_predicted(sim, j, t, dx, dv);
    for (int k = 0; k < 3; k++) {
        dx[k] -= x[k];
        dv[k] -= v[k];
    }
}

/* The body with the corrected force. */
struct target {
    int64_t i, own_slot; /* own_slot < 0: a star */
    nb6_time ti;
    double t, x[3], v[3];
    double *acc, *jerk;
    int status;
};

/* The own perturbers of a centre of mass. */
static void add_perturbers(const struct nb6_sim *sim, struct target *to)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    const struct nb6_motion motion = nb6_subsystems_motion(p);
    const struct nb6_perturbers *pert = &p->pert[to->own_slot];
    struct nb6_view own, other;
    double dx[3], dv[3];
    if (pert->n == 0) return;
    nb6_view_slot(sim, &motion, to->own_slot, to->t, &own);
    for (int32_t k = 0; k < pert->n; k++) {
        const nb6_index j = pert->body[k];
        if (nb6_is_centre(sim, j) && nb6_slots_are_mutual(sim, to->own_slot, nb6_slot_of(sim, j)))
            nb6_view_slot(sim, &motion, nb6_slot_of(sim, j), to->t, &other);
        else
            nb6_view_point(sim, j, &other);
        relative(sim, j, to->ti, to->x, to->v, dx, dv);
        nb6_view_force(sim, dx, dv, &own, &other, to->acc, to->jerk);
        to->status |= own.status | other.status;
    }
}

/* A pair or chain that has the target in its list, unless the target's own list of perturbers covers it. */
static void add_resolver(const struct nb6_sim *sim, struct target *to, nb6_slot slot)
{
    const struct nb6_motion motion = nb6_subsystems_motion(&sim->subsystems);
    if (to->own_slot >= 0 && nb6_slots_are_mutual(sim, to->own_slot, slot)) return;
    struct nb6_view point, other;
    double dx[3], dv[3];
    nb6_view_point(sim, to->i, &point);
    nb6_view_slot(sim, &motion, slot, to->t, &other);
    relative(sim, nb6_centre(sim, slot), to->ti, to->x, to->v, dx, dv);
    nb6_view_force(sim, dx, dv, &point, &other, to->acc, to->jerk);
    to->status |= other.status;
}

/* Force of the galaxy on the stars of a system, if it differs from that on a point. */
static void add_field(const struct nb6_sim *sim, struct target *to)
{
    const struct nb6_motion motion = nb6_subsystems_motion(&sim->subsystems);
    struct nb6_view own;
    double centre[2][3];
    memcpy(centre[0], to->x, sizeof to->x);
    memcpy(centre[1], to->v, sizeof to->v);
    nb6_view_slot(sim, &motion, to->own_slot, to->t, &own);
    nb6_view_field(sim, nb6_time_to_double(to->ti), (const double(*)[3])centre, &own, to->acc, to->jerk);
    to->status |= own.status;
}

/* In the order of slots. */
static void add_resolvers(const struct nb6_sim *sim, struct target *to)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    for (nb6_slot slot = nb6_resolver_first(p, to->i); slot >= 0; slot = nb6_resolver_next(p, slot, to->i))
        add_resolver(sim, to, slot);
}

int nb6_subsystems_correct(const struct nb6_sim *sim, int64_t i, nb6_time ti, double acc[3], double jerk[3])
{
    const struct nb6_subsystems *p = &sim->subsystems;
    struct target to = {.i = i, .own_slot = nb6_slot_of(sim, i), .ti = ti, .acc = acc, .jerk = jerk};
    const int in_field =
        to.own_slot >= 0 && p->system[to.own_slot].galactic && nb6_external_acts_on_members(&sim->run.external);
    if (!nb6_is_resolved(p, i) && !in_field && !(to.own_slot >= 0 && p->pert[to.own_slot].n > 0)) return NBC_OK;
    to.t = nb6_relative_time(sim, ti);
    nb6_get_predicted(sim, i, ti, to.x, to.v);
    if (to.own_slot >= 0) add_perturbers(sim, &to);
    add_resolvers(sim, &to);
    if (in_field) add_field(sim, &to);
    return to.status ? NBC_NON_FINITE : NBC_OK;
}

/* Positions of bodies: [n] of these, ascending; body NULL: of all that take part, by their places. */
struct positions {
    int64_t n;
    const nb6_index *body;
    const double (*x)[3];
};

static const double *position_of(const struct nb6_sim *sim, const struct positions *at, nb6_index i)
{
    return at->x[at->body ? nb6_list_find(at->body, (size_t)at->n, i) : nb6_source_place(&sim->subsystems, i)];
}

/* The part of a slot's perturbers; two that resolve each other count with the lower slot. */
static double potential_of_slot(const struct nb6_sim *sim, nb6_slot slot, const struct positions *at,
                                const struct nb6_motion *motion, const nb6_index *moved)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    const nb6_index i = nb6_centre(sim, slot);
    const double *x_i = position_of(sim, at, i);
    struct nb6_parts point, own, other;
    double t = nb6_slot_time(p, motion, slot), sum = 0;
    nb6_parts_of_point(&point);
    nb6_parts_of_slot(p, motion, slot, t, &own);
    for (int32_t k = 0; k < p->pert[slot].n; k++) {
        nb6_index j = p->pert[slot].body[k];
        nb6_slot other_slot = nb6_slot_of(sim, j);
        int mutual = other_slot >= 0 && nb6_slots_are_mutual(sim, slot, other_slot);
        if ((mutual && other_slot < slot) || (moved && moved[j] < 0)) continue;
        if (mutual) nb6_parts_of_slot(p, motion, other_slot, t, &other);
        const double *x_j = position_of(sim, at, j);
        double dx[3];
        for (int d = 0; d < 3; d++) dx[d] = x_j[d] - x_i[d];
        sum += nb6_get_body(sim, i)->mass * nb6_get_body(sim, j)->mass *
               nb6_parts_potential(dx, &own, mutual ? &other : &point);
    }
    return sum;
}

double nb6_subsystems_potential(const struct nb6_sim *sim, const double (*x)[3], const struct nb6_motion *motion,
                                const nb6_index *moved)
{
    const struct positions at = {.x = x};
    double sum = 0;
    for (nb6_slot slot = 0; slot < sim->subsystems.n_slot; slot++)
        if (sim->subsystems.pert[slot].n > 0 && !(moved && moved[nb6_centre(sim, slot)] < 0))
            sum += potential_of_slot(sim, slot, &at, motion, moved);
    return sum;
}

double nb6_slot_potential(const struct nb6_sim *sim, nb6_slot slot, int64_t n, const nb6_index *body,
                          const double (*x)[3], const struct nb6_motion *motion)
{
    const struct positions at = {n, body, x};
    return sim->subsystems.pert[slot].n > 0 ? potential_of_slot(sim, slot, &at, motion, NULL) : 0;
}

double nb6_slot_tidal(const struct nb6_sim *sim, const struct nb6_motion *motion, nb6_slot slot)
{
    const struct nb6_body *centre = nb6_get_body(sim, nb6_centre(sim, slot));
    const double t = nb6_slot_time(&sim->subsystems, motion, slot);
    struct nb6_parts own;
    double x[3], v[3];
    nb6_parts_of_slot(&sim->subsystems, motion, slot, t, &own);
    nb6_predict(centre, t - nb6_relative_time(sim, centre->t0), x, v);
    return centre->mass * nb6_parts_tidal(&sim->run.external, t + nb6_time_to_double(sim->ti_origin), x, &own);
}

double nb6_subsystems_tidal(const struct nb6_sim *sim, const struct nb6_motion *motion, const nb6_index *moved)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    double sum = 0;
    for (nb6_slot slot = 0; slot < p->n_slot; slot++)
        if (nb6_slot_is_used(p, slot) && p->system[slot].galactic && !(moved && moved[nb6_centre(sim, slot)] < 0))
            sum += nb6_slot_tidal(sim, motion, slot);
    return sum;
}

double nb6_subsystems_binding(const struct nb6_sim *sim, const struct nb6_motion *motion)
{
    double sum = 0;
    for (nb6_slot slot = 0; slot < sim->subsystems.n_slot; slot++)
        if (nb6_slot_is_used(&sim->subsystems, slot)) sum += nb6_slot_energy(&sim->subsystems, motion, slot);
    return sum;
}
