#include "nbody6/fewbody/chains/room.h"

#include "nbody6/fewbody/criteria.h"
#include "nbody6/fewbody/hierarchies/hierarchies.h"
#include "nbody6/fewbody/intruder.h"
#include "nbody6/fewbody/kind.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/state/body.h"
#include "nbody6/state/members.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/state/view.h"
#include "regularization/chain.h"

#include <math.h>

/* An intruder joins when it is as near as compact systems are wide (NB6_COMPACT), or, around a system that is hard
 * though it is wider, this near in units of the size that its binding energy gives it. */
static const double COMPACT_BOUND = 5;

/* Sum of all products of masses over twice the binding energy: the semi-major axis of a pair. 0 if it is not bound. */
static double bound_size(const struct nb6_sim *sim, nb6_slot slot)
{
    const struct nb6_motion motion = nb6_subsystems_motion(&sim->subsystems);
    double energy = nb6_slot_energy(&sim->subsystems, &motion, slot), mass = 0, squares = 0;
    nb6_index star[CHAIN_MAX];
    int n = nb6_stars_of(sim, nb6_centre(sim, slot), star);
    for (int k = 0; k < n; k++) {
        mass += nb6_get_body(sim, star[k])->mass;
        squares += nb6_get_body(sim, star[k])->mass * nb6_get_body(sim, star[k])->mass;
    }
    return energy < 0 ? 0.25 * (mass * mass - squares) / -energy : 0;
}

/* A system is not as wide as to have more of a galaxy's tide than this, in units of its own attraction. */
static const double GAMMA_GALAXY = 0.02;

double nb6_close_compact_radius(const struct nb6_sim *sim, nb6_slot slot)
{
    nb6_index star[CHAIN_MAX];
    const int n = nb6_stars_of(sim, nb6_centre(sim, slot), star);
    const double mass = nb6_get_body(sim, nb6_centre(sim, slot))->mass;
    return NB6_COMPACT * nb6_close_radius(sim, n, mass, nb6_centre(sim, slot));
}

/* Larger also where the system is hard though it is wider, but never beyond a part of the local distance of stars, nor
 * where the galaxy pulls it apart. */
double nb6_compact_radius(const struct nb6_sim *sim, nb6_slot slot)
{
    const double close = nb6_close_compact_radius(sim, slot);
    double compact = fmin(fmax(close, COMPACT_BOUND * bound_size(sim, slot)),
                          NB6_COMPACT_SPACING * nb6_local_spacing(sim, nb6_centre(sim, slot)));
    if (!sim->run.external.active) return compact;
    const struct nb6_body *centre = nb6_get_body(sim, nb6_centre(sim, slot));
    double tidal = cbrt(GAMMA_GALAXY * centre->mass /
                        nb6_external_strongest(&sim->run.external, nb6_time_to_double(centre->t0), centre->x0));
    return fmin(compact, tidal);
}

/* Two bodies that go round each other for ever are no encounter. */
static int is_stable(const struct nb6_sim *sim, nb6_index i, const struct nb6_intruder *intruder)
{
    double a;
    if (nb6_chain_of(&sim->subsystems, nb6_slot_of(sim, i)) || !nb6_hierarchies_enabled(sim)) return 0;
    if (nb6_is_centre(sim, intruder->j) && nb6_chain_of(&sim->subsystems, nb6_slot_of(sim, intruder->j))) return 0;
    return nb6_orbit_stability(sim, i, intruder->j, intruder->x, intruder->v, &a) > 1;
}

int nb6_chain_can_grow_from(const struct nb6_sim *sim, nb6_slot slot)
{
    return nb6_kind_of(&sim->subsystems, slot)->extent(sim, slot) > 0; /* a hierarchy is broken up before */
}

int nb6_chain_has_room(const struct nb6_sim *sim, nb6_slot slot, const struct nb6_intruder *intruder)
{
    const nb6_slot other = nb6_slot_of(sim, intruder->j);
    nb6_index star[CHAIN_MAX];
    if (!nb6_is_centre(sim, intruder->j) && !(nb6_get_body(sim, intruder->j)->mass > 0)) return 0;
    const int chains = other >= 0 && nb6_chain_of(&sim->subsystems, slot) && nb6_chain_of(&sim->subsystems, other);
    const double reach = (chains ? NB6_BETWEEN_CHAINS : 1) * nb6_compact_radius(sim, slot);
    if (!(intruder->r2 < reach * reach)) return 0;
    if (other >= 0 && (nb6_is_ending(&sim->subsystems, other) || !nb6_chain_can_grow_from(sim, other))) return 0;
    if (is_stable(sim, nb6_centre(sim, slot), intruder)) return 0;
    return nb6_stars_of(sim, nb6_centre(sim, slot), star) + nb6_stars_of(sim, intruder->j, star) <= CHAIN_MAX;
}

int nb6_chain_can_take(const struct nb6_sim *sim, nb6_slot slot, nb6_index body, nb6_time t)
{
    const struct nb6_intruder intruder = nb6_seen_from(sim, slot, body, t);
    return nb6_chain_has_room(sim, slot, &intruder);
}
