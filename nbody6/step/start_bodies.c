#include "nbody6/step/start_bodies.h"

#include "common/nbc.h"
#include "common/sum.h"
#include "common/team.h"
#include "gpuirr/gpuirr.h"
#include "nbody6/fewbody/contacts.h"
#include "nbody6/fewbody/first_step.h"
#include "nbody6/fewbody/kind.h"
#include "nbody6/fewbody/pairs/correct.h"
#include "nbody6/fewbody/pairs/perturbers.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/input/config.h"
#include "nbody6/state/bodies.h"
#include "nbody6/state/body.h"
#include "nbody6/state/level.h"
#include "nbody6/state/members.h"
#include "nbody6/state/schedule.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/state/survey.h"
#include "nbody6/step/derivatives.h"
#include "nbody6/step/first_rules.h"
#include "nbody6/step/predict.h"
#include "nbody6/step/radius.h"
#include "nbody6/step/regular.h"

#include <math.h>
#include <string.h>

/* From so many bodies on, which is the start of a run, threads are worth their start. */
enum { PARALLEL_BODIES = 4096 };

static void add_velocity(const void *context, int64_t m, double sum[NBC_SUMS])
{
    const struct nb6_sim *sim = context;
    const struct nb6_body *body = &sim->body[sim->subsystems.source[m]];
    double x[3], v[3];
    nb6_predict(body, nb6_time_to_double(sim->ti_now - body->t0), x, v);
    for (int k = 0; k < 3; k++) {
        sum[k] += v[k];
        sum[3] += v[k] * v[k];
    }
}

static int sum_velocities(const struct nb6_sim *sim, double sum[NBC_SUMS], struct nbc_error *err)
{
    const struct nb6_survey *survey = sim->engine_image.survey.by;
    if (survey) return survey->sum_velocities(sim, sim->ti_now, sum, err);
    nbc_sum(sim->subsystems.n_source, add_velocity, sim, sum);
    return NBC_OK;
}

/* Velocity dispersion of all that take part, now. */
static int find_dispersion(const struct nb6_sim *sim, double *dispersion, struct nbc_error *err)
{
    const double n = (double)sim->subsystems.n_source;
    double sum[NBC_SUMS];
    const int status = sum_velocities(sim, sum, err);
    *dispersion = nb6_dispersion(n, sum);
    return status;
}

struct nb6_first_rules nb6_first_rules_of(const struct nb6_sim *sim, nb6_time t, double spread)
{
    const struct nb6_integration_config *config = &sim->run.config.integration;
    const double share = sim->book.eta_share;
    int max_level = nb6_level_of(config->dt_max, NB6_TIME_BITS);
    while (t % nb6_step_ticks(max_level) != 0) max_level--;
    return (struct nb6_first_rules){.eta_irr = config->eta_irr * share,
                                    .eta_reg = config->eta_reg * share,
                                    .dt_max = config->dt_max,
                                    .dt_fixed_irr = config->dt_fixed_irr,
                                    .dt_fixed_reg = config->dt_fixed_reg,
                                    .spread = spread,
                                    .longest = nb6_external_longest_step(&sim->run.external, nb6_time_to_double(t)) /
                                               NB6_START_SAFETY,
                                    .max_level = max_level,
                                    .with_regular = config->initial_fpoly2,
                                    .any = config->dt_fixed_reg > 0 || nb6_all_are_neighbours(sim),
                                    .is_start = t == 0};
}

static void take_regular(struct nb6_sim *sim, int64_t n, const nb6_index *list, const struct nb6_regular_target *target)
{
#pragma omp parallel for schedule(static) if (n > PARALLEL_BODIES)
    for (int64_t m = 0; m < n; m++) {
        struct nb6_star *star = &sim->star[list[m]];
        memcpy(star->acc_reg, target[m].acc, sizeof star->acc_reg);
        memcpy(star->jerk_reg, target[m].jerk, sizeof star->jerk_reg);
        star->nnb = target[m].nnb;
        star->r_nb = target[m].r_nb;
        star->t0_reg = sim->ti_now;
    }
}

