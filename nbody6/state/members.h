/** Bodies that take part, and their members: single stars, centres of mass, and the stars inside. */
#ifndef NB6_MEMBERS_H
#define NB6_MEMBERS_H

#include "nbody6/state/sim.h"
#include "regularization/chain.h"

#include <stdint.h>

/** The body that is the centre of mass of a slot. Centres of mass have the numbers after those of all stars, so that
 * they are at the end of every list. */
static inline nb6_index nb6_centre(const struct nb6_sim *sim, nb6_slot slot)
{
    return (nb6_index)(sim->n + slot);
}

/** Whether a body is a centre of mass; if not, it is a star. */
static inline int nb6_is_centre(const struct nb6_sim *sim, int64_t body)
{
    return body >= sim->n;
}

/** Slot of a centre of mass; negative: the body is a star. */
static inline nb6_slot nb6_slot_of(const struct nb6_sim *sim, int64_t body)
{
    return body - sim->n;
}

/** Bodies: stars and slots, taking part or not. */
int64_t nb6_bodies(const struct nb6_sim *sim);
/** Whether a body takes part: a single star or a centre of mass. */
int nb6_takes_part(const struct nb6_sim *sim, int64_t i);
/** Find the bodies that take part anew. */
void nb6_subsystems_set_sources(struct nb6_sim *sim);
/** Update after these bodies alone began or ceased to take part; -1: none.   @param[in] body [n <= CHAIN_MAX] */
void nb6_subsystems_change_sources(struct nb6_sim *sim, int n, const nb6_index *body);
/** Position of a body in source, -1: it takes no part. */
int64_t nb6_source_place(const struct nb6_subsystems *subsystems, nb6_index i);
/** Stars of a pair for messages and events. */
int64_t nb6_subsystems_name(const struct nb6_sim *sim, nb6_slot slot, int member);
/** Stars of a body: itself, those of a pair, of a hierarchy, of a chain.   @param[out] star [CHAIN_MAX]   @return their
 * number */
int nb6_stars_of(const struct nb6_sim *sim, int64_t body, nb6_index star[]);
/** Slot of the frozen pair that is a member of the pair in a slot; NB6_NO_SLOT: that member is a star. */
nb6_slot nb6_inner_slot(const struct nb6_sim *sim, nb6_slot slot, int member);
/** Whether the pair in a slot has a frozen one inside. */
int nb6_is_hierarchy(const struct nb6_sim *sim, nb6_slot slot);
/** Stars that are no test particles. */
int64_t nb6_massive_stars(const struct nb6_sim *sim);

/** The bodies of two slots see all of each other's parts: they are in each other's list, and not both are chains, which
 *  see each other as points (chains.h). */
int nb6_slots_are_mutual(const struct nb6_sim *sim, nb6_slot slot, nb6_slot other);

#endif
