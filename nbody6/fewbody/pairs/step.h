/** Stage 2 of the block step. */
#ifndef NB6_PAIRS_STEP_H
#define NB6_PAIRS_STEP_H

#include "common/nbc.h"
#include "nbody6/state/body.h"

#include <stdint.h>

struct nb6_sim;

/** Stage 2 of the block step: pairs that lag behind the block time; centres of mass of those that have to end join the
 * block.   @param[out] paused  1: not all are there yet (nb6_subsystems_advance); nothing else has changed */
int nb6_step_pairs(struct nb6_sim *sim, int *paused, struct nbc_error *err);
/** The same in two parts, between which the block may be made: first those whom it concerns; then, a few at a time, the
 * rest, who have to be there before anybody looks at the block. Who goes in which part, and the bits of both, follow
 * from the state alone.
 *  @param[in,out] last  -1, then as it was left: whom the last call has moved
 *  @param[in] most  how many of the rest
 *  @param[out] n  how many there were, up to that */
int nb6_step_pairs_now(struct nb6_sim *sim, int *paused, struct nbc_error *err);
int nb6_step_pairs_rest(struct nb6_sim *sim, int64_t *last, int64_t most, int64_t *n, struct nbc_error *err);
/** Remote pairs that lag behind time t, and depend on these bodies, which have made a step then: to that time
 *  (nb6_subsystems_follow). Nothing has to be decided about them.   @param[in] body [n] */
int nb6_step_pairs_follow(struct nb6_sim *sim, nb6_time t, int64_t n, const nb6_index *body, struct nbc_error *err);
/** The next one of all that lag, with those that advance with it.
 *  @param[in,out] last  -1, then as it was left: whom the last call has moved; -1 if there was nobody left */
int nb6_step_pairs_follow_next(struct nb6_sim *sim, nb6_time t, int64_t *last, struct nbc_error *err);
/** Whether a pair without perturbers can leave its orbit's bounds, or has stars that may touch: then somebody has to
 * look at each step of its centre of mass. Also of a frozen one. */
int nb6_pair_is_wide(const struct nb6_sim *sim, nb6_slot slot);

#endif
