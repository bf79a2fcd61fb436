/** Stage "decide" of the block step: changes of subsystems, and so of bodies. */
#ifndef NB6_DECIDE_H
#define NB6_DECIDE_H

#include "common/nbc.h"

struct nb6_sim;

/** Pairs that end, perturbers, new pairs and chains, of the bodies in sim->active; a transaction of its own.
 *  @return NBC_OK; if not, the state is that of the committed block, and book.undecided is 1 */
int nb6_step_decide(struct nb6_sim *sim, struct nbc_error *err);
/** Decide again for the last block after a failure, or at t = 0, when all bodies are at the same time: stars that are
 *  compact already form a system before their first block. */
int nb6_step_decide_again(struct nb6_sim *sim, struct nbc_error *err);
/** The first half, within an open transaction: new perturbers, and whether any system forms, ends or changes. For an
 * engine with an engine image: it is applied to members in sim->active whose records and neighbours the engine has
 * copied to host memory.
 *  @param[out] is_complete  1: no system does, and the decision is complete; 0: it needs the whole state, and the
 * caller rolls the transaction back */
int nb6_step_look(struct nb6_sim *sim, int *is_complete, struct nbc_error *err);

#endif
