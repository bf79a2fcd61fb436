/** The scale of the forces on targets that are near to each other. */
#ifndef GPUNB_TREE_SCALE_H
#define GPUNB_TREE_SCALE_H

#include "gpunb/tree/tree.h"

/** The summed sizes of all terms, mass r/R^3, at the centre of some targets within `radius`; what is nearer than that
 *  counts as at this distance. */
double tree_sum_of_sizes(const struct gpunb_tree *tree, const double centre[3], double radius, double softening2);

#endif
