/** Forces of a tree on any targets. */
#ifndef GPUNB_TREE_FORCE_H
#define GPUNB_TREE_FORCE_H

#include "gpunb/tree/groups.h"

/** Memory that a handle keeps between its forces. */
struct tree_scratch {
    struct tree_groups groups;
    struct tree_room spaces;            /**< of threads */
    struct tree_room targets;           /**< their positions */
    struct tree_room masses, positions; /**< of sources by number */
    struct gpunb_tree *own;             /**< of gpunb_softened; NULL until there is one */
};

/** A checked job, `self` by place.   @return NBC_OK; NBC_NO_MEMORY */
int tree_force(const struct gpunb_tree *tree, const struct gpunb_softened_job *job, struct tree_scratch *scratch,
               struct gpunb_tree_counts *counts, struct nbc_error *err);
void tree_free_scratch(struct tree_scratch *scratch);

#endif
