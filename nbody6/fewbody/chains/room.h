/** Largest size of a chain, and bodies that can become part of it. Private to libnbody6. */
#ifndef NB6_CHAINS_ROOM_H
#define NB6_CHAINS_ROOM_H

#include "nbody6/state/body.h"

#include <stdint.h>

struct nb6_intruder;
struct nb6_sim;

/** Two chains act on each other as parts on a point, twice, and lack the interaction of their tides: about
 * (size/distance)^4 of their mutual energy. They join and part at so many times the distance of others: with chains as
 * wide as half of that, one encounter in a cluster of binaries cost 5e-6 of its energy. */
#define NB6_BETWEEN_CHAINS 2.0

/** Radius that makes the system in a slot compact: a chain is not wider. */
double nb6_compact_radius(const struct nb6_sim *sim, nb6_slot slot);
/** The part of it that does not follow from the system's binding energy: larger where stars are heavy. */
double nb6_close_compact_radius(const struct nb6_sim *sim, nb6_slot slot);
/** Whether the system in a slot may be part of a chain as it is: a hard pair or a chain. */
int nb6_chain_can_grow_from(const struct nb6_sim *sim, nb6_slot slot);
/** Whether the system in a slot, which may, and a body that is about to touch it are near and few enough to be one. */
int nb6_chain_can_take(const struct nb6_sim *sim, nb6_slot slot, nb6_index body, nb6_time t);
/** Whether an intruder is near enough, and the stars are few enough, to become one with the system in a slot. */
int nb6_chain_has_room(const struct nb6_sim *sim, nb6_slot slot, const struct nb6_intruder *intruder);

#endif
