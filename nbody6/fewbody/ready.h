/** Bodies whose force is about to jump stand at the block time, with regular and irregular steps ended: then nothing of
 *  anybody's polynomials is lost. Until all do, they are called to a common time. */
#ifndef NB6_READY_H
#define NB6_READY_H

#include "common/nbc.h"
#include "nbody6/state/body.h"

#include <stdint.h>

struct nb6_sim;

/** Whether two bodies can become one now; if not, they and all bodies that have only one of them in their list are
 *  called to the next multiple of the shorter step. In a look at a state that is elsewhere they cannot, and the two are
 *  left in sim->elsewhere.wish.   @param[out] ready  whether they can
 *  @return NBC_OK; NBC_NO_MEMORY */
int nb6_subsystems_are_ready(struct nb6_sim *sim, nb6_index i, nb6_index j, nb6_time t, int *ready,
                             struct nbc_error *err);
/** Whether the stars of a pair can become one now: its centre of mass and its perturbers, whose force has the motion
 *  within the pair in it, stand; if not, they are called to the next multiple of the step of the centre of mass. */
int nb6_merger_is_ready(struct nb6_sim *sim, nb6_slot slot, nb6_time t, int *ready, struct nbc_error *err);

#endif
