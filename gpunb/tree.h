/** Softened forces by a tree: cells of bodies act by their multipoles where that is exact enough.
 *
 *  A handle that was opened with `force_error` or `theta` (struct gpunb_options) makes the forces of gpunb_softened by
 * a tree, which it builds and drops. A caller who has several forces from the same sources, or from sources that have
 *  moved little, keeps the tree: build, then force as often as needed; after a new gpunb_send_positions of the same
 *  sources renew, then force.
 *
 *  Tree and groups of targets: Barnes 1990, J. Comput. Phys. 87, 161; all lists at once: Hamada et al. 2009,
 *  Comput. Sci. Res. Dev. 24, 21. Expansions
 *  are those of the softened kernel, (r^2 + softening^2)^(-1/2), to `order`. The error of a term is bounded by the
 *  powers of its multipoles (Dehnen 2014, Comput. Astrophys. Cosmol. 1, 1). docs/algorithms/tree.md has the method.
 *
 *  A target's scale, to which errors relate, is the larger of its |acc_last| and a hundredth of the summed sizes of all
 *  terms. 99 of 100 accelerations of all bodies are wrong by less than force_error times |a|, and 99 of 100
 *  potentials by less than a tenth of it, or what sums of floats leave, 3e-7.
 *
 *  A call of gpunb_softened for so few targets that direct sums are cheaper by nominal costs has direct sums, unless an
 *  angle or a walk was asked for (gpunb_tree_is_worth).
 *
 *  Regular forces. A handle with `force_error` makes blocks of gpunb_regf by tree as well, from so many targets and
 * sources on that this is cheaper by nominal costs (gpunb_regf_by_tree). Neighbours are never in a cell that acts as a
 * whole: lists are those of direct sums. 99 of 100 accelerations are wrong by less than force_error, jerks by less than
 * 30 times it, relative to the regular acceleration and jerk of the target, half of them by less than a sixteenth of
 * that. Sources of a hundredth of all mass or more act by themselves; with negative masses, with an angle, and on
 * devices in other precisions, with potentials, or at places without a source, they are direct sums.
 *
 *  Threads, bits: as in gpunb.h. Masses must not be negative. */
#ifndef GPUNB_TREE_H
#define GPUNB_TREE_H

#include "gpunb/gpunb.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gpunb_tree gpunb_tree_t;

/** Whether options ask for a tree. */
static inline int gpunb_tree_is_asked(const struct gpunb_options *options)
{
    return options->force_error > 0 || options->theta > 0;
}

/** The least force_error that a handle takes: what is left of float arithmetic, or of the highest order. */
double gpunb_tree_least_error(const gpunb_t *handle);

/** Nominal cost of a softened force of n_j sources on n_i targets by this handle, in pairs of a direct sum on the same
 *  backend; it follows from the options, and is never measured at run time.
 *  @param[out] by_tree  with a new tree; may be NULL   @return of direct sums, n_i n_j */
double gpunb_softened_pairs(const gpunb_t *handle, size_t n_i, size_t n_j, double *by_tree);
/** Whether gpunb_softened uses a tree for so many targets and sources. */
int gpunb_tree_is_worth(const gpunb_t *handle, size_t n_i, size_t n_j);

/** The same of a block of gpunb_regf.   @param[out] by_tree  of direct sums, if the handle makes only these */
double gpunb_regf_pairs(const gpunb_t *handle, size_t n_i, size_t n_j, double *by_tree);
/** Whether gpunb_regf uses a tree for so many targets and sources. */
int gpunb_regf_by_tree(const gpunb_t *handle, size_t n_i, size_t n_j);

/** A tree of the present sources.
 *  @param[out] tree  set on success only; to be freed before the handle
 *  @return NBC_OK; NBC_BAD_STATE (no sources; the handle was opened for direct sums); NBC_BAD_ARGUMENT (a mass is
 *          negative); NBC_NO_MEMORY; NBC_DEVICE (a device failed, or has no memory for it) */
