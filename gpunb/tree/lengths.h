/** Lengths of the lists of a tree, before there is one: from a fit to those of a Plummer model (lengths.c). */
#ifndef GPUNB_TREE_LENGTHS_H
#define GPUNB_TREE_LENGTHS_H

#include "gpunb/tree/costs.h"

/** Of a group. */
struct tree_lengths {
    double targets;
    double tests, cells, bodies;
    double cells_at_once; /**< that act on all its targets at once */
};

/** @param[in] on_device  1: lists of a GPU, whose regions have several groups */
struct tree_lengths tree_lengths_of(const struct gpunb_tree_sizes *sizes, double aim, size_t n_i, size_t n_j,
                                    int on_device);

#endif
