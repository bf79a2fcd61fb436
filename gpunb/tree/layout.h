/** The layout of a tree in two columns: which body is at each place, and where parts of cells begin. Everything else
 *  about cells follows from it and from the positions. */
#ifndef GPUNB_TREE_LAYOUT_H
#define GPUNB_TREE_LAYOUT_H

#include "gpunb/tree/cells.h"

/** No part of a cell begins at a place. */
enum { TREE_NO_CUT = 255 };
_Static_assert(TREE_LEVELS <= TREE_NO_CUT + 1, "cells of the last level have no parts");

/** The depth of the cell whose part begins at each place; TREE_NO_CUT at places within leaves, and at place 0.
 *  @param[in] cell   all of them, by levels   @param[in] level  [n_levels + 1] where levels begin
 *  @param[out] cut   [n] */
void tree_layout_cuts(const struct tree_cell *cell, int n_levels, const int32_t *level, size_t n, uint8_t *cut);
/** The first place in `order` whose body has another place as well, or is none; n: each body has one.
 *  @return -1 without memory */
int64_t tree_layout_order_flaw(size_t n, const int32_t *order);
/** The first place by which `cut` is that of no tree, in which each cell has no part or two to eight; n: there is none.
 */
int64_t tree_layout_cut_flaw(size_t n, const uint8_t *cut);
/** Order and cells of a layout, as tree_make_cells made them.
 *  @return NBC_OK; NBC_NO_MEMORY; NBC_BAD_ARGUMENT: no tree has such a layout */
int tree_layout_restore(struct tree_cells *cells, size_t n, const int32_t *order, const uint8_t *cut);

#endif
