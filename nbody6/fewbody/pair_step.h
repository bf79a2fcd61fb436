/** Stage 2 of the block step. */
#ifndef NB6_PAIR_STEP_H
#define NB6_PAIR_STEP_H

#include "common/nbc.h"

#include <stdint.h>

struct nb6_sim;

/** Stage 2 of the block step: pairs that lag behind the block time; centres of mass of those that have to end join the
 * block.   @param[out] paused  1: not all are there yet (nb6_pairs_advance); nothing else has changed */
int nb6_step_pairs(struct nb6_sim *sim, int *paused, struct nbc_error *err);
/** Whether a pair without perturbers can leave its orbit's bounds, or has stars that may touch: then somebody has to
 * look at each step of its centre of mass. Also of a frozen one. */
int nb6_pair_is_wide(const struct nb6_sim *sim, int64_t slot);

#endif
