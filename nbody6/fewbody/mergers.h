/** Collisions of stars: two become one, with their mass, momentum and volume; the energy of their relative motion is
 *  booked. A merged star stays, without mass, at the position of the other one until the next adjust removes it.
 *  Private to libnbody6. */
#ifndef NB6_MERGERS_H
#define NB6_MERGERS_H

#include "common/nbc.h"
#include "nbody6/state/body.h"
#include "regularization/chain.h"

#include <stdint.h>

struct nb6_chain;
struct nb6_merger;
struct nb6_motion;
struct nb6_subsystems;
struct nb6_sim;

/** The largest radius of the stars of a body, be it a star, a pair, a hierarchy or a chain. */
double nb6_largest_radius(const struct nb6_sim *sim, nb6_index body);
/** Whether the two stars of a pair that is no hierarchy have met: the pericentre of their orbit is within the sum of
 * their radii and behind them, or ahead on an unperturbed orbit. */
int nb6_pair_collides(struct nb6_sim *sim, nb6_slot slot);
/** Note whether the stars of a pair that has just formed approach, so that its first pericentre is seen. */
void nb6_pair_note_approach(struct nb6_sim *sim, nb6_slot slot);
/** Had they met at the last check of the pair, and have they not become one since? */
int nb6_pair_has_met(const struct nb6_sim *sim, nb6_slot slot);
/** Have the two stars that mergers have left of a chain met since? The pair that they become records it. */
int nb6_chain_has_met(const struct nb6_chain *chain);
void nb6_pair_set_met(struct nb6_sim *sim, nb6_slot slot);
/** Mergers of a chain, as they were met during its advance: masses, radii, energy, events. */
int nb6_chain_tell_mergers(struct nb6_sim *sim, struct nb6_chain *chain, struct nbc_error *err);
/** Energy of the mergers in a copy of the motions that are not committed to the run yet. */
double nb6_mergers_ahead(const struct nb6_sim *sim, const struct nb6_motion *motion);
/** Whether there are such mergers in the motion in a slot. */
int nb6_slot_has_mergers_ahead(const struct nb6_subsystems *subsystems, const struct nb6_motion *motion, nb6_slot slot);
/** One merger, of stars that are no bodies. x, v: of the one that goes on.
 *  @return NBC_OK; NBC_BAD_ARGUMENT: one of them is no star, or gone (the state is as it was); NBC_NO_MEMORY; the
 * status of the ledger or the observer */
int nb6_merge_stars(struct nb6_sim *sim, const struct nb6_merger *merger, const double x[3], const double v[3],
                    struct nbc_error *err);

#endif
