/** Regular forces by a tree: what the calls of gpunb.h ask for. docs/algorithms/regular_tree.md has the method. */
#ifndef GPUNB_TREE_REGULAR_H
#define GPUNB_TREE_REGULAR_H

#include "gpunb/handle.h"
#include "gpunb/tree/accept.h"

/** Whether a handle may make regular forces by tree. */
int gpunb_regf_has_tree(const gpunb_t *handle);
/** How regions of a regular force accept cells; with aim2 = 0 they do by angle. */
struct tree_rule gpunb_regular_rule(double force_error);
/** How groups of a device accept cells whose multipoles up to an order act on each target. */
struct tree_rule gpunb_regular_term_rule(double force_error, int order);
/** A body of this part of all mass acts as itself. */
double gpunb_regular_heavy_part(void);

/** A checked block, `self` by place, by tree on the processor: as `regf` of a backend.
 *  @param[out] done  0: not by tree, since a mass is negative
 *  @return NBC_OK; NBC_NO_MEMORY */
int gpunb_regular_force(gpunb_t *handle, const struct gpunb_block *block, int *done);

#endif
