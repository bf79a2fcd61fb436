/** Softened forces on the bodies of a rank by a tree of the bodies of all ranks (gpunb/tree/essential.h): each sends
 * top cell and domain to all, and essential trees to those that are near. Lists of what goes where may be kept for
 * several forces: a plan. All failures are those of all ranks. */
#ifndef NB6_RANK_TREES_H
#define NB6_RANK_TREES_H

#include "common/nbc.h"
#include "gpunb/gpunb.h"
#include "nbody6/collisionless/ranks/places.h"

#include <stdint.h>

struct nb6_rank_trees;
struct nb6_world;

struct nb6_rank_trees_job {
    int64_t n;
    const int64_t *name;               /**< [n] of own bodies, for messages */
    const double *mass;                /**< [n] */
    const double (*x)[3];              /**< [n] */
    struct gpunb_softened_job targets; /**< own bodies, all different; acc_last on all ranks or on none */
};

/** All that the lists of a plan follow from, so that a run that is resumed can make them again. */
struct nb6_rank_plan {
    uint64_t block;                /**< number of the block whose force made it; NB6_NO_BUILD: there is none */
    struct nb6_rank_places places; /**< of own bodies then */
};

struct nb6_rank_plan_job {
    int64_t n;
    const double *mass;
    const double (*x)[3], (*acc)[3]; /**< acc: last accelerations */
    const double *drift;             /**< as above; NULL: that of velocities v over a time */
    const double (*v)[3];
    double time;
    double softening;
    uint64_t block;
};

struct nb6_rank_trees_counts {
    uint64_t forces, close;        /**< close: ranks that have sent trees, in all forces */
    uint64_t cells, whole, bodies; /**< that have come */
    uint64_t messages, bytes;      /**< of trees, sent */
    double load;                   /**< of nb6_ranks_get_tree_counts: that of domains (domains.h) */
};

/** @param[in,out] force  with a tree; stays the caller's   @param[in] keeps_lists  1: there will be plans
 *  @return NBC_OK; of this rank alone: NBC_NO_MEMORY, NBC_UNAVAILABLE */
int nb6_rank_trees_open(struct nb6_rank_trees **trees, struct nb6_world *world, gpunb_t *force, int keeps_lists,
                        struct nbc_error *err);
/** Accepts NULL. Before the force. */
void nb6_rank_trees_close(struct nb6_rank_trees *trees);
/** All ranks call it together.
 *  @return NBC_OK; NBC_BAD_ARGUMENT, NBC_NON_FINITE (a position: names the body); NBC_NO_MEMORY: of all ranks, but the
 *          last step, which each makes by itself */
int nb6_rank_trees_sum(struct nb6_rank_trees *trees, const struct nb6_rank_trees_job *job, struct nbc_error *err);
/** The same by direct sums (few.h), without potentials. */
int nb6_rank_trees_sum_few(struct nb6_rank_trees *trees, const struct nb6_rank_trees_job *job, struct nbc_error *err);

/** Lists for the forces that follow.   @return NBC_OK; NBC_NO_MEMORY: of all ranks, there is no plan then */
int nb6_rank_trees_plan(struct nb6_rank_trees *trees, const struct nb6_rank_plan_job *job, struct nbc_error *err);
const struct nb6_rank_plan *nb6_rank_trees_planned(const struct nb6_rank_trees *trees);
/** The lists of a force. */
struct nb6_rank_lists {
    uint64_t block;  /**< number of the block whose force should have made them */
    int64_t targets; /**< of all ranks */
    int are_new;     /**< 1: they are made first */
};
/** A force by a plan, without potentials.
 *  @param[in] anew  a plan that can be made first, for the same bodies where they are
 *  @param[in,out] lists  they become new, on all ranks, if there are none of that block, or these know too few of the
 *                        targets   @return as nb6_rank_trees_sum */
int nb6_rank_trees_sum_kept(struct nb6_rank_trees *trees, const struct nb6_rank_trees_job *job,
                            const struct nb6_rank_plan_job *anew, struct nb6_rank_lists *lists, struct nbc_error *err);

/** The work of the last force, by nominal costs in pairs; of direct sums none, since it is that of all ranks alike. */
uint64_t nb6_rank_trees_work(const struct nb6_rank_trees *trees);
/** The same by bodies.   @param[in] target [n] those of that force, all different   @param[in,out] work  of all own
 * bodies */
void nb6_rank_trees_add_work(const struct nb6_rank_trees *trees, int64_t n, const int32_t *target, uint64_t *work);
/** Own bodies along the curve of the last tree; NULL: there is none, or they are others since. */
const int32_t *nb6_rank_trees_order(const struct nb6_rank_trees *trees);
void nb6_rank_trees_forget_order(struct nb6_rank_trees *trees);
void nb6_rank_trees_get_counts(const struct nb6_rank_trees *trees, struct nb6_rank_trees_counts *counts);

#endif
