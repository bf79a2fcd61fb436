/* Events of pairs and chains that form and end, and their energies. */
#include "nbody6/fewbody/pairs/events.h"

#include "common/nbc.h"
#include "common/sum.h"
#include "nbody6/fewbody/kind.h"
#include "nbody6/fewbody/parts.h"
#include "nbody6/state/ascending.h"
#include "nbody6/state/bodies.h"
#include "nbody6/state/body.h"
#include "nbody6/state/energy_ledger.h"
#include "nbody6/state/event.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/members.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/state/survey.h"
#include "nbody6/state/view.h"
#include "regularization/chain.h"
#include "regularization/ks.h"

#include <string.h>

/* A system at x, as felt by all bodies that it does not resolve. */
struct apart {
    const struct nb6_sim *sim;
    nb6_slot slot;
    int n_except;
    const int32_t *except;
    nb6_time t;
    double x[3];
    struct nb6_parts own;
};

/* Many bodies come before all that it resolves, or behind them. */
static int is_resolved(const struct apart *job, nb6_index j)
{
    const struct nb6_perturbers *pert = &job->sim->subsystems.pert[job->slot];
    return pert->n > 0 && j >= pert->body[0] && j <= pert->body[pert->n - 1] &&
           nb6_subsystems_resolves(&job->sim->subsystems, job->slot, j);
}

static void add_apart(const void *context, int64_t m, double sum[NBC_SUMS])
{
    const struct apart *job = context;
    const struct nb6_subsystems *p = &job->sim->subsystems;
    const nb6_index j = p->source[m];
    if (j == nb6_centre(job->sim, job->slot) || is_resolved(job, j)) return;
    for (int k = 0; k < job->n_except; k++)
        if (j == job->except[k]) return;
    double y[3], w[3];
    nb6_get_predicted(job->sim, j, job->t, y, w);
    for (int k = 0; k < 3; k++) y[k] -= job->x[k];
    sum[0] += nb6_get_body(job->sim, j)->mass * nb6_parts_potential_of_point(y, &job->own);
}

/* By an engine, which is told all that are left out. */
static int sum_by_survey(const struct nb6_survey *survey, const struct apart *job, double *sum, struct nbc_error *err)
{
    const struct nb6_perturbers *pert = &job->sim->subsystems.pert[job->slot];
    int64_t n = pert->n;
    nb6_index *out = nbc_alloc_unset((size_t)(n + job->n_except + 1), sizeof *out);
    if (!out) return nbc_fail(err, NBC_NO_MEMORY, "no memory for the energy of a pair or chain");
    if (n > 0) memcpy(out, pert->body, (size_t)n * sizeof *out);
    n = nb6_list_insert(out, n, nb6_centre(job->sim, job->slot));
    for (int k = 0; k < job->n_except; k++) n = nb6_list_insert(out, n, job->except[k]);
    const int status = survey->sum_apart(job->sim, job->t, n, out, job->x, &job->own, sum, err);
    nbc_free(out);
    return status;
}

static int sum_apart(const struct apart *job, double *sum, struct nbc_error *err)
{
    const struct nb6_survey *survey = job->sim->engine_image.survey.by;
    double sums[NBC_SUMS];
    if (survey) return sum_by_survey(survey, job, sum, err);
    nbc_sum(job->sim->subsystems.n_source, add_apart, job, sums);
    *sum = sums[0];
    return NBC_OK;
}

int nb6_add_apart(const struct nb6_sim *sim, nb6_slot slot, nb6_time t, int n_except, const nb6_index *except,
                  double *energy, struct nbc_error *err)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    const struct nb6_motion motion = nb6_subsystems_motion(p);
    struct apart job = {.sim = sim, .slot = slot, .n_except = n_except, .except = except, .t = t};
    double v[3], sum = 0;
    nb6_parts_of_slot(p, &motion, slot, nb6_slot_time(p, &motion, slot), &job.own);
    nb6_get_predicted(sim, nb6_centre(sim, slot), t, job.x, v);
    const int status = sum_apart(&job, &sum, err);
    if (sim->run.external.active && !p->system[slot].galactic)
        sum -= nb6_parts_tidal(&sim->run.external, nb6_time_to_double(t), job.x, &job.own);
    *energy += nb6_get_body(sim, nb6_centre(sim, slot))->mass * sum;
    return status;
}

