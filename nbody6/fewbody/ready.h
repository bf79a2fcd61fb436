/** Synchronisation: bodies with a force that is about to jump must have ended a regular and an irregular step at the
 *  block time, so that no polynomial is cut off. Until all have, they are synchronised to a common time. */
#ifndef NB6_READY_H
#define NB6_READY_H

#include "common/nbc.h"
#include "nbody6/state/body.h"

#include <stdint.h>

struct nb6_sim;

/** Whether two bodies can become one now; if not, they and all bodies with only one of them in their list are
 *  synchronised to the next multiple of the shorter step. With an engine image they cannot, and the two are left in
 *  sim->engine_image.pending.   @param[out] ready  whether they can
 *  @return NBC_OK; NBC_NO_MEMORY */
int nb6_subsystems_are_ready(struct nb6_sim *sim, nb6_index i, nb6_index j, nb6_time t, int *ready,
                             struct nbc_error *err);
/** Whether the stars of a pair can become one now: its centre of mass and its perturbers, which feel the motion within
 *  the pair, are at time t; if not, they are synchronised to the next multiple of the step of the centre of mass. */
int nb6_merger_is_ready(struct nb6_sim *sim, nb6_slot slot, nb6_time t, int *ready, struct nbc_error *err);

#endif
