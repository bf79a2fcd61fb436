/** Direct sums on few targets of ranks that have domains: all ranks get the targets of all, make the sums of their own
 *  bodies on them, and add these up. Each has as much work as it has bodies, wherever the targets are. */
#ifndef NB6_RANK_FEW_H
#define NB6_RANK_FEW_H

#include "common/nbc.h"
#include "gpunb/gpunb.h"

#include <stdint.h>

struct nb6_rank_few;
struct nb6_rank_trees_job;
struct nb6_world;

/** @param[in,out] force  stays the caller's   @return of this rank alone: NBC_OK; NBC_NO_MEMORY */
int nb6_rank_few_open(struct nb6_rank_few **few, struct nb6_world *world, gpunb_t *force, struct nbc_error *err);
/** Accepts NULL. Before the force. */
void nb6_rank_few_close(struct nb6_rank_few *few);
/** Accelerations of the targets, without potentials. All ranks call it together.
 *  @param[in] status  of this rank so far
 *  @return as nb6_rank_trees_sum */
int nb6_rank_few_sum(struct nb6_rank_few *few, const struct nb6_rank_trees_job *job, int status, struct nbc_error *err);

#endif
