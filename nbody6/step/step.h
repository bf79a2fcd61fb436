/** The block step and its stages. */
#ifndef NB6_STEP_H
#define NB6_STEP_H

#include "common/nbc.h"
#include "nbody6/state/body.h"

struct nb6_sim;

/** Advance to the next block time: due bodies get new forces, corrected states and new steps. The stages, in this
 *  order: select, advance subsystems, predict, irregular force, irregular corrector, regular force, regular corrector,
 *  commit, decide.
 *  @param[out] paused  1: the subsystems have not reached the block time yet; the next call continues the block
 *  @return NBC_OK; NBC_NON_FINITE (the star and the quantity are named; the state is that before the step); the status
 * of a library */
int nb6_step(struct nb6_sim *sim, int *paused, struct nbc_error *err);
/** The origin of times for blocks at time t. */
nb6_time nb6_origin_of(nb6_time t);
/** First time for which the origin must move. */
nb6_time nb6_origin_end(nb6_time origin);
/** Move the origin when the time is far from it, so that differences stay exact, and send all bodies again. */
int nb6_rebase_origin(struct nb6_sim *sim, nb6_time t, struct nbc_error *err);

#endif
