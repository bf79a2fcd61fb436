/** Forces of a tree on any targets. */
#ifndef GPUNB_TREE_FORCE_H
#define GPUNB_TREE_FORCE_H

#include "gpunb/tree/groups.h"
#include "gpunb/tree/method.h"

#include <stdint.h>

/** Memory that a handle keeps between its forces. */
struct tree_scratch {
    struct tree_groups groups;
    struct tree_room spaces;            /**< of threads */
    struct tree_room targets;           /**< their positions */
    struct tree_room masses, positions; /**< of sources by number */
    struct gpunb_tree *own;             /**< of gpunb_softened; NULL until there is one */
};

/** Walks for groups of targets that were made, in part of a force.
 *  @param[in]  is_first  1: by angle, for want of accelerations that set the scale; 0: by the aim or angle of the
 * handle
 *  @param[in]  job       checked, `self` by place
 *  @param[out] cost      [n_i] work of each target's list, in pairs by nominal costs; NULL: not wanted
 *  @return NBC_OK; NBC_NO_MEMORY */
int tree_force_of_groups(const struct gpunb_tree *tree, const struct tree_groups *groups,
                         const struct gpunb_softened_job *job, int is_first, uint32_t *cost,
                         struct tree_scratch *scratch, struct gpunb_tree_counts *counts, struct nbc_error *err);
/** Whether a force by angle has to come first. */
static inline int tree_force_has_first(const struct gpunb_tree_use *use, const struct gpunb_softened_job *job)
{
    return use->theta == 0 && !job->acc_last;
}
/** The most targets of a group. */
static inline int tree_most_of_group(const struct gpunb_tree_use *use)
{
    return use->walk == GPUNB_WALK_SINGLE ? 1 : use->sizes.group;
}
/** A checked job, `self` by place.   @return NBC_OK; NBC_NO_MEMORY */
int tree_force(const struct gpunb_tree *tree, const struct gpunb_softened_job *job, struct tree_scratch *scratch,
               struct gpunb_tree_counts *counts, struct nbc_error *err);
void tree_free_scratch(struct tree_scratch *scratch);

#endif
