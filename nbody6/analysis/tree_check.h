/** Regular forces by a tree against direct sums, for a sample of the bodies of a frame (--force-check). */
#ifndef NB6_TREE_CHECK_H
#define NB6_TREE_CHECK_H

#include "common/nbc.h"
#include "gpunb/gpunb.h"

#include <stdint.h>

struct nb6_frame;

/** Relative errors, as |difference|/|direct|, of the regular accelerations and jerks of some targets: of half and of 99
 * of 100 of them; and how many lists of neighbours are not those of direct sums. */
struct nb6_tree_check {
    int64_t targets, lists;
    double acc_median, acc_99, jerk_median, jerk_99;
};

/** The forces of all bodies of a frame on at most `most` of them, evenly spread over their numbers, with the spheres
 * and steps that they have: by a tree, and as direct sums of the same backend.
 *  @param[in] bodies   without stars that a system resolves: with NB6_FRAME_BODIES
 *  @param[in] options  of the tree: its force_error is > 0
 *  @param[in] unit     what the squares of radii are divided by (gpunb_regf): the mean mass if bodies count by mass, or
 * 1
 *  @return NBC_OK; NBC_NO_MEMORY; NBC_UNAVAILABLE; NBC_DEVICE */
int nb6_tree_check(const struct nb6_frame *bodies, const struct gpunb_options *options, double unit, int64_t most,
                   struct nb6_tree_check *check, struct nbc_error *err);

#endif
