/** Softened forces on the bodies of a rank by a tree of the bodies of all ranks (gpunb/tree/essential.h): each sends
 * top cell and domain to all, and essential trees to those that are near. All failures are those of all ranks. */
#ifndef NB6_RANK_TREES_H
#define NB6_RANK_TREES_H

#include "common/nbc.h"
#include "gpunb/gpunb.h"

#include <stdint.h>

struct nb6_rank_trees;
struct nb6_sections;
struct nb6_world;

struct nb6_rank_trees_job {
    int64_t n;
    const int64_t *name;               /**< [n] of own bodies, for messages */
    const double *mass;                /**< [n] */
    const double (*x)[3];              /**< [n] */
    struct gpunb_softened_job targets; /**< own bodies, all different; acc_last on all ranks or on none */
};

struct nb6_rank_trees_counts {
    uint64_t forces, close;        /**< close: ranks that have sent trees, in all forces */
    uint64_t cells, whole, bodies; /**< that have come */
    uint64_t messages, bytes;      /**< of trees, sent */
};

/** @param[in,out] force  with a tree on processors; stays the caller's
 *  @return NBC_OK; of this rank alone: NBC_NO_MEMORY, NBC_UNAVAILABLE */
int nb6_rank_trees_open(struct nb6_rank_trees **trees, struct nb6_world *world, gpunb_t *force, struct nbc_error *err);
/** Accepts NULL. Before the force. */
void nb6_rank_trees_close(struct nb6_rank_trees *trees);
/** All ranks call it together.
 *  @return NBC_OK; NBC_BAD_ARGUMENT, NBC_NON_FINITE (a position: names the body); NBC_NO_MEMORY: of all ranks, but the
 *          last step, which each makes by itself */
int nb6_rank_trees_sum(struct nb6_rank_trees *trees, const struct nb6_rank_trees_job *job, struct nbc_error *err);
/** Sections by the work of the last force, in which all own bodies were targets, in their order.
 *  @param[in] x  where they are   @return as nb6_sections_find */
int nb6_rank_trees_divide(const struct nb6_rank_trees *trees, int64_t n, const double (*x)[3],
                          struct nb6_sections *sections, struct nbc_error *err);
void nb6_rank_trees_get_counts(const struct nb6_rank_trees *trees, struct nb6_rank_trees_counts *counts);

#endif
