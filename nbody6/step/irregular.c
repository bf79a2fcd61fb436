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
#include "nbody6/step/corrector_lanes.h"
#include "nbody6/step/hermite.h"
#include "nbody6/step/levels.h"
#include "nbody6/step/rules.h"

#include <math.h>
#include <string.h>

/* Members that are corrected side by side, one in each lane. */
struct group {
    const struct nb6_sim *sim;
    const struct nb6_step_rules *rules;
    double longest; /* step that the galaxy allows */
    int64_t first;
    int n; /* lanes from here on repeat the last member */
    struct nb6_corrector_lanes lanes;
};

static nb6_index body_of(const struct group *group, int lane)
{
    return group->sim->active.irr[group->first + lane];
}

static struct nb6_corrected *corrected_of(const struct group *group, int lane)
{
    return &group->sim->active.corrected[group->first + lane];
}

/* Difference that resolved pairs make to the force. */
static int correct_for_pairs(const struct group *group, int lane)
{
    const struct nb6_sim *sim = group->sim;
    struct nb6_corrected *c = corrected_of(group, lane);
    memset(c->corr_acc, 0, sizeof c->corr_acc);
    memset(c->corr_jerk, 0, sizeof c->corr_jerk);
    if (sim->subsystems.count == 0) return NBC_OK;
    return nb6_subsystems_correct(sim, body_of(group, lane), sim->active.t, c->corr_acc, c->corr_jerk);
}

/* The member in a lane: beyond the last one it again. */
static int member_in(const struct group *group, int lane)
{
    return lane < group->n ? lane : group->n - 1;
}

static void load_lane(struct group *group, int lane)
{
    const int from = member_in(group, lane);
    const struct nb6_sim *sim = group->sim;
    const nb6_index i = body_of(group, from);
    const struct nb6_body *body = &sim->body[i];
    const struct nb6_star *star = &sim->star[i];
    struct nb6_corrector_lanes *lanes = &group->lanes;
    lanes->h[lane] = nb6_time_to_double(sim->active.t - body->t0);
    lanes->noise[lane] = sim->active.noise[group->first + from];
    for (int k = 0; k < 3; k++) {
        lanes->x0[k][lane] = body->x0[k];
        lanes->v0[k][lane] = body->v0[k];
        lanes->acc0[k][lane] = body->acc[k];
        lanes->jerk0[k][lane] = body->jerk[k];
        lanes->acc_start[k][lane] = star->acc_irr[k];
        lanes->jerk_start[k][lane] = star->jerk_irr[k];
        lanes->acc_reg[k][lane] = star->acc_reg[k];
    }
}

/* Irregular force at the end of the step. */
static void set_force(struct group *group, int lane)
{
    const int from = member_in(group, lane);
    const struct nb6_corrected *c = corrected_of(group, from);
    const int64_t member = group->first + from;
    const double *acc = group->sim->active.acc[member], *jerk = group->sim->active.jerk[member];
    for (int k = 0; k < 3; k++) {
        group->lanes.acc[k][lane] = acc[k] + c->corr_acc[k];
        group->lanes.jerk[k][lane] = jerk[k] + c->corr_jerk[k];
    }
}

/* The same with the external field at x, v. */
static void set_force_in_field(struct group *group, int lane, nb6_lane_row *x, nb6_lane_row *v)
{
    const struct nb6_sim *sim = group->sim;
    const double at[3] = {x[0][lane], x[1][lane], x[2][lane]}, v_at[3] = {v[0][lane], v[1][lane], v[2][lane]};
    const double t = nb6_time_to_double(sim->active.t);
    double inner[3], reg[3], acc[3] = {0, 0, 0}, jerk[3] = {0, 0, 0};
    set_force(group, lane);
    nb6_regular_at(&sim->star[body_of(group, lane)], sim->active.t, reg);
    for (int k = 0; k < 3; k++) inner[k] = group->lanes.acc[k][lane] + reg[k];
    nb6_external_force(&sim->run.external, t, at, v_at, inner, acc, jerk);
    for (int k = 0; k < 3; k++) {
        group->lanes.acc[k][lane] += acc[k];
        group->lanes.jerk[k][lane] += jerk[k];
    }
}

/* The field depends on the velocity, which the predictor knows to third order only: its force is taken again at the
 * corrected state, which costs nothing beside the sums and keeps the scheme of fourth order. */
static void correct_in_field(struct group *group)
{
    struct nb6_corrector_lanes *lanes = &group->lanes;
    const struct nb6_external *external = &group->sim->run.external;
    const double t = nb6_time_to_double(group->sim->active.t);
    for (int lane = group->n; lane < NB6_CORRECTOR_LANES; lane++) set_force(group, lane);
    for (int pass = 0; pass < 2; pass++) {
        for (int lane = 0; lane < group->n; lane++)
            set_force_in_field(group, lane, pass ? lanes->x : lanes->xp, pass ? lanes->v : lanes->vp);
        group->sim->active.lanes->correct(lanes);
    }
    for (int lane = 0; lane < group->n; lane++) {
        const double x[3] = {lanes->x[0][lane], lanes->x[1][lane], lanes->x[2][lane]};
        const double v[3] = {lanes->v[0][lane], lanes->v[1][lane], lanes->v[2][lane]};
        lanes->noise[lane] += nb6_external_noise(external, t, x, v);
    }
}

