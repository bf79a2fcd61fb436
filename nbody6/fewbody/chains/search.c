/* When strong encounters of three and more bodies begin and end (NBODY6: IMPACT, CHMOD). */
#include "nbody6/fewbody/chains/search.h"

#include "common/nbc.h"
#include "nbody6/fewbody/chains/chains.h"
#include "nbody6/fewbody/chains/company.h"
#include "nbody6/fewbody/chains/room.h"
#include "nbody6/fewbody/contacts.h"
#include "nbody6/fewbody/criteria.h"
#include "nbody6/fewbody/decisions.h"
#include "nbody6/fewbody/hierarchies/hierarchies.h"
#include "nbody6/fewbody/intruder.h"
#include "nbody6/fewbody/kind.h"
#include "nbody6/fewbody/mergers.h"
#include "nbody6/fewbody/ready.h"
#include "nbody6/state/bodies.h"
#include "nbody6/state/body.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/members.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/state/view.h"
#include "regularization/chain.h"
#include "regularization/hierarchy.h"
#include "regularization/ks.h"

#include <math.h>

/* An intruder makes a chain of a hard pair when its tide at apocentre, over the pair's own attraction, exceeds this:
 * for equal masses at 3.7 semi-major axes of a circle, and when it is as near as compact systems are wide
 * (chains/room.h). KS follows weaker perturbations at full accuracy. */
static const double GAMMA_JOIN = 0.02;

/* A part leaves when its distance is so many times its own size and that of the rest, and it is unbound; a bound one,
 * if it goes farther than compact systems reach. Its perturbation of the rest is a quarter of GAMMA_JOIN then. */
static const double SEPARATE = 6;

/* A bound one leaves on its way out when it is so many times the size that the binding energy of the parts gives them:
 * its perturbation of the rest, 2/30^3, is a matter of KS, with slow-down, where a chain would follow each orbit of the
 * rest. It joins again when it comes back (GAMMA_JOIN). */
static const double SEPARATE_BOUND = 30;

/* and as soon as the mutual energy of the parts, m m/r, is less than this part of the energy of the cluster: the block
 * step has an error of 1e-6 of that, and each orbit of a third star around a pair with hundreds of times the energy of
 * the cluster cost 1e-5 of it. */
static const double WEAK = 0.5;

/* For a system above its largest size: if it expands on all sides, the distances of its parts are like their sizes, and
 * it would be kept together for ever. */
static const double SEPARATE_WIDE = 0.5;

/* A pair does not become a chain if the missing energy with a chain near by, both at twice their size, would exceed
 * this part of the energy of the cluster: as a KS pair it resolves that chain, and is resolved by it. */
static const double LACK = 1e-6;

/* Where the longest link is cut of a chain that has become too wide. */
static double widest(const struct chain *chain, const struct chain_group *group, double compact)
{
    return group->n >= 3 && chain->n - group->n >= 3 ? NB6_BETWEEN_CHAINS * compact : compact;
}

static int is_in(const struct chain_group *group, int64_t id)
{
    for (int k = 0; k < group->n; k++)
        if (group->id[k] == id) return 1;
    return 0;
}

/* A chain without a group of its members, and that group, as points with sizes. */
struct parts {
    double mass[2], products, size[2]; /* products: of masses within the parts */
};

static struct parts parts_of(const struct nb6_chain *chain, const struct chain_group *group)
{
    const struct chain *c = &chain->state;
    struct parts p = {.products = 0};
    double centre[2][3] = {{0}};
    for (int i = 0; i < c->n; i++) {
        const int part = is_in(group, c->id[i]);
        p.products += p.mass[part] * c->mass[i];
        p.mass[part] += c->mass[i];
        for (int k = 0; k < 3; k++) centre[part][k] += c->mass[i] * chain->x[i][k];
    }
    for (int i = 0; i < c->n; i++) {
        const int part = is_in(group, c->id[i]);
        double r2 = 0;
        for (int k = 0; k < 3; k++) {
            const double d = chain->x[i][k] - centre[part][k] / p.mass[part];
            r2 += d * d;
        }
        p.size[part] = fmax(p.size[part], sqrt(r2));
    }
    return p;
}

/* Whether a part that is bound, and goes away, is far from the rest: products of masses within the parts over twice
 * their binding energy, which is the semi-major axis of the one that is a pair. */
static int is_far(const struct nb6_sim *sim, nb6_slot slot, const struct parts *p, const struct chain_group *group)
{
    const struct nb6_motion motion = nb6_subsystems_motion(&sim->subsystems);
    const double between = p->mass[0] * p->mass[1] / (p->mass[0] + p->mass[1]) * group->energy;
    const double within = nb6_slot_energy(&sim->subsystems, &motion, slot) - between;
    return within < 0 && group->distance > SEPARATE_BOUND * 0.5 * p->products / -within;
}

/* May the block step integrate the interaction of the two parts? */
static int is_weak(const struct nb6_sim *sim, const struct parts *p, const struct chain_group *group)
{
    return p->mass[0] * p->mass[1] < WEAK * nb6_energy_scale(sim) * group->distance;
}

