#include "nbody6/app/collisionless/cost.h"

static const double RUN_BYTES = 500, COEFFICIENT_BYTES = 4; /* of a body */

/* Seconds of a pair, with all that work on forces. */
static double pair_seconds(const struct nb6_collisionless_plan *plan, int threads)
{
    return 1e-9 * plan->pair_ns / (plan->gpus > 0 ? plan->gpus : threads > 0 ? threads : 1);
}

struct nb6_softened_cost nb6_cost_direct(const struct nb6_collisionless_plan *plan, int64_t n, int threads)
{
    return (struct nb6_softened_cost){plan->pairs * pair_seconds(plan, threads), (double)n * RUN_BYTES};
}

struct nb6_softened_cost nb6_cost_tree(const struct nb6_collisionless_plan *plan, int64_t n, int threads)
{
    const double p = plan->force.order, coefficients = (p + 1) * (p + 2) * (p + 3) / 6;
    return (struct nb6_softened_cost){plan->pairs_by_tree * pair_seconds(plan, threads),
                                      (double)n * (RUN_BYTES + COEFFICIENT_BYTES * coefficients)};
}
