/** The block step of the host engine, with all bodies in host memory and forces from GPUNB and GPUIRR: its stages are
 * the files of this folder. */
#ifndef NB6_BLOCK_H
#define NB6_BLOCK_H

#include "common/nbc.h"
#include "nbody6/state/body.h"

struct nb6_sim;

/** Time of the next block. */
nb6_time nb6_block_next(const struct nb6_sim *sim);
/** Stage "select": the next block time, active.t, and the bodies due then, ascending, in active.irr[n_irr]. Centres of
 *  mass may join until nb6_block_mark_regular_members. */
void nb6_block_select(struct nb6_sim *sim);
/** The members are complete: active.reg[n_reg] are those that end a regular step as well. */
void nb6_block_mark_regular_members(struct nb6_sim *sim);
/** Stages "predict" to "regular corrector": prediction, irregular and regular forces with the corrections for resolved
 * systems (nb6_subsystems_correct), both correctors, new lists, steps and radii, into active.corrected. Bodies stay as
 * they are.
 *  @return NBC_OK; NBC_NON_FINITE (body and quantity are named); NBC_NO_MEMORY; the status of a library */
int nb6_block_compute(struct nb6_sim *sim, struct nbc_error *err);

#endif