/* Whether both parts, as chains of their own, would lack too much of each other. */
static int lack_too_much(const struct nb6_sim *sim, const struct parts *p, int n, const struct chain_group *group)
{
    if (group->n < 3 || n - group->n < 3) return 0;
    const double tides = p->size[0] * p->size[1] / (group->distance * group->distance);
    return p->mass[0] * p->mass[1] / group->distance * tides * tides > LACK * nb6_energy_scale(sim);
}

/* Largest distance of the parts: a hard system that is kept at any size keeps no unbound part. */
static double room_of(const struct nb6_sim *sim, nb6_slot slot, const struct chain_group *group)
{
    const double compact = nb6_compact_radius(sim, slot);
    return group->energy > 0 ? fmin(compact, nb6_close_compact_radius(sim, slot)) : compact;
}

/* A part that is small beside its distance from the rest.   @return 0: it stays */
static int find_separate(const struct nb6_sim *sim, nb6_slot slot, struct chain_group *group)
{
    const struct nb6_chain *chain = nb6_chain_of(&sim->subsystems, slot);
    if (chain_escaper(&chain->state, SEPARATE, 0, group) == 0) return 0;
    const struct parts parts = parts_of(chain, group);
    if (group->distance > room_of(sim, slot, group)) return 1;
    return is_weak(sim, &parts, group) && (group->energy > 0 || is_far(sim, slot, &parts, group));
}

/* A system above its largest size is cut at its longest link, whatever its parts are: among the stars of a dense core
 * it would take in one after the other. If both parts would be chains and lack too much energy of each other, a star or
 * two at one of its ends leave. */
static int find_wide(const struct nb6_sim *sim, nb6_slot slot, struct chain_group *group)
{
    const struct nb6_chain *chain = nb6_chain_of(&sim->subsystems, slot);
    const struct chain *c = &chain->state;
    if (chain_escaper(c, SEPARATE_WIDE, 0, group) == 0) return 0;
    const struct parts parts = parts_of(chain, group);
    if (!(group->distance > widest(c, group, room_of(sim, slot, group)))) return 0;
    if (!lack_too_much(sim, &parts, c->n, group)) return 1;
    return chain_escaper_of(c, 2, 0, 0, group) > 0 && group->distance > room_of(sim, slot, group);
}

int nb6_chain_must_change(const struct nb6_sim *sim, nb6_slot slot, struct chain_group *group)
{
    group->n = 0;
    if (nb6_chain_of(&sim->subsystems, slot)->state.n == 2) return 1;
    return nb6_hierarchy_in_chain(sim, slot, group) > 0 || find_separate(sim, slot, group) ||
           find_wide(sim, slot, group);
}

static double size_of(const struct nb6_sim *sim, nb6_slot slot)
{
    return nb6_kind_of(&sim->subsystems, slot)->extent(sim, slot);
}

/* Missing energy of two chains at a distance, if each became twice as wide, up to its limit.
 * @param[in] size  of the first */
static double lack_between(const struct nb6_sim *sim, nb6_slot slot, double size, const struct nb6_intruder *chain)
{
    const nb6_slot other = nb6_slot_of(sim, chain->j);
    const double a = fmin(2 * size, nb6_compact_radius(sim, slot));
    const double b = fmin(2 * nb6_chain_size(nb6_chain_of(&sim->subsystems, other)), nb6_compact_radius(sim, other));
    const double tides = a * b / chain->r2;
    return nb6_get_body(sim, nb6_centre(sim, slot))->mass * nb6_get_body(sim, chain->j)->mass / sqrt(chain->r2) *
           tides * tides;
}

/* A chain among the perturbers that is too near for another one beside it, the nearest if there are more; j =
 * NB6_NOBODY: none.
 */
static struct nb6_intruder find_chain(const struct nb6_sim *sim, nb6_slot slot, double size)
{
    const struct nb6_perturbers *pert = &sim->subsystems.pert[slot];
    struct nb6_intruder nearest = {.j = NB6_NOBODY, .r2 = INFINITY};
    for (int32_t k = pert->n - 1; k >= 0 && nb6_is_centre(sim, pert->body[k]); k--) {
        const nb6_index j = pert->body[k];
        if (!nb6_chain_of(&sim->subsystems, nb6_slot_of(sim, j))) continue;
        const struct nb6_intruder next = nb6_seen_from(sim, slot, j, sim->active.t);
        if (next.r2 < nearest.r2) nearest = next;
    }
    if (nearest.j >= 0 && !(lack_between(sim, slot, size, &nearest) > LACK * nb6_energy_scale(sim)))
        nearest.j = NB6_NOBODY;
    return nearest;
}

/* If stars of a body may touch those of a system, their closest approach is resolved only within a chain: the body
 * joins within this many times the distance of contact. */
static const double BEFORE_TOUCH = 2;

