#include "nbody6/step/regular_step.h"

#include "common/nbc.h"
#include "common/team.h"
#include "gpuirr/gpuirr.h"
#include "nbody6/input/config.h"
#include "nbody6/state/body.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/profile.h"
#include "nbody6/state/sim.h"
#include "nbody6/step/corrector.h"
#include "nbody6/step/derivatives.h"
#include "nbody6/step/hermite.h"
#include "nbody6/step/levels.h"
#include "nbody6/step/radius.h"
#include "nbody6/step/regular.h"
#include "nbody6/step/rules.h"

#include <math.h>

/* Targets that a thread writes down in some microseconds. */
enum { TARGETS_OF_A_PART = 128 };

/* Scratch of the stage: one entry for each regular member. It grows, and stays with the run. */
struct regular_scratch {
    int64_t room;
    struct nb6_regular_target *target;
    int32_t *body;
    double (*acc)[3], (*jerk)[3]; /* irregular sums over the new lists */
    double *noise;                /* rounding errors of acc */
};

/* Room for n members in one block of memory; NULL: there is none. */
static struct regular_scratch *grow_scratch(struct nb6_sim *sim, int64_t n)
{
    struct regular_scratch *scratch = sim->active.regular;
    if (scratch && n <= scratch->room) return scratch;
    const size_t room = (size_t)(n + n / 2);
    const size_t member = sizeof *scratch->target + sizeof *scratch->acc + sizeof *scratch->jerk +
                          sizeof *scratch->noise + sizeof *scratch->body;
    nbc_free(sim->active.regular);
    sim->active.regular = scratch = nbc_alloc(1, sizeof *scratch + room * member);
    if (!scratch) return NULL;
    scratch->room = (int64_t)room;
    scratch->target = (void *)(scratch + 1);
    scratch->acc = (void *)(scratch->target + room);
    scratch->jerk = scratch->acc + room;
    scratch->noise = (void *)(scratch->jerk + room);
    scratch->body = (void *)(scratch->noise + room);
    return scratch;
}

struct correction {
    struct nb6_sim *sim;
    const struct regular_scratch *scratch;
    struct nb6_step_rules steps;
    struct nb6_radius_rules radii;
    int64_t unsound; /* place in active.reg of the first */
};

static void correct(const struct correction *job, int64_t m, struct nb6_higher *higher)
{
    struct nb6_sim *sim = job->sim;
    const struct regular_scratch *scratch = job->scratch;
    int32_t member = sim->active.reg[m], i = sim->active.irr[member];
    struct nb6_corrected *c = &sim->active.corrected[member];
    const struct nb6_regular_target *target = &scratch->target[m];
    const struct nb6_star *star = &sim->star[i];
    const double h = nb6_time_to_double(sim->active.t - star->t0_reg);
    double come_acc[3], come_jerk[3];
    for (int k = 0; k < 3; k++) {
        come_acc[k] = scratch->acc[m][k] - sim->active.acc[member][k];
        come_jerk[k] = scratch->jerk[m][k] - sim->active.jerk[member][k];
    }
    /* In the difference of both sums bodies in both lists cancel, rounded or not, unless only one of them is summed in
     * double: then its noise is far below that of the other. */
    c->noise_reg = (double)nb6_noise_of_regular(&job->steps, c->x, star->nnb, star->r_nb);
    c->noise_reg += fabs(scratch->noise[m] - sim->active.noise[member]) + target->noise;
    nb6_correct_regular(star, h, target->acc, target->jerk, come_acc, come_jerk, c, higher);
    if (job->steps.seen_between_steps) nb6_derivatives_of_list(sim, i, c);
}

static void next_step(const struct correction *job, int64_t m, const struct nb6_higher *higher)
{
    const struct nb6_sim *sim = job->sim;
    const struct nb6_regular_target *target = &job->scratch->target[m];
    int32_t member = sim->active.reg[m], i = sim->active.irr[member];
    struct nb6_corrected *c = &sim->active.corrected[member];
    const struct nb6_star *star = &sim->star[i];
    c->nnb = target->nnb;
    c->r_nb = nb6_next_radius(&job->radii, target->r_nb, c->nnb);
    c->r_nb = nb6_radius_for_system(sim, target->body, c->r_nb, c->nnb);
    c->level_reg = star->level_reg;
    if (sim->run.config.integration.dt_fixed_reg > 0) return;
    const double h = nb6_time_to_double(sim->active.t - star->t0_reg);
    nb6_next_regular_level(&job->steps, star, higher, h, sim->active.t, c);
}

