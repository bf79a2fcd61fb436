/** The block step and its stages. */
#ifndef NB6_STEP_H
#define NB6_STEP_H

#include "common/nbc.h"
#include "nbody6/state/body.h"

struct nb6_sim;

/** Advance to the next block time: due bodies get new forces, corrected states and new steps.
 *  @param[out] paused  1: pairs and chains have not come there yet; the next call goes on
 *  @return NBC_OK; NBC_NON_FINITE (the star and the quantity are named; the state is that before the step); what a
 * library returned */
int nb6_step(struct nb6_sim *sim, int *paused, struct nbc_error *err);
/** The origin of times for blocks at time t. */
nb6_time nb6_origin_of(nb6_time t);
/** The first time that wants another one. */
nb6_time nb6_origin_end(nb6_time origin);
/** Move the origin when the time is far from it, so that differences stay exact, and send all bodies again. */
int nb6_rebase_origin(struct nb6_sim *sim, nb6_time t, struct nbc_error *err);

#endif
