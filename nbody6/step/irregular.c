#include "nbody6/step/irregular.h"

#include "common/nbc.h"
#include "common/team.h"
#include "gpuirr/gpuirr.h"
#include "nbody6/fewbody/contacts.h"
#include "nbody6/fewbody/kind.h"
#include "nbody6/fewbody/pairs/correct.h"
#include "nbody6/fewbody/pairs/end.h"
#include "nbody6/fewbody/pairs/view.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/input/config.h"
#include "nbody6/state/bodies.h"
#include "nbody6/state/body.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/members.h"
#include "nbody6/state/profile.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/step/corrector.h"
#include "nbody6/step/hermite.h"
#include "nbody6/step/levels.h"
#include "nbody6/step/rules.h"

#include <math.h>
#include <string.h>

/* Irregular force at the end of the step, with the external field at x, v. */
static void set_force(const struct nb6_sim *sim, int64_t member, const double reg[3], const double x[3],
                      const double v[3])
{
    struct nb6_corrected *c = &sim->active.corrected[member];
    const double *acc = sim->active.acc[member], *jerk = sim->active.jerk[member];
    double ext_acc[3] = {0, 0, 0}, ext_jerk[3] = {0, 0, 0};
    if (sim->run.external.active) {
        double inner[3];
        for (int k = 0; k < 3; k++) inner[k] = acc[k] + c->corr_acc[k] + reg[k];
        nb6_external_force(&sim->run.external, nb6_time_to_double(sim->active.t), x, v, inner, ext_acc, ext_jerk);
    }
    for (int k = 0; k < 3; k++) {
        c->acc_irr[k] = acc[k] + c->corr_acc[k] + ext_acc[k];
        c->jerk_irr[k] = jerk[k] + c->corr_jerk[k] + ext_jerk[k];
    }
}

/* The field depends on the velocity, which the predictor knows to third order only: its force is taken again at the
 * corrected state, which costs nothing beside the sums and keeps the scheme of fourth order. */
static int correct(const struct nb6_sim *sim, const struct nb6_step_rules *rules, int64_t member,
                   struct nb6_higher *higher)
{
    const struct nb6_body *body = &sim->body[sim->active.irr[member]];
    const struct nb6_star *star = &sim->star[sim->active.irr[member]];
    struct nb6_corrected *c = &sim->active.corrected[member];
    double h = nb6_time_to_double(sim->active.t - body->t0), xp[3], vp[3], reg[3];
    nb6_predict(body, h, xp, vp);
    nb6_regular_at(star, sim->active.t, reg);
    memset(c->corr_acc, 0, sizeof c->corr_acc);
    memset(c->corr_jerk, 0, sizeof c->corr_jerk);
    int status = nb6_subsystems_correct(sim, sim->active.irr[member], sim->active.t, c->corr_acc, c->corr_jerk);
    memcpy(c->x, xp, sizeof xp);
    memcpy(c->v, vp, sizeof vp);
    for (int pass = 0; pass <= sim->run.external.active; pass++) {
        set_force(sim, member, reg, c->x, c->v);
        nb6_correct_irregular(star, h, xp, vp, c, higher);
    }
    c->noise_irr = sim->active.noise[member] +
                   nb6_external_noise(&sim->run.external, nb6_time_to_double(sim->active.t), c->x, c->v);
    c->noise_total = c->noise_irr + rules->noise_reg_most;
    c->noise_reg = (double)nb6_noise_of_regular(rules, c->x, star->nnb, star->r_nb);
    memcpy(c->snap_irr, higher->snap, sizeof c->snap_irr);
    memcpy(c->crackle_irr, higher->crackle, sizeof c->crackle_irr);
    return status;
}

/* @param longest  step that the galaxy allows at the time of the block */
static int8_t next_level(const struct nb6_sim *sim, const struct nb6_step_rules *rules, double longest, int64_t member,
                         const struct nb6_higher *higher)
{
    const int32_t i = sim->active.irr[member];
    const struct nb6_star *star = &sim->star[i];
    if (sim->run.config.integration.dt_fixed_irr > 0) return star->level_irr;
    const double h = nb6_time_to_double(sim->active.t - sim->body[i].t0);
    if (nb6_is_centre(sim, i)) longest = fmin(longest, nb6_contact_step(sim, nb6_slot_of(sim, i)));
    return nb6_next_irregular_level(rules, star, &sim->active.corrected[member], higher, h, longest, sim->active.t);
}

