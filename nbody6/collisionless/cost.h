/** Nominal time and memory of a collisionless run, for --check: from numbers that are written down, never from a clock.
 */
#ifndef NB6_COLLISIONLESS_COST_H
#define NB6_COLLISIONLESS_COST_H

#include "nbody6/collisionless/collisionless.h"

#include <stdint.h>

struct nb6_softened_cost {
    double seconds; /**< of the forces on all bodies once */
    double bytes;   /**< of the run */
};

/** By direct sums, and by the tree of the plan. Good to a factor of two for spheres and discs of 10^4 to 10^7 bodies.
 *
 *  A pair takes 26/60 of the backend's ns_per_pair: operations without and with a jerk. A cell of order p has
 *  (p + 1)(p + 2)(p + 3)/6 coefficients, each of which takes half a pair. All else of a tree takes 4000 pairs a body.
 * Terms of a body, d = -log10(FORCE_ERROR): 300 d cells and 1700 d - 1200 bodies; by THETA 600/THETA and 1200/THETA^2;
 * no more than there are bodies. Measured with Plummer models of 2^14 to 2^20 bodies, softening 0.02, groups of up to
 * 256: bench_tree n=131072 error=1e-3 and so on prints 946 and 3760. A run takes 700 bytes a body, and a tree 4 bytes
 * for each coefficient more (largest resident memory with 2^18 and 2^20 bodies).
 *  @param[in] threads  of the host: those that make the forces, unless GPUs do */
struct nb6_softened_cost nb6_cost_direct(const struct nb6_collisionless_plan *plan, int64_t n, int threads);
struct nb6_softened_cost nb6_cost_tree(const struct nb6_collisionless_plan *plan, int64_t n, int threads);

#endif
