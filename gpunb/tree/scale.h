/** The scale of the forces on targets that are near to each other. */
#ifndef GPUNB_TREE_SCALE_H
#define GPUNB_TREE_SCALE_H

#include "gpunb/tree/tree.h"

#include <math.h>

/** The summed sizes of all terms, mass r/R^3, at the centre of some targets within `radius`; what is nearer than that
 *  counts as at this distance. */
double tree_sum_of_sizes(const struct gpunb_tree *tree, const double centre[3], double radius, double softening2);
/** The part of a cell that is not opened.   @param[in] r2  of its centre from that of the targets */
static inline double tree_size_of_cell(double mass, double cell2, double r2, double radius2, double softening2)
{
    const double far2 = r2 + cell2 + radius2, big2 = far2 + softening2;
    return mass * sqrt(far2) / (big2 * sqrt(big2));
}

#endif
