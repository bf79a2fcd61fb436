/** Copies of all relative motions, for pictures of the run at a time between steps. */
#ifndef NB6_PAIRS_MOTIONS_H
#define NB6_PAIRS_MOTIONS_H

#include "common/nbc.h"
#include "nbody6/state/body.h"

struct nb6_sim;

/** Make sim->motions_now those of time t, which is not before the last block and not beyond the next.
 *  @param[in] pausing, paused  as nb6_subsystems_advance_copy */
int nb6_motions_at(struct nb6_sim *sim, nb6_time t, int pausing, int *paused, struct nbc_error *err);

#endif
