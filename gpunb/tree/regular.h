/** Regular forces by a tree: what the calls of gpunb.h ask for. docs/algorithms/regular_tree.md has the method. */
#ifndef GPUNB_TREE_REGULAR_H
#define GPUNB_TREE_REGULAR_H

#include "gpunb/handle.h"

/** A checked block, `self` by place, by tree: as `regf` of a backend.
 *  @param[out] done  0: not by tree, since a mass is negative
 *  @return NBC_OK; NBC_NO_MEMORY */
int gpunb_regular_force(gpunb_t *handle, const struct gpunb_block *block, int *done);

#endif