/* Whether the orbit of a body leads it to where one of its stars may touch one of the system in a slot. */
static int may_touch(const struct nb6_sim *sim, nb6_slot slot, const struct nb6_intruder *intruder)
{
    const nb6_index i = nb6_centre(sim, slot), j = intruder->j;
    const double radii = nb6_largest_radius(sim, i) + nb6_largest_radius(sim, j);
    if (!(radii > 0)) return 0;
    const double touch = radii + size_of(sim, slot) + (nb6_is_centre(sim, j) ? size_of(sim, nb6_slot_of(sim, j)) : 0);
    struct hierarchy_orbit orbit;
    hierarchy_orbit_find(nb6_get_body(sim, i)->mass + nb6_get_body(sim, j)->mass, intruder->x, intruder->v, &orbit);
    return orbit.pericentre < touch && intruder->r2 < BEFORE_TOUCH * BEFORE_TOUCH * touch * touch;
}

/* @param[in] lacks  1: the intruder is a chain that must not stay beside another one, however weak its tide is */
static int can_join(const struct nb6_sim *sim, nb6_slot slot, const struct nb6_intruder *intruder, int lacks)
{
    if (intruder->j < 0 || !(intruder->rv < 0) || !nb6_chain_can_grow_from(sim, slot)) return 0;
    const double size = fmin(size_of(sim, slot), nb6_compact_radius(sim, slot));
    const double gamma = 2 * intruder->tide / nb6_get_body(sim, nb6_centre(sim, slot))->mass * size * size * size;
    return (lacks || gamma > GAMMA_JOIN || may_touch(sim, slot, intruder)) && nb6_chain_has_room(sim, slot, intruder);
}

/* The body with a star that is about to touch one of the system in a slot, if they may become one. */
static int find_contact(const struct nb6_sim *sim, nb6_slot slot, struct nb6_intruder *partner)
{
    if (!nb6_stars_have_radii(sim) || !nb6_chain_can_grow_from(sim, slot)) return 0;
    const struct nb6_contact contact = nb6_contact_of_slot(sim, slot, sim->active.t, 0);
    if (contact.j < 0) return 0;
    *partner = nb6_seen_from(sim, slot, contact.j, sim->active.t);
    return nb6_chain_has_room(sim, slot, partner);
}

/* The partner that the system in a slot joins: first a body about to touch it, then a chain close by, then the
 * strongest perturber. A pair may join only a chain.   @return 0: none */
static int find_partner(const struct nb6_sim *sim, nb6_slot slot, struct nb6_intruder *partner)
{
    const struct nb6_chain *own = nb6_chain_of(&sim->subsystems, slot);
    if (find_contact(sim, slot, partner)) return 1;
    *partner = nb6_find_intruder_of_members(sim, slot, sim->active.t);
    const struct nb6_intruder chain = find_chain(sim, slot, own ? nb6_chain_size(own) : sqrt(partner->r2));
    if (own && chain.j >= 0 && can_join(sim, slot, &chain, 1)) {
        *partner = chain;
        return 1;
    }
    if (!own && chain.j >= 0) *partner = chain;
    return can_join(sim, slot, partner, 0);
}

/* The join of the system in body i with a partner, in the slot of a chain if one of them is one. */
static struct nb6_chain_change join_of(const struct nb6_sim *sim, nb6_index i, nb6_index j)
{
    const nb6_slot other = nb6_slot_of(sim, j);
    const int other_first =
        other >= 0 && nb6_chain_of(&sim->subsystems, other) && !nb6_chain_of(&sim->subsystems, nb6_slot_of(sim, i));
    return (struct nb6_chain_change){.kind = NB6_CHAIN_JOIN, .i = other_first ? j : i, .j = other_first ? i : j};
}

/* Are all bodies that become one at the block time? If not, all are synchronised. */
static int are_ready(struct nb6_sim *sim, const struct nb6_chain_change *join, int *ready, struct nbc_error *err)
{
    int status = nb6_subsystems_are_ready(sim, join->i, join->j, sim->active.t, ready, err);
    for (int32_t k = 0; k < join->n_more && !status; k++) {
        int too;
        status = nb6_subsystems_are_ready(sim, join->i, join->more[k], sim->active.t, &too, err);
        *ready &= !status && too;
    }
    return status;
}

int nb6_chains_search(struct nb6_sim *sim, struct nb6_decisions *d, struct nbc_error *err)
{
    const struct nb6_active *active = &sim->active;
    int status = NBC_OK;
    if (!nb6_chains_enabled(sim)) return NBC_OK;
    for (int64_t at = active->n_irr - 1; at >= 0 && nb6_is_centre(sim, active->irr[at]); at--) {
        nb6_index i = active->irr[at];
        if (nb6_is_ending(&sim->subsystems, nb6_slot_of(sim, i)) || sim->subsystems.pert[nb6_slot_of(sim, i)].n == 0)
            continue;
        struct nb6_intruder intruder;
        if (!find_partner(sim, nb6_slot_of(sim, i), &intruder) || nb6_is_decided(d, i) || nb6_is_decided(d, intruder.j))
            continue;
        struct nb6_chain_change join = join_of(sim, i, intruder.j);
        if (!nb6_chain_find_company(sim, d, i, nb6_compact_radius(sim, nb6_slot_of(sim, i)), &join)) continue;
        int ready;
        status = are_ready(sim, &join, &ready, err);
        if (status) break;
        if (ready) d->chain[d->n_chain++] = join;
    }
    return status;
}
