/** A collisionless system whose bodies are divided among ranks (world/world.h): rank 0 has the system and gives orders,
 *  which all ranks follow.
 *
 *  A rank owns its share of the bodies, in the order of their numbers, with their leapfrog and their forces; all
 * sources come to it in each block (exchange.h). The next block time is a minimum over all ranks, and a block is
 * committed where all ranks have made their forces. Rank 0 has names, masses and the state of all bodies in memory as
 * well, as it was at the last nb6_ranks_home: 89 bytes for each of them, of which files and rows are made. */
#ifndef NB6_RANKS_H
#define NB6_RANKS_H

#include "common/nbc.h"
#include "nbody6/state/body.h"

#include <stddef.h>

struct nb6_collisionless;
struct nb6_rank_trees_counts;
struct nb6_ranks;
struct nb6_sections;
struct nb6_spread_counts;
struct nb6_world;

/** Rank 0: the shares of all ranks get the bodies of a system.
 *  @param[in,out] whole  its `force`, with room for one source at least, makes the sums of rank 0 too
 *  @param[in] is_start   1: accelerations and steps are made; 0: those of `whole` count
 *  @param[in] room       bytes of nb6_exchange_open
 *  @param[out] ranks     set on success only; to be freed with nb6_ranks_free, before the force
 *  @return NBC_OK; the first failure of any rank, as nb6_collisionless_create */
int nb6_ranks_open(struct nb6_ranks **ranks, struct nb6_world *world, struct nb6_collisionless *whole, int is_start,
                   size_t room, struct nbc_error *err);
/** Accepts NULL. */
void nb6_ranks_free(struct nb6_ranks *ranks);
/** Blocks up to the time ti_end.   @return as nb6_leapfrog_block, the first failure of any rank: all have the state
 * after the same block then */
int nb6_ranks_evolve(struct nb6_ranks *ranks, struct nb6_collisionless *whole, nb6_time ti_end, struct nbc_error *err);
/** The arrays of the system are those of its time.
 *  @return NBC_OK; NBC_NO_MEMORY, where bodies have domains: they are as they were */
int nb6_ranks_home(struct nb6_ranks *ranks, struct nb6_collisionless *whole, struct nbc_error *err);
/** @param[out] pot  [n] of all bodies   @return NBC_OK; the first failure of any rank */
int nb6_ranks_potential(struct nb6_ranks *ranks, double *pot, struct nbc_error *err);
/** Ranks that have wanted to stop at the end of the last nb6_ranks_evolve. */
int nb6_ranks_wanting_stop(const struct nb6_ranks *ranks);
/** Of the forces of rank 0, and how many ranks there are. */
int nb6_ranks_get_counts(const struct nb6_ranks *ranks, struct nb6_spread_counts *counts);
/** @return 1; 0: forces are direct sums */
int nb6_ranks_get_tree_counts(const struct nb6_ranks *ranks, struct nb6_rank_trees_counts *counts);
/** The domains of all ranks; NULL: forces are direct sums. */
const struct nb6_sections *nb6_ranks_sections(const struct nb6_ranks *ranks);

/** All other ranks: follow the orders of rank 0 to the last one.
 *  @param[in] wants_stop  whether this rank wants the run to stop; NULL: never
 *  @return the status that rank 0 gave */
int nb6_ranks_serve(struct nb6_world *world, int (*wants_stop)(void));
/** Rank 0: the last order. Nothing happens on one rank.   @param[in] status  with which all end */
void nb6_ranks_dismiss(struct nb6_world *world, int status);

#endif
