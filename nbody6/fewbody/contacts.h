/** Stars of different bodies that are about to touch. Contacts within a pair or chain are found by that system; here a
 *  pair searches for outside stars about to touch one of its members, and a star for neighbours. Private to
 *  libnbody6. */
#ifndef NB6_CONTACTS_H
#define NB6_CONTACTS_H

#include "nbody6/state/body.h"

#include <stdint.h>

struct nb6_sim;

/** Two stars of different bodies that approach each other, within a few times the sum of their radii, on an orbit with
 * a pericentre within that sum. */
struct nb6_contact {
    nb6_index j; /**< the other body; -1: no contact ahead */
    double time; /**< until they touch, at most */
};

/** Two stars at more than this distance are not about to touch; 0: stars have no radii. Reads all stars. */
double nb6_contact_range(const struct nb6_sim *sim);
/** The first contact of a star of the system in a slot with a star of one of its perturbers, at block time t.
 *  @param[in] is_sure  1: only if the others of the system do not turn the two away; 0: also if they might touch */
struct nb6_contact nb6_contact_of_slot(const struct nb6_sim *sim, nb6_slot slot, nb6_time t, int is_sure);
/** Whether a perturber of the pair in a slot, but for one, is so near that it might soon touch a star of the two on an
 * orbit of this size. */
int nb6_contacts_are_near(const struct nb6_sim *sim, nb6_slot slot, int32_t but, double size, nb6_time t);
/** The first contact of a star that is in no system with a star of one of its neighbours, if they might touch. */
struct nb6_contact nb6_contact_of_star(const struct nb6_sim *sim, nb6_index i, nb6_time t);
/** The time until the two stars of a pair touch, at most; INFINITY: they are not about to. */
double nb6_contact_inside(const struct nb6_sim *sim, nb6_slot slot);
/** Longest step of the centre of mass of a slot, at the time of the block: by its kind (nb6_slot_step_limit), and such
 * that contacts are found in time. */
double nb6_contact_step(const struct nb6_sim *sim, nb6_slot slot);

#endif
