/** Nominal time and memory of a collisionless run, for --check: from numbers that are written down, never from a clock.
 */
#ifndef NB6_APP_COLLISIONLESS_COST_H
#define NB6_APP_COLLISIONLESS_COST_H

#include "nbody6/collisionless/collisionless.h"

#include <stdint.h>

struct nb6_softened_cost {
    double seconds; /**< of the forces on all n bodies once */
    double bytes;   /**< of the run */
};

/** By direct sums, and by the tree of the plan. Good to a factor of two for spheres and discs of 10^4 to 10^7 bodies.
 *  Pairs are those of gpunb_softened_pairs, which threads and GPUs share. A run takes 500 bytes a body, and
 * a tree 4 bytes more for each coefficient of its order p, of which there are (p + 1)(p + 2)(p + 3)/6: the largest
 * resident memory with 2^22 bodies. Of fewer a body takes more: blocks of memory are whole pages of 2 MiB.
 *  @param[in] plan     for n bodies
 *  @param[in] threads  of the host: those that make the forces, unless GPUs do */
struct nb6_softened_cost nb6_cost_direct(const struct nb6_collisionless_plan *plan, int64_t n, int threads);
struct nb6_softened_cost nb6_cost_tree(const struct nb6_collisionless_plan *plan, int64_t n, int threads);

#endif
