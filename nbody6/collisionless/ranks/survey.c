#include "nbody6/collisionless/ranks/ranks.h"

#include "nbody6/analysis/energy.h"
#include "nbody6/analysis/frame.h"
#include "nbody6/collisionless/collisionless.h"
#include "nbody6/collisionless/ranks/structure.h"
#include "nbody6/state/level.h"
#include "nbody6/state/run_record.h"
#include "nbody6/world/rank_sum.h"
#include "nbody6/world/world.h"

#include <string.h>

enum { KINETIC, POTENTIAL, MASS, SPIN, PLACE = SPIN + 3, MOTION = PLACE + 3, SUMS = MOTION + 3 };
_Static_assert((int)SUMS <= (int)NB6_RANK_SUMS, "sums of a share");

/* Each sum over a share is exact to a rounding (nb6_energy_of_frame): centres are moments again. */
static void sum_share(const struct nb6_collisionless *s, const double *pot, double sum[SUMS])
{
    static const struct nb6_run_record none; /* of which the field: softened systems have no galaxy */
    const struct nb6_frame frame = {
        .n = s->n, .mass = s->mass, .x = s->x0, .v = s->v, .pot = (double *)pot, .shows = 1};
    struct nb6_energy energy;
    memset(sum, 0, SUMS * sizeof *sum);
    if (s->n == 0) return;
    nb6_energy_of_frame(&frame, &none.external, &energy);
    sum[KINETIC] = energy.kinetic;
    sum[POTENTIAL] = energy.potential;
    sum[MASS] = energy.mass;
    for (int k = 0; k < 3; k++) {
        sum[SPIN + k] = energy.angular_momentum[k];
        sum[PLACE + k] = energy.mass * energy.centre_x[k];
        sum[MOTION + k] = energy.mass * energy.centre_v[k];
    }
}

static void take_energy(const double sum[SUMS], struct nb6_energy *energy)
{
    *energy = (struct nb6_energy){.kinetic = sum[KINETIC], .potential = sum[POTENTIAL], .mass = sum[MASS]};
    energy->total = energy->kinetic + energy->potential;
    energy->virial_ratio = energy->potential < 0 ? energy->kinetic / -energy->potential : 0;
    for (int k = 0; k < 3; k++) {
        energy->angular_momentum[k] = sum[SPIN + k];
        energy->centre_x[k] = energy->mass > 0 ? sum[PLACE + k] / energy->mass : 0;
        energy->centre_v[k] = energy->mass > 0 ? sum[MOTION + k] / energy->mass : 0;
    }
}

static void find_steps(const struct nb6_collisionless *s, struct nb6_world *world, struct nb6_rank_survey *survey)
{
    int64_t least[2] = {s->max_level, 0}; /* levels, and levels below 0 */
    for (int64_t i = 0; i < s->n; i++) {
        if (s->level[i] < least[0]) least[0] = s->level[i];
        if (-s->level[i] < least[1]) least[1] = -s->level[i];
    }
    nb6_world_minimum(world, least, 2);
    survey->shortest = nb6_step_length((int)least[0]);
    survey->longest = nb6_step_length((int)-least[1]);
}

int nb6_rank_survey(const struct nb6_collisionless *s, const double *pot, struct nb6_rank_survey *survey,
                    struct nbc_error *err)
{
    struct nb6_world *world = s->world;
    double sum[SUMS];
    sum_share(s, pot, sum);
    nb6_rank_sum(world, sum, SUMS);
    take_energy(sum, &survey->energy);
    find_steps(s, world, survey);
    return nb6_rank_structure(s, &survey->structure, err);
}
