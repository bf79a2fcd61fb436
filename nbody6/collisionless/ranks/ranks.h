/** A collisionless system whose bodies are divided among ranks (world/world.h): rank 0 has the system and gives orders,
 *  which all ranks follow.
 *
 *  A rank owns its share of the bodies, in the order of their numbers, with their leapfrog and their forces; all
 * sources come to it in each block (exchange.h). The next block time is a minimum over all ranks, and a block is
 * committed where all ranks have made their forces. Rank 0 has no more than its share: what files and rows show of the
 * others comes to it in pieces, or as sums. With a tree (domains.h) it has the state of all in the arrays of the
 * system. */
#ifndef NB6_RANKS_H
#define NB6_RANKS_H

#include "common/nbc.h"
#include "nbody6/collisionless/collisionless.h"
#include "nbody6/collisionless/ranks/backend.h"
#include "nbody6/collisionless/ranks/survey.h"
#include "nbody6/state/body.h"
#include "nbody6/state/body_rows.h"

#include <stddef.h>

struct nb6_rank_trees_counts;
struct nb6_ranks;
struct nb6_sections;
struct nb6_spread_counts;
struct nb6_world;

/** How ranks work. */
struct nb6_ranks_plan {
    int is_start;                         /**< 1: accelerations and steps are made; 0: those of the system count */
    size_t room;                          /**< bytes of nb6_exchange_open */
    const char *backend;                  /**< of nb6_ranks_backend */
    enum nb6_collisionless_engine engine; /**< on each rank; not auto */
};

/** Rank 0: the backend of all ranks, as nb6_rank_backend_own takes it. GPUs that nobody asked for are left alone unless
 *  each rank has one of its own.   @param[in] asked  as in struct gpunb_options   @param[in] n  bodies of all ranks
 *  @return NBC_OK; NBC_UNAVAILABLE */
int nb6_ranks_backend(struct nb6_world *world, const char *asked, int64_t n, char text[NB6_RANK_BACKEND_TEXT],
                      struct nbc_error *err);
/** Rank 0: the shares of all ranks get the bodies of a system.
 *  @param[in,out] whole  without arrays; its `force`, with room for one source at least, makes the sums of rank 0 too
 *  @param[in] from       the bodies
 *  @param[out] ranks     set on success only; to be freed with nb6_ranks_free, before the force
 *  @return NBC_OK; the first failure of any rank, as nb6_collisionless_create */
int nb6_ranks_open(struct nb6_ranks **ranks, struct nb6_world *world, struct nb6_collisionless *whole,
                   const struct nb6_body_source *from, const struct nb6_ranks_plan *plan, struct nbc_error *err);
/** Accepts NULL. */
void nb6_ranks_free(struct nb6_ranks *ranks);
/** Blocks up to the time ti_end.   @return as nb6_leapfrog_block, the first failure of any rank: all have the state
 *  after the same block then; after NBC_DEVICE and NBC_NO_MEMORY of devices that of the last nb6_ranks_home, or of a
 *  later block that all had in memory */
int nb6_ranks_evolve(struct nb6_ranks *ranks, struct nb6_collisionless *whole, nb6_time ti_end, struct nbc_error *err);
/** Rows of the shares are those of the time of the system.
 *  @return NBC_OK; NBC_DEVICE: of any rank; the system is as it was when its state was in memory last */
int nb6_ranks_home(struct nb6_ranks *ranks, struct nb6_collisionless *whole, struct nbc_error *err);
/** Rows of all bodies, as they were at the last nb6_ranks_home; potentials are those of nb6_ranks_potential. */
struct nb6_body_rows nb6_ranks_rows(struct nb6_ranks *ranks);
/** The values of all bodies in a row of the log, after nb6_ranks_potential.   @return NBC_OK; as nb6_rank_structure */
int nb6_ranks_survey(struct nb6_ranks *ranks, struct nb6_rank_survey *survey, struct nbc_error *err);
/** Engine of the ranks: "host", "device", "emulated". */
const char *nb6_ranks_engine(const struct nb6_ranks *ranks);
/** Potentials of all bodies, which stay with the shares.   @return NBC_OK; the first failure of any rank */
int nb6_ranks_potential(struct nb6_ranks *ranks, struct nbc_error *err);
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
