#include "nbody6/collisionless/cost.h"

#include <math.h>

static const double WITHOUT_JERK = 26.0 / 60, COEFFICIENT = 0.5, OVERHEAD = 4000; /* in pairs */
static const double RUN_BYTES = 700, COEFFICIENT_BYTES = 4;                       /* of a body */

/* Seconds of a pair, with all that work on forces. */
static double pair_seconds(const struct nb6_collisionless_plan *plan, int threads)
{
    const int workers = plan->gpus > 0 ? plan->gpus : threads > 0 ? threads : 1;
    return 1e-9 * WITHOUT_JERK * plan->ns_per_pair / workers;
}

struct nb6_softened_cost nb6_cost_direct(const struct nb6_collisionless_plan *plan, int64_t n, int threads)
{
    const double bodies = (double)n;
    return (struct nb6_softened_cost){bodies * bodies * pair_seconds(plan, threads), bodies * RUN_BYTES};
}

struct nb6_softened_cost nb6_cost_tree(const struct nb6_collisionless_plan *plan, int64_t n, int threads)
{
    const struct gpunb_options *o = &plan->force;
    const double bodies = (double)n, p = o->order, coefficients = (p + 1) * (p + 2) * (p + 3) / 6;
    const double digits = o->force_error > 0 ? -log10(o->force_error) : 0, angle = o->theta;
    const double cells = angle > 0 ? 600 / angle : 300 * digits;
    const double pairs = angle > 0 ? 1200 / (angle * angle) : 1700 * digits - 1200;
    const double terms = fmin(pairs, bodies) + COEFFICIENT * coefficients * fmin(cells, bodies) + OVERHEAD;
    return (struct nb6_softened_cost){bodies * terms * pair_seconds(plan, threads),
                                      bodies * (RUN_BYTES + COEFFICIENT_BYTES * coefficients)};
}