static int first_regular(struct nb6_sim *sim, int64_t n, const nb6_index *list, const struct nb6_first_rules *rules,
                         struct nbc_error *err)
{
    struct nb6_regular_target *target = nbc_alloc((size_t)n, sizeof *target);
    if (!target) return nbc_fail(err, NBC_NO_MEMORY, "no memory for the first regular forces");
#pragma omp parallel for schedule(static) if (n > PARALLEL_BODIES)
    for (int64_t m = 0; m < n; m++) {
        struct nb6_star *star = &sim->star[list[m]];
        star->r_nb = nb6_radius_for_system(sim, list[m], star->r_nb, 0);
        target[m].body = list[m];
        target[m].dt_reg = nb6_longest_first_step(rules, sim->body[list[m]].v0, star->r_nb);
        target[m].r_nb = star->r_nb;
    }
    const int status = nb6_regular_force(sim, sim->ti_now, n, target, err);
    if (!status) take_regular(sim, n, list, target);
    nbc_free(target);
    return status;
}

/* Perturbers chosen side by side, of so many systems at a time: rows of equal length need memory. */
enum { SYSTEMS_TOGETHER = 1024 };

struct choice {
    struct nb6_sim *sim;
    int64_t n, row;
    nb6_stored_slot slot[SYSTEMS_TOGETHER];
    nb6_index *body; /* [n][row] */
    struct nb6_selection *selection;
};

static void select_perturbers(void *context, int part, int parts)
{
    struct choice *c = context;
    int64_t first, end;
    nbc_range(c->n, part, parts, &first, &end);
    for (int64_t k = first; k < end; k++)
        nb6_pair_select(c->sim, c->slot[k], c->sim->ti_now, c->body + k * c->row, &c->selection[k]);
}

/* The first selection of the run itself sets the time of the next check. */
static int take_perturbers(struct choice *c, struct nbc_error *err)
{
    struct nb6_subsystems *p = &c->sim->subsystems;
    int status = NBC_OK;
    for (int64_t k = 0; k < c->n && !status; k++) {
        const struct nb6_selection *s = &c->selection[k];
        p->system[c->slot[k]].tide = s->tide;
        p->system[c->slot[k]].far = s->far;
        p->system[c->slot[k]].galactic = s->galactic;
        status = nb6_subsystems_set_perturbers(p, c->slot[k], s->n, c->body + k * c->row, err);
    }
    return status;
}

static int choose_perturbers(struct choice *c, struct nbc_error *err)
{
    enum { SELECTIONS_OF_A_PART = 16 };
    const struct nb6_sim *sim = c->sim;
    int status = NBC_OK;
    c->row = 1;
    for (int64_t k = 0; k < c->n; k++) {
        const int32_t nnb = sim->star[nb6_centre(sim, c->slot[k])].nnb;
        if (nnb > c->row) c->row = nnb;
    }
    c->selection = nbc_alloc_unset((size_t)c->n, sizeof *c->selection);
    c->body = nbc_alloc_unset((size_t)c->n, (size_t)c->row * sizeof *c->body);
    if (!c->selection || !c->body) status = nbc_fail(err, NBC_NO_MEMORY, "no memory for the first perturbers of pairs");
    if (!status) nbc_team_run(nbc_parts(c->n, SELECTIONS_OF_A_PART), select_perturbers, c);
    if (!status) status = nb6_pair_selections_finish(c->sim, c->n, c->slot, c->selection, err);
    if (!status) status = take_perturbers(c, err);
    nbc_free(c->selection);
    nbc_free(c->body);
    return status;
}

static int first_perturbers(struct nb6_sim *sim, int64_t n, const nb6_index *list, struct nbc_error *err)
{
    struct choice c = {.sim = sim};
    int status = NBC_OK;
    for (int64_t m = 0; m < n && !status;) {
        for (c.n = 0; m < n && c.n < SYSTEMS_TOGETHER; m++)
            if (nb6_is_centre(sim, list[m])) c.slot[c.n++] = (nb6_stored_slot)nb6_slot_of(sim, list[m]);
        if (c.n > 0) status = choose_perturbers(&c, err);
    }
    return status;
}

static int first_irregular(struct nb6_sim *sim, int64_t n, const nb6_index *list, struct nbc_error *err)
{
    struct nb6_active *active = &sim->active;
    int status = nb6_step_set_precision(sim);
    if (!status) status = gpuirr_pred_act(sim->irr, (size_t)n, list, nb6_relative_time(sim, sim->ti_now));
    if (!status) status = gpuirr_firr_vec(sim->irr, (size_t)n, list, active->acc, active->jerk, NULL);
    if (status) return nbc_fail(err, status, "%s", gpuirr_last_error(sim->irr));
    for (int64_t m = 0; m < n && !status; m++)
        status = nb6_subsystems_correct(sim, list[m], sim->ti_now, active->acc[m], active->jerk[m]);
    return status ? nbc_fail(err, status, "a regularized pair has no prediction at t = %.12g",
                             nb6_time_to_double(sim->ti_now))
                  : NBC_OK;
}