static int report_non_finite(const struct nb6_sim *sim, int64_t m, struct nbc_error *err)
{
    const int32_t member = sim->active.reg[m], i = sim->active.irr[member];
    const struct nb6_corrected *c = &sim->active.corrected[member];
    return nbc_fail(err, NBC_NON_FINITE,
                    "star %lld (index %d): the regular corrector at t = %.12g gave a NaN or an infinity "
                    "(acceleration %g %g %g, step 2^%d ticks, %d neighbours, radius %g)",
                    (long long)sim->star[i].name, i, nb6_time_to_double(sim->active.t), c->acc_reg[0], c->acc_reg[1],
                    c->acc_reg[2], sim->star[i].level_reg, c->nnb, c->r_nb);
}

static void set_targets(void *context, int part, int parts)
{
    const struct nb6_sim *sim = context;
    const struct regular_scratch *scratch = sim->active.regular;
    int64_t first, end;
    nbc_range(sim->active.n_reg, part, parts, &first, &end);
    for (int64_t m = first; m < end; m++) {
        const int32_t i = sim->active.irr[sim->active.reg[m]];
        const struct nb6_star *star = &sim->star[i];
        scratch->body[m] = i;
        scratch->target[m] =
            (struct nb6_regular_target){.body = i, .dt_reg = nb6_step_length(star->level_reg), .r_nb = star->r_nb};
    }
}

static int begin(struct nb6_sim *sim, struct nbc_error *err)
{
    const int64_t n = sim->active.n_reg;
    struct regular_scratch *scratch = grow_scratch(sim, n);
    if (!scratch) return nbc_fail(err, NBC_NO_MEMORY, "no memory for a regular block of %lld stars", (long long)n);
    nbc_team_run(nbc_parts(n, TARGETS_OF_A_PART), set_targets, sim);
    return nb6_regular_force_begin(sim, sim->active.t, n, scratch->target, err);
}

int nb6_step_regular_begin(struct nb6_sim *sim, struct nbc_error *err)
{
    if (sim->active.n_reg == 0) return NBC_OK;
    const double start = nbc_wtime();
    int status = begin(sim, err);
    nb6_profile_stage(sim, NB6_STAGE_REGULAR, nbc_wtime() - start);
    return status;
}

static int forces(struct nb6_sim *sim, struct regular_scratch *scratch, struct nbc_error *err)
{
    const int64_t n = sim->active.n_reg;
    int status = nb6_regular_force_end(sim, sim->active.t, n, scratch->target, err);
    if (status) return status;
    status = gpuirr_firr_noise(sim->irr, (size_t)n, scratch->body, scratch->acc, scratch->jerk, NULL, scratch->noise);
    return status ? nbc_fail(err, status, "%s", gpuirr_last_error(sim->irr)) : NBC_OK;
}

static void correct_part(void *context, int part, int parts)
{
    struct correction *job = context;
    int64_t first, end;
    nbc_range(job->sim->active.n_reg, part, parts, &first, &end);
    for (int64_t m = first; m < end; m++) {
        struct nb6_higher higher;
        correct(job, m, &higher);
        next_step(job, m, &higher);
        if (!nb6_regular_is_sound(&job->sim->active.corrected[job->sim->active.reg[m]]))
            nbc_atomic_min(&job->unsound, m);
    }
}

int nb6_step_regular(struct nb6_sim *sim, struct nbc_error *err)
{
    int64_t n = sim->active.n_reg;
    if (n == 0) return NBC_OK;
    double start = nbc_wtime();
    struct regular_scratch *scratch = sim->active.regular;
    int status = forces(sim, scratch, err);
    if (!status) {
        struct correction job = {.sim = sim,
                                 .scratch = scratch,
                                 .steps = nb6_step_rules_of(sim),
                                 .radii = nb6_radius_rules_of(sim),
                                 .unsound = INT64_MAX};
        nbc_team_run(nbc_parts(n, NB6_BODIES_OF_A_PART), correct_part, &job);
        if (job.unsound < INT64_MAX) status = report_non_finite(sim, job.unsound, err);
    }
    nb6_profile_stage(sim, NB6_STAGE_REGULAR, nbc_wtime() - start);
    return status;
}