static int report_non_finite(const struct nb6_sim *sim, int64_t member, struct nbc_error *err)
{
    const struct nb6_corrected *c = &sim->active.corrected[member];
    const int32_t i = sim->active.irr[member];
    return nbc_fail(
        err, NBC_NON_FINITE,
        "star %lld (index %d): the irregular corrector at t = %.12g gave a NaN or an infinity (acceleration %g %g "
        "%g, step 2^%d ticks, %d neighbours)",
        (long long)sim->star[i].name, i, nb6_time_to_double(sim->active.t), c->acc_irr[0], c->acc_irr[1], c->acc_irr[2],
        sim->star[i].level_irr, sim->star[i].nnb);
}

static int irregular_sums(struct nb6_sim *sim, struct nbc_error *err)
{
    struct nb6_active *active = &sim->active;
    const double start = nbc_wtime();
    int status =
        gpuirr_firr_noise(sim->irr, (size_t)active->n_irr, active->irr, active->acc, active->jerk, NULL, active->noise);
    if (status) return nbc_fail(err, status, "%s", gpuirr_last_error(sim->irr));
    nb6_profile_stage(sim, NB6_STAGE_IRREGULAR, nbc_wtime() - start);
    return NBC_OK;
}

struct correction {
    struct nb6_sim *sim;
    struct nb6_step_rules rules;
    double longest;  /* step that the galaxy allows */
    int64_t unsound; /* the first member */
    int failed;
    struct nbc_queue queue; /* of MEMBERS_AT_ONCE each, if there are systems */
};

/* Centres of mass, which are the last members and take the most time, go to whichever thread is free; without them each
 * thread has the members of which other stages have left the data in its cache. */
enum { MEMBERS_AT_ONCE = 4 };

static int64_t take_members(struct correction *job, int64_t *end)
{
    const int64_t n = job->sim->active.n_irr, first = nbc_take(&job->queue) * MEMBERS_AT_ONCE;
    *end = first + MEMBERS_AT_ONCE < n ? first + MEMBERS_AT_ONCE : n;
    return first;
}

static int correct_members(struct correction *job, int64_t first, int64_t end)
{
    struct nb6_sim *sim = job->sim;
    int failed = 0;
    for (int64_t member = first; member < end; member++) {
        struct nb6_higher higher;
        failed |= correct(sim, &job->rules, member, &higher);
        struct nb6_corrected *c = &sim->active.corrected[member];
        c->level_irr = next_level(sim, &job->rules, job->longest, member, &higher);
        c->level_reg = nb6_step_regular_level(sim, sim->star[sim->active.irr[member]].level_reg, c->level_irr);
        if (!nb6_irregular_is_sound(c)) nbc_atomic_min(&job->unsound, member);
    }
    return failed;
}

static void correct_part(void *context, int part, int parts)
{
    struct correction *job = context;
    int64_t first, end;
    int failed = 0;
    if (job->sim->subsystems.count > 0) {
        while ((first = take_members(job, &end)) < end) failed |= correct_members(job, first, end);
    } else {
        nbc_range(job->sim->active.n_irr, part, parts, &first, &end);
        failed = correct_members(job, first, end);
    }
    if (failed) __atomic_store_n(&job->failed, 1, __ATOMIC_RELAXED);
}

int nb6_step_irregular(struct nb6_sim *sim, struct nbc_error *err)
{
    int status = irregular_sums(sim, err);
    if (status) return status;
    double start = nbc_wtime();
    const double longest = nb6_external_longest_step(&sim->run.external, nb6_time_to_double(sim->active.t));
    if (sim->subsystems.count > 0) status = nb6_views_keep(sim, nb6_relative_time(sim, sim->active.t), err);
    if (status) return status;
    struct correction job = {.sim = sim, .rules = nb6_step_rules_of(sim), .longest = longest, .unsound = INT64_MAX};
    nbc_team_run(nbc_parts(sim->active.n_irr, NB6_BODIES_OF_A_PART), correct_part, &job);
    nb6_views_drop(sim);
    status = job.unsound < INT64_MAX ? report_non_finite(sim, job.unsound, err) : NBC_OK;
    if (!status && job.failed)
        status = nbc_fail(err, NBC_NON_FINITE, "a regularized pair has no prediction at t = %.12g",
                          nb6_time_to_double(sim->active.t));
    nb6_profile_stage(sim, NB6_STAGE_CORRECT, nbc_wtime() - start);
    return status;
}
