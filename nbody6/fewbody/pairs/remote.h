/** Remote pairs: perturbed pairs with all perturbers so far away that both sides feel the mean over the orbit
 *  (pairs/view.h). Most perturbed pairs are remote. They feel the mean over that orbit which the pair had when its
 *  perturbers last changed: while these pass its quadrupole does not change noticeably. So the force of a remote pair
 *  on others does not depend on the time of its relative motion, which may follow later: an engine with an engine image
 *  computes the forces and checks whether perturbers come, go or come near, and the host service advances the pair when
 *  it has time (engine/host_service.h). Private to libnbody6. */
#ifndef NB6_PAIRS_REMOTE_H
#define NB6_PAIRS_REMOTE_H

#include "nbody6/fewbody/remote.h"
#include "nbody6/state/body.h"

#include <stdint.h>

struct nb6_sim;

/** Whether a pair with n perturbers is a remote one if all neighbours are far away. */
int nb6_pair_may_be_remote(const struct nb6_sim *sim, nb6_slot slot, int64_t n);
/** Whether a neighbour of the pair in a slot is far away: a perturber is if both feel means, another body if it is
 *  farther than the third body of a hierarchy.
 *  @param[in] nearest2, r2, v2  as for nb6_may_be_hierarchy */
int nb6_is_far_from(const struct nb6_sim *sim, nb6_slot slot, nb6_index body, int perturbs, double nearest2, double r2,
                    double v2);
/** The slot becomes a remote pair with its present orbit, stays one with the orbit that others feel, or ceases to be
 * one. */
void nb6_pair_set_remote(struct nb6_sim *sim, nb6_slot slot, int is_remote);
/** Whether a slot and all that advance with it (state/groups.h) are remote pairs. */
int nb6_group_is_remote(const struct nb6_sim *sim, nb6_slot slot);
/** A pair as in an engine image, with body numbers of the run; `mean` of any pair, the rest of a remote one. */
void nb6_pair_get_remote(const struct nb6_sim *sim, nb6_slot slot, struct nb6_remote *remote);

#endif
