/** Stage "advance subsystems" of the block step. */
#ifndef NB6_PAIRS_STEP_H
#define NB6_PAIRS_STEP_H

#include "common/nbc.h"
#include "nbody6/state/body.h"

#include <stdint.h>

struct nb6_sim;

/** Advance the subsystems that lag behind the block time; centres of mass of those that must end join the block.
 * @param[out] paused  1: not all have reached it yet (nb6_subsystems_advance); nothing else has changed */
int nb6_step_pairs(struct nb6_sim *sim, int *paused, struct nbc_error *err);
/** The same in two parts, between which an engine may compute the block: first the pairs that the block depends on;
 * then, a few at a time, the rest, which must be done before stage "decide". The division, and the bits of both parts,
 * follow from the state alone.
 *  @param[in,out] last  -1, then the value of the last call: the last pair advanced
 *  @param[in] most  largest number of the rest
 *  @param[out] n  number that there were, up to `most` */
int nb6_step_pairs_now(struct nb6_sim *sim, int *paused, struct nbc_error *err);
int nb6_step_pairs_rest(struct nb6_sim *sim, int64_t *last, int64_t most, int64_t *n, struct nbc_error *err);
/** Remote pairs that lag behind time t, and depend on these bodies, which have made a step then: to that time
 *  (nb6_subsystems_follow). Nothing has to be decided about them.   @param[in] body [n] */
int nb6_step_pairs_follow(struct nb6_sim *sim, nb6_time t, int64_t n, const nb6_index *body, struct nbc_error *err);
/** The next one of all that lag, with those that advance with it.
 *  @param[in,out] last  -1, then the value of the last call: the last pair advanced; -1 if none was left */
int nb6_step_pairs_follow_next(struct nb6_sim *sim, nb6_time t, int64_t *last, struct nbc_error *err);
/** Can a pair without perturbers leave its orbit's bounds, or touch its own stars? Then it must be checked at each step
 * of its centre of mass. Also of a frozen one. */
int nb6_pair_is_wide(const struct nb6_sim *sim, nb6_slot slot);

#endif