int gpunb_tree_build(gpunb_t *handle, gpunb_tree_t **tree);
/** The same, with cells at other places: those of a root that is moved by a hash of `build`. Errors that cells make at
 *  fixed places do not add up over trees with other numbers. 0: as gpunb_tree_build. */
int gpunb_tree_build_moved(gpunb_t *handle, uint64_t build, gpunb_tree_t **tree);
/** The same cells with the present sources, which are as many and have the same numbers, where they are now: boxes and
 *  multipoles are made anew. Forces are within the aim wherever the sources went; the farther, the longer they take.
 *  @return as gpunb_tree_build; after a failure the tree can be renewed again, or be freed */
int gpunb_tree_renew(gpunb_t *handle, gpunb_tree_t *tree);
/** The force of gpunb_softened with a tree of the present sources.
 *  @return as gpunb_softened; NBC_BAD_STATE: sources were sent after the tree was built or renewed */
int gpunb_tree_force(gpunb_t *handle, gpunb_tree_t *tree, const struct gpunb_softened_job *job);
void gpunb_tree_free(gpunb_tree_t *tree);

/** Stages of a force by tree. */
enum gpunb_tree_stage {
    GPUNB_TREE_KEY = 0,     /**< boxes and keys of sources and targets */
    GPUNB_TREE_SORT = 1,    /**< their order */
    GPUNB_TREE_LINK = 2,    /**< cells and groups */
    GPUNB_TREE_MOMENTS = 3, /**< boxes and multipoles of cells */
    GPUNB_TREE_LISTS = 4,   /**< walks; of the threads together, as the following ones */
    GPUNB_TREE_CELLS = 5,   /**< terms of cells */
    GPUNB_TREE_PAIRS = 6,   /**< terms of bodies */
    GPUNB_TREE_STAGES = 7
};
/** Name of a stage: "key", "sort", "link", "moments", "lists", "cells", "pairs". */
const char *gpunb_tree_stage_name(enum gpunb_tree_stage stage);

/** Work of the trees of a handle since it was opened. */
struct gpunb_tree_counts {
    uint64_t builds, renewals, forces;
    uint64_t targets, groups;             /**< groups: lists that were made */
    uint64_t tests;                       /**< of a cell by a group */
    uint64_t listed_cells, listed_bodies; /**< in the lists of groups */
    uint64_t cell_terms, pair_terms;      /**< of a target with a cell, and with a body */
    uint64_t local_terms;                 /**< of a group as a whole with a cell */
    uint64_t first_forces;                /**< forces by angle that came before, for want of acc_last */
    double seconds[GPUNB_TREE_STAGES];
};
void gpunb_tree_get_counts(const gpunb_t *handle, struct gpunb_tree_counts *counts);
/** Counts of several handles, or parts, together.   @param[in,out] sum */
static inline void gpunb_tree_add_counts(struct gpunb_tree_counts *sum, const struct gpunb_tree_counts *more)
{
    sum->builds += more->builds;
    sum->renewals += more->renewals;
    sum->forces += more->forces;
    sum->targets += more->targets;
    sum->groups += more->groups;
    sum->tests += more->tests;
    sum->listed_cells += more->listed_cells;
    sum->listed_bodies += more->listed_bodies;
    sum->cell_terms += more->cell_terms;
    sum->pair_terms += more->pair_terms;
    sum->local_terms += more->local_terms;
    sum->first_forces += more->first_forces;
    for (int stage = 0; stage < GPUNB_TREE_STAGES; stage++) sum->seconds[stage] += more->seconds[stage];
}

/** The tree's shape: cells, the deepest level, bodies of the largest leaf, bytes.   @param[out] any may be NULL */
void gpunb_tree_shape(const gpunb_tree_t *tree, size_t *cells, int *depth, size_t *largest_leaf, size_t *bytes);

#ifdef __cplusplus
}
#endif
#endif
