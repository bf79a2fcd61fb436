/** The last stage of the block step: who becomes or ceases to be a body. */
#ifndef NB6_DECIDE_H
#define NB6_DECIDE_H

#include "common/nbc.h"

struct nb6_sim;

/** Pairs that end, perturbers, new pairs and chains, of the bodies in sim->active; a transaction of its own.
 *  @return NBC_OK; if not, the state is that of the committed block, and book.undecided is 1 */
int nb6_step_decide(struct nb6_sim *sim, struct nbc_error *err);
/** The same for the last block once more, after a failure, or at t = 0, when everybody stands at the same time: what is
 *  compact already does not wait for its first block. */
int nb6_step_decide_again(struct nb6_sim *sim, struct nbc_error *err);
/** The first half, within an open transaction: new perturbers, and whether anybody forms, ends or changes. For an
 * engine that keeps bodies elsewhere, of members in sim->active that it has shown with all they see.
 *  @param[out] stands  1: nobody does, and that was all; 0: the whole state is needed, and the transaction is to be
 * taken back */
int nb6_step_look(struct nb6_sim *sim, int *stands, struct nbc_error *err);

#endif
