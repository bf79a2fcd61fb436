/** The last stage of the block step: who becomes or ceases to be a body. */
#ifndef NB6_DECIDE_H
#define NB6_DECIDE_H

#include "common/nbc.h"

struct nb6_sim;

/** Last stage of the block step: pairs that end, perturbers, new pairs. */
int nb6_step_decide(struct nb6_sim *sim, struct nbc_error *err);
/** The same at t = 0, when everybody stands at the same time: what is compact already does not wait for its first
 * block.
 */
int nb6_step_decide_first(struct nb6_sim *sim, struct nbc_error *err);

#endif
