#include "nbody6/collisionless/ranks/survey.h"

#include "nbody6/analysis/energy.h"
#include "nbody6/analysis/frame.h"
#include "nbody6/collisionless/collisionless.h"
#include "nbody6/collisionless/force_error.h"
#include "nbody6/collisionless/part.h"
#include "nbody6/collisionless/ranks/bodies.h"
#include "nbody6/collisionless/ranks/structure.h"
#include "nbody6/collisionless/system_memory.h"
#include "nbody6/state/level.h"
#include "nbody6/state/run_record.h"
#include "nbody6/world/collect.h"
#include "nbody6/world/rank_sum.h"
#include "nbody6/world/spread.h"
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

int nb6_rank_survey(const struct nb6_collisionless *s, struct nb6_spread *spread, const double *pot,
                    struct nb6_rank_survey *survey, struct nbc_error *err)
{
    struct nb6_world *world = s->world;
    double sum[SUMS];
    sum_share(s, pot, sum);
    nb6_rank_sum(world, sum, SUMS);
    take_energy(sum, &survey->energy);
    find_steps(s, world, survey);
    return nb6_rank_structure(s, spread, &survey->structure, err);
}

/* ---- errors of forces */

/* Places of the sample, and sums there, on all ranks. */
struct sample {
    int64_t n, *count; /* of all; [ranks] of each, which follow each other */
    double (*x)[3], (*acc)[3], *more, *error;
};

static void release(struct sample *a)
{
    nbc_free(a->count);
    nbc_free(a->x);
    nbc_free(a->acc);
    nbc_free(a->more);
    nbc_free(a->error);
}

static int provide(struct sample *a, int ranks, struct nbc_error *err)
{
    const size_t n = (size_t)a->n;
    a->count = nbc_alloc((size_t)ranks, sizeof *a->count);
    a->x = nbc_alloc_unset(n, sizeof *a->x);
    a->acc = nbc_alloc_unset(n, sizeof *a->acc);
    a->more = nbc_alloc_unset(n, sizeof *a->acc);
    a->error = nbc_alloc_unset(n, sizeof *a->error);
    if (a->count && a->x && a->acc && a->more && a->error) return NBC_OK;
    return nbc_fail(err, NBC_NO_MEMORY, "no memory for the errors of forces");
}

/* Bodies of each rank among them.   @return the first one of this rank */
static int64_t count_sample(const struct nb6_collisionless *s, struct sample *a)
{
    int64_t before = 0, k = 0;
    for (int r = 0; r < nb6_world_size(s->world); r++) {
        int64_t first, end;
        nb6_world_share(s->world, s->n_all, r, &first, &end);
        if (r == nb6_world_rank(s->world)) before = k;
        for (; k < a->n && nb6_force_error_body(s->n_all, k) < end; k++) a->count[r]++;
    }
    return before;
}

/* Each rank adds what its bodies do. */
static void find_errors(const struct nb6_collisionless *s, struct sample *a, struct nb6_force_error *found)
{
    const int64_t before = count_sample(s, a), end = before + a->count[nb6_world_rank(s->world)];
    for (int64_t k = before; k < end; k++)
        memcpy(a->x[k], s->x0[nb6_force_error_body(s->n_all, k) - s->first], sizeof a->x[k]);
    nb6_world_collect(s->world, a->count, sizeof *a->x, a->x);
    nb6_force_error_sum(s->n, s->mass, (const double(*)[3])s->x0, s->softening, a->n, (const double(*)[3])a->x, a->acc);
    nb6_world_add(s->world, 3 * a->n, a->acc[0], a->more);
    for (int64_t k = before; k < end; k++)
        a->error[k] = nb6_force_error_one(s->acc[nb6_force_error_body(s->n_all, k) - s->first], a->acc[k]);
    nb6_world_collect(s->world, a->count, sizeof *a->error, a->error);
    nb6_force_error_sort(a->n, a->error, found);
}

static int survey_errors(const struct nb6_collisionless *s, struct nb6_force_error *found, struct nbc_error *err)
{
    struct sample a = {.n = s->n_all < NB6_FORCE_ERROR_BODIES ? s->n_all : NB6_FORCE_ERROR_BODIES};
    const int status = nb6_world_agree(s->world, provide(&a, nb6_world_size(s->world), err), err);
    if (!status) find_errors(s, &a, found);
    release(&a);
    return status;
}

/* ---- bodies that have domains */

/* Bytes of positions that go around at once, twice; a share at least. */
static const size_t ROOM = (size_t)1 << 26;

/* Memory for an equal share. */
static int open_home(const struct nb6_collisionless *s, struct nb6_collisionless *home, double **pot,
                     struct nb6_spread **spread, struct nbc_error *err)
{
    int64_t end;
    *home = (struct nb6_collisionless){
        .n_all = s->n_all, .world = s->world, .softening = s->softening, .max_level = s->max_level};
    nb6_world_share(s->world, s->n_all, nb6_world_rank(s->world), &home->first, &end);
    home->n = end - home->first;
    *pot = nbc_alloc_unset((size_t)home->n, sizeof **pot);
    if (!nb6_collisionless_allocate_state(home) || !*pot)
        return nbc_fail(err, NBC_NO_MEMORY, "no memory for a share of the bodies");
    return nb6_spread_open(spread, s->world, s->n_all, sizeof(struct nb6_source), ROOM, NULL, err);
}

int nb6_rank_survey_domain(const struct nb6_collisionless *s, const double *pot, struct nb6_rank_survey *survey,
                           struct nbc_error *err)
{
    struct nb6_collisionless home;
    struct nb6_spread *spread = NULL;
    double *pot_home;
    int status = nb6_world_agree(s->world, open_home(s, &home, &pot_home, &spread, err), err);
    if (!status) status = nb6_rank_bodies_home(s, s->n_all, &home, err);
    if (!status) status = nb6_rank_bodies_home_numbers(s, s->n_all, pot, pot_home, err);
    if (!status) status = nb6_rank_survey(&home, spread, pot_home, survey, err);
    if (!status) status = survey_errors(&home, &survey->force_error, err);
    nb6_spread_close(spread);
    nbc_free(pot_home);
    nb6_collisionless_release(&home);
    return status;
}