double nb6_potential_inside(const struct nb6_sim *sim, nb6_slot slot, nb6_time t)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    const struct nb6_motion motion = nb6_subsystems_motion(p);
    const struct nb6_body *centre = nb6_get_body(sim, nb6_centre(sim, slot));
    const double t_rel = nb6_relative_time(sim, t);
    struct nb6_parts point, own, other;
    double x[3], v[3], sum = 0;
    nb6_parts_of_point(&point);
    nb6_parts_of_slot(p, &motion, slot, t_rel, &own);
    nb6_get_predicted(sim, nb6_centre(sim, slot), t, x, v);
    for (int32_t k = 0; k < p->pert[slot].n; k++) {
        const nb6_index j = p->pert[slot].body[k];
        const struct nb6_body *perturber = nb6_get_body(sim, j);
        const int mutual = nb6_is_centre(sim, j) && nb6_slots_are_mutual(sim, slot, nb6_slot_of(sim, j));
        double y[3], w[3];
        if (mutual) nb6_parts_of_slot(p, &motion, nb6_slot_of(sim, j), t_rel, &other);
        nb6_get_predicted(sim, j, t, y, w);
        for (int d = 0; d < 3; d++) y[d] -= x[d];
        sum += perturber->mass * nb6_parts_potential(y, &own, mutual ? &other : &point);
        if (mutual) sum -= perturber->mass * nb6_parts_potential(y, &point, &other); /* this stays */
    }
    if (p->system[slot].galactic) sum += nb6_parts_tidal(&sim->run.external, nb6_time_to_double(t), x, &own);
    return centre->mass * sum;
}

int nb6_change_tell(struct nb6_sim *sim, struct nb6_event *event, double energy_change, struct nbc_error *err)
{
    int status = nb6_ledger_book(&sim->run.book.ledger, event->channel, energy_change, err);
    if (status)
        return nbc_fail(err, status, "the change of star %lld's pair or chain at t = %.12g: no finite energy",
                        (long long)event->name, event->t);
    event->pair.energy_change = event->chain.energy_change = energy_change;
    return nb6_event_raise(sim, event, err);
}

static int tell(struct nb6_sim *sim, nb6_slot slot, enum nb6_event_kind kind, enum nb6_pair_reason reason,
                struct nbc_error *err)
{
    struct nb6_event event = {.kind = kind};
    nb6_slot_describe(sim, slot, reason, &event);
    return nb6_change_tell(sim, &event, 0, err);
}

int nb6_slot_report_end(struct nb6_sim *sim, nb6_slot slot, enum nb6_pair_reason reason, struct nbc_error *err)
{
    return tell(sim, slot, nb6_kind_of(&sim->subsystems, slot)->ends, reason, err);
}

int nb6_subsystems_announce_first(struct nb6_sim *sim, struct nbc_error *err)
{
    int status = NBC_OK;
    for (nb6_slot slot = 0; slot < sim->subsystems.n_slot && !status; slot++)
        status = tell(sim, slot, NB6_EVENT_PAIR_FORMED,
                      sim->subsystems.system[slot].primordial ? NB6_PAIR_PRIMORDIAL : NB6_PAIR_ENCOUNTER, err);
    return status;
}

/* A second or two of work are not worth a word. */
static const int64_t BUSY_LEAST = 100000000;
static const double BUSY_SHARE = 0.5;

static int tell_busy(struct nb6_sim *sim, nb6_slot slot, struct nbc_error *err)
{
    const struct nb6_counters *c = &sim->run.counters;
    struct nb6_subsystem *pair = &sim->subsystems.system[slot];
    const double all = (double)c->pairs_irr + (double)c->pairs_reg + (double)c->ks_forces + (double)c->chain_pairs;
    if (pair->work < BUSY_LEAST || pair->work < 2 * pair->told || (double)pair->work < BUSY_SHARE * all) return NBC_OK;
    struct nb6_event event = {.kind = NB6_EVENT_BUSY, .value = {(double)pair->work, (double)pair->work / all}};
    pair->told = pair->work;
    nb6_slot_describe(sim, slot, NB6_PAIR_ENCOUNTER, &event);
    return nb6_event_raise(sim, &event, err);
}

int nb6_slot_tell(struct nb6_sim *sim, nb6_slot slot, struct nbc_error *err)
{
    const struct nb6_kind *kind = nb6_kind_of(&sim->subsystems, slot);
    int status = tell_busy(sim, slot, err);
    return status || !kind->warn ? status : kind->warn(sim, slot, err);
}