/* Whether the total force of member m is finite. */
static int set_total(struct nb6_sim *sim, int64_t m, nb6_index i)
{
    struct nb6_star *star = &sim->star[i];
    struct nb6_body *body = &sim->body[i];
    double inner[3], ext_acc[3] = {0, 0, 0}, ext_jerk[3] = {0, 0, 0}, sum = 0;
    for (int k = 0; k < 3; k++) inner[k] = sim->active.acc[m][k] + star->acc_reg[k];
    if (sim->run.external.active)
        nb6_external_force(&sim->run.external, nb6_time_to_double(sim->ti_now), body->x0, body->v0, inner, ext_acc,
                           ext_jerk);
    for (int k = 0; k < 3; k++) {
        star->acc_irr[k] = sim->active.acc[m][k] + ext_acc[k];
        star->jerk_irr[k] = sim->active.jerk[m][k] + ext_jerk[k];
        body->acc[k] = star->acc_irr[k] + star->acc_reg[k];
        body->jerk[k] = star->jerk_irr[k] + star->jerk_reg[k];
        sum += body->acc[k] + body->jerk[k];
    }
    return isfinite(sum);
}

static int set_totals(struct nb6_sim *sim, int64_t n, const nb6_index *list, struct nbc_error *err)
{
    int64_t bad = n;
#pragma omp parallel for schedule(static) reduction(min : bad) if (n > PARALLEL_BODIES)
    for (int64_t m = 0; m < n; m++)
        if (!set_total(sim, m, list[m]) && m < bad) bad = m;
    if (bad == n) return NBC_OK;
    const double *acc = sim->body[list[bad]].acc;
    return nbc_fail(
        err, NBC_NON_FINITE,
        "star %lld: its first force is not finite (acceleration %g %g %g); is another star at the same place?",
        (long long)sim->star[list[bad]].name, acc[0], acc[1], acc[2]);
}

static void first_steps(struct nb6_sim *sim, int64_t n, const nb6_index *list, const struct nb6_first_rules *rules)
{
#pragma omp parallel for schedule(static) if (n > PARALLEL_BODIES)
    for (int64_t m = 0; m < n; m++) {
        const nb6_index i = list[m];
        double limit = nb6_subsystems_first_step(sim, i);
        if (nb6_is_centre(sim, i)) limit = fmin(limit, nb6_contact_step(sim, nb6_slot_of(sim, i)));
        nb6_first_levels(rules, &sim->body[i], limit, &sim->star[i]);
    }
}

int nb6_start_predictors(struct nb6_sim *sim, int64_t n, const nb6_index *list, struct nbc_error *err)
{
#pragma omp parallel for schedule(static) if (n > PARALLEL_BODIES)
    for (int64_t m = 0; m < n; m++) sim->body[list[m]].t0 = sim->ti_now;
    return nb6_send_bodies(sim, n, list, err);
}

int nb6_start_forces(struct nb6_sim *sim, int64_t n, const nb6_index *list, struct nbc_error *err)
{
    int status;
    double spread;
    if ((status = find_dispersion(sim, &spread, err))) return status;
    const struct nb6_first_rules rules = nb6_first_rules_of(sim, sim->ti_now, spread);
    if ((status = first_regular(sim, n, list, &rules, err))) return status;
    if ((status = first_perturbers(sim, n, list, err))) return status;
    if ((status = first_irregular(sim, n, list, err))) return status;
    if ((status = set_totals(sim, n, list, err))) return status;
    nb6_start_derivatives(sim, n, list, sim->run.config.integration.initial_fpoly2);
    first_steps(sim, n, list, &rules);
    for (int64_t m = 0; m < n; m++) nb6_schedule_set(sim->schedule, list[m], sim->star[list[m]].level_irr);
    return nb6_send_bodies(sim, n, list, err);
}

int nb6_start_bodies(struct nb6_sim *sim, int64_t n, const nb6_index *list, struct nbc_error *err)
{
    const int status = nb6_start_predictors(sim, n, list, err);
    return status ? status : nb6_start_forces(sim, n, list, err);
}