static void correct(struct group *group)
{
    const struct nb6_corrector_lane_set *set = group->sim->active.lanes;
    for (int lane = 0; lane < NB6_CORRECTOR_LANES; lane++) load_lane(group, lane);
    set->predict(&group->lanes);
    if (group->sim->run.external.active) {
        correct_in_field(group);
    } else {
        for (int lane = 0; lane < NB6_CORRECTOR_LANES; lane++) set_force(group, lane);
        set->correct(&group->lanes);
    }
    set->choose(group->rules, &group->lanes);
}

static void store_lane(const struct group *group, int lane)
{
    const struct nb6_corrector_lanes *lanes = &group->lanes;
    struct nb6_corrected *c = corrected_of(group, lane);
    for (int k = 0; k < 3; k++) {
        c->x[k] = lanes->x[k][lane];
        c->v[k] = lanes->v[k][lane];
        c->acc_irr[k] = lanes->acc[k][lane];
        c->jerk_irr[k] = lanes->jerk[k][lane];
        c->snap_irr[k] = lanes->snap[k][lane];
        c->crackle_irr[k] = lanes->crackle[k][lane];
    }
    c->noise_irr = lanes->noise[lane];
    c->noise_total = c->noise_irr + group->rules->noise_reg_most;
}

static int8_t next_level(const struct group *group, int lane)
{
    const struct nb6_sim *sim = group->sim;
    const struct nb6_corrector_lanes *lanes = &group->lanes;
    const nb6_index i = body_of(group, lane);
    const struct nb6_star *star = &sim->star[i];
    double longest = group->longest;
    if (sim->run.config.integration.dt_fixed_irr > 0) return star->level_irr;
    if (nb6_is_centre(sim, i)) longest = fmin(longest, nb6_contact_step(sim, nb6_slot_of(sim, i)));
    if (lanes->odd[lane] == 0)
        return nb6_irregular_level_of(group->rules, star, lanes->dt[lane], longest, sim->active.t);
    struct nb6_higher higher;
    for (int k = 0; k < 3; k++) {
        higher.snap0[k] = lanes->snap_start[k][lane];
        higher.snap[k] = lanes->snap[k][lane];
        higher.crackle[k] = lanes->crackle[k][lane];
    }
    return nb6_next_irregular_level(group->rules, star, corrected_of(group, lane), &higher, lanes->h[lane], longest,
                                    sim->active.t);
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
    int64_t n_star;         /* members before the first centre of mass */
    struct nbc_queue queue; /* of portions of members, if there are systems */
};

/* Centres of mass, which are the last members and take the most time, go to whichever thread is free, a few at a time;
 * without them each thread has the members of which other stages have left the data in its cache. */
enum { STARS_AT_ONCE = NB6_CORRECTOR_LANES, CENTRES_AT_ONCE = NB6_CORRECTOR_LANES / 2 };

static int64_t count_stars(const struct nb6_sim *sim)
{
    int64_t n = sim->active.n_irr;
    while (n > 0 && nb6_is_centre(sim, sim->active.irr[n - 1])) n--;
    return n;
}

static int64_t take_members(struct correction *job, int64_t *end)
{
    const int64_t portion = nbc_take(&job->queue), of_stars = (job->n_star + STARS_AT_ONCE - 1) / STARS_AT_ONCE;
    const int is_of_stars = portion < of_stars, most = is_of_stars ? STARS_AT_ONCE : CENTRES_AT_ONCE;
    const int64_t limit = is_of_stars ? job->n_star : job->sim->active.n_irr;
    const int64_t first = is_of_stars ? portion * most : job->n_star + (portion - of_stars) * most;
    *end = first + most < limit ? first + most : limit;
    return first;
}

/* Members [first, end), at most as many as there are lanes. */
static int correct_group(struct correction *job, struct group *group, int64_t first, int64_t end)
{
    const struct nb6_sim *sim = job->sim;
    int failed = 0;
    group->first = first;
    group->n = (int)(end - first);
    for (int lane = 0; lane < group->n; lane++) failed |= correct_for_pairs(group, lane);
    correct(group);
    for (int lane = 0; lane < group->n; lane++) {
        struct nb6_corrected *c = corrected_of(group, lane);
        store_lane(group, lane);
        c->level_irr = next_level(group, lane);
        c->level_reg = nb6_step_regular_level(sim, sim->star[body_of(group, lane)].level_reg, c->level_irr);
        if (group->lanes.finite[lane] == 0) nbc_atomic_min(&job->unsound, first + lane);
    }
    return failed;
}

static int correct_members(struct correction *job, int64_t first, int64_t end)
{
    struct group group;
    group.sim = job->sim;
    group.rules = &job->rules;
    group.longest = job->longest;
    int failed = 0;
    for (int64_t next; first < end; first = next) {
        next = first + NB6_CORRECTOR_LANES < end ? first + NB6_CORRECTOR_LANES : end;
        failed |= correct_group(job, &group, first, next);
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
    struct correction job = {.sim = sim,
                             .rules = nb6_step_rules_of(sim),
                             .longest = longest,
                             .unsound = INT64_MAX,
                             .n_star = count_stars(sim)};
    nbc_team_run(nbc_parts(sim->active.n_irr, NB6_BODIES_OF_A_PART), correct_part, &job);
    nb6_views_drop(sim);
    status = job.unsound < INT64_MAX ? report_non_finite(sim, job.unsound, err) : NBC_OK;
    if (!status && job.failed)
        status = nbc_fail(err, NBC_NON_FINITE, "a regularized pair has no prediction at t = %.12g",
                          nb6_time_to_double(sim->active.t));
    nb6_profile_stage(sim, NB6_STAGE_CORRECT, nbc_wtime() - start);
    return status;
}
