/** Targets in groups that are near to each other. */
#ifndef GPUNB_TREE_GROUPS_H
#define GPUNB_TREE_GROUPS_H

#include "gpunb/tree/tree.h"

struct tree_group {
    int32_t first, count; /**< its targets, in the order of struct tree_groups */
};

struct tree_groups {
    size_t n;                       /**< groups */
    struct tree_group *group;       /**< [n] */
    int32_t *target;                /**< [targets] number of the target at each place */
    struct tree_cells cells;        /**< of targets that are no sources */
    const struct tree_cells *along; /**< the cells along which targets are ordered: those, or those of the sources */
    const int32_t *before;          /**< [bodies of these + 1] targets before each place of theirs */
    const int32_t *mark;            /**< [sources] the target at each place, -1: none; of targets that are sources */
    struct tree_room groups, targets, marks, places;
};

/** Groups of at most `most` targets. Those that are sources (job->self, each only once) are taken along the tree.
 *  @param[in,out] seconds  of gpunb_tree_stage: keys, sort, link
 *  @return NBC_OK; NBC_NO_MEMORY */
int tree_make_groups(struct tree_groups *groups, const struct gpunb_tree *tree, const struct gpunb_softened_job *job,
                     int most, double *seconds);
/** Groups of as many targets each, `most` at the most, however cells fall: their work is about the same. Targets are
 *  sources, all different.   @return as above */
int tree_make_even_groups(struct tree_groups *groups, const struct gpunb_tree *tree,
                          const struct gpunb_softened_job *job, int most, double *seconds);
/** The order of targets, and the cells along which it is, without groups; own cells have at most `most` targets. */
int tree_order_targets(struct tree_groups *groups, const struct gpunb_tree *tree, const struct gpunb_softened_job *job,
                       int most, double *seconds);
void tree_free_groups(struct tree_groups *groups);

#endif
