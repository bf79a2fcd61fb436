/* What is told of pairs and chains that come and go, and the energy that it costs. */
#include "nbody6/fewbody/pair_events.h"

#include "common/nbc.h"
#include "nbody6/fewbody/chains.h"
#include "nbody6/fewbody/parts.h"
#include "nbody6/state/bodies.h"
#include "nbody6/state/body.h"
#include "nbody6/state/event.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/members.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "regularization/chain.h"
#include "regularization/hierarchy.h"
#include "regularization/ks.h"

#include <math.h>
#include <string.h>

double nb6_potential_apart(const struct nb6_sim *sim, int64_t slot, nb6_time t, int32_t except)
{
    const struct nb6_pairs *p = &sim->pairs;
    const struct nb6_motion motion = nb6_pairs_motion(p);
    const struct nb6_body *centre = &sim->body[nb6_centre(sim, slot)];
    struct nb6_parts point, own;
    double x[3], v[3], sum = 0;
    nb6_parts_of_point(&point);
    nb6_parts_of_slot(p, &motion, slot, nb6_slot_time(p, &motion, slot), &own);
    nb6_predict(centre, nb6_time_to_double(t - centre->t0), x, v);
    for (int64_t m = 0; m < p->n_source; m++) {
        int32_t j = p->source[m];
        const struct nb6_body *other = &sim->body[j];
        if (j == nb6_centre(sim, slot) || j == except || !nb6_takes_part(sim, j)) continue;
        if (nb6_pairs_resolves(p, slot, j)) continue;
        double y[3], w[3];
        nb6_predict(other, nb6_time_to_double(t - other->t0), y, w);
        for (int k = 0; k < 3; k++) y[k] -= x[k];
        sum += other->mass * nb6_parts_potential(y, &own, &point);
    }
    if (sim->external.active && !p->pair[slot].galactic) sum -= nb6_parts_tidal(&sim->external, x, &own);
    return centre->mass * sum;
}

double nb6_potential_inside(const struct nb6_sim *sim, int64_t slot, nb6_time t)
{
    const struct nb6_pairs *p = &sim->pairs;
    const struct nb6_motion motion = nb6_pairs_motion(p);
    const struct nb6_body *centre = &sim->body[nb6_centre(sim, slot)];
    const double t_rel = nb6_relative_time(sim, t);
    struct nb6_parts point, own, other;
    double x[3], v[3], sum = 0;
    nb6_parts_of_point(&point);
    nb6_parts_of_slot(p, &motion, slot, t_rel, &own);
    nb6_predict(centre, nb6_time_to_double(t - centre->t0), x, v);
    for (int32_t k = 0; k < p->pert[slot].n; k++) {
        const int32_t j = p->pert[slot].body[k];
        const struct nb6_body *perturber = &sim->body[j];
        const int mutual = nb6_is_centre(sim, j) && nb6_slots_are_mutual(sim, slot, nb6_slot_of(sim, j));
        double y[3], w[3];
        if (mutual) nb6_parts_of_slot(p, &motion, nb6_slot_of(sim, j), t_rel, &other);
        nb6_predict(perturber, nb6_time_to_double(t - perturber->t0), y, w);
        for (int d = 0; d < 3; d++) y[d] -= x[d];
        sum += perturber->mass * nb6_parts_potential(y, &own, mutual ? &other : &point);
        if (mutual) sum -= perturber->mass * nb6_parts_potential(y, &point, &other); /* this stays */
    }
    if (p->pair[slot].galactic) sum += nb6_parts_tidal(&sim->external, x, &own);
    return centre->mass * sum;
}

void nb6_describe_pair(const struct nb6_sim *sim, int64_t slot, enum nb6_pair_reason reason, struct nb6_event *event)
{
    const struct nb6_pair *pair = &sim->pairs.pair[slot];
    const struct ks_pair *ks = &sim->pairs.ks[slot];
    struct ks_elements e;
    ks_elements(ks, &e);
    event->t = nb6_time_to_double(sim->ti_now);
    event->name = sim->star[nb6_centre(sim, slot)].name;
    event->mass = ks->m;
    memcpy(event->x, sim->body[nb6_centre(sim, slot)].x0, sizeof event->x);
    memcpy(event->v, sim->body[nb6_centre(sim, slot)].v0, sizeof event->v);
    event->pair = (struct nb6_event_pair){.reason = reason,
                                          .name = {nb6_pairs_name(sim, slot, 0), nb6_pairs_name(sim, slot, 1)},
                                          .mass = {ks->mass[0], ks->mass[1]},
                                          .a = e.a,
                                          .e = e.e,
                                          .period = e.period,
                                          .r = e.r,
                                          .binding = ks->mass[0] * ks->mass[1] / ks->m * ks_energy(ks),
                                          .gamma = ks->gamma,
                                          .gamma_max = fmax(ks->gamma, pair->gamma_max),
                                          .t_formed = pair->t_formed,
                                          .ks_steps = (uint64_t)ks->n_step};
}

/* The tightest bound pair. */
static void describe_tightest(const struct nb6_chain *chain, struct nb6_event_chain *to)
{
    struct hierarchy h;
    to->a = to->period = 0;
    if (hierarchy_find(chain->state.n, chain->state.mass, (const double(*)[3])chain->x, (const double(*)[3])chain->v,
                       &h) ||
        h.pairs == 0)
        return;
    to->a = h.pair[0].orbit.a;
    to->period = h.pair[0].orbit.period;
}

void nb6_describe_chain(const struct nb6_sim *sim, int64_t slot, struct nb6_event *event)
{
    const struct nb6_chain *chain = nb6_chain_of(&sim->pairs, slot);
    const struct chain *c = &chain->state;
    event->t = nb6_time_to_double(sim->ti_now);
    event->name = sim->star[nb6_centre(sim, slot)].name;
    event->mass = sim->body[nb6_centre(sim, slot)].mass;
    memcpy(event->x, sim->body[nb6_centre(sim, slot)].x0, sizeof event->x);
    memcpy(event->v, sim->body[nb6_centre(sim, slot)].v0, sizeof event->v);
    struct nb6_event_chain *to = &event->chain;
    to->n = c->n;
    memcpy(to->name, c->id, (size_t)c->n * sizeof *to->name);
    to->most = chain->most;
    to->binding = nb6_chain_energy(chain);
    to->error = to->binding - chain_energy_booked(c); /* 0 while a pair inside is slowed down */
    to->size = nb6_chain_size(chain);
    to->t_formed = chain->t_formed;
    describe_tightest(chain, to);
    to->steps = (uint64_t)c->steps;
    to->forces = (uint64_t)c->evaluations;
    to->unreached = (uint64_t)c->unreached;
    to->worst_error = c->worst_error;
}

int nb6_change_tell(struct nb6_sim *sim, struct nb6_event *event, double energy_change, struct nbc_error *err)
{
    if (!isfinite(energy_change))
        return nbc_fail(err, NBC_NON_FINITE, "the change of star %lld's pair or chain at t = %.12g: no finite energy",
                        (long long)event->name, event->t);
    sim->book.e_pair_changes += energy_change;
    event->pair.energy_change = event->chain.energy_change = energy_change;
    return nb6_event_raise(sim, event, err);
}

static int tell_pair(struct nb6_sim *sim, int64_t slot, enum nb6_event_kind kind, enum nb6_pair_reason reason,
                     struct nbc_error *err)
{
    struct nb6_event event = {.kind = kind};
    nb6_describe_pair(sim, slot, reason, &event);
    return nb6_change_tell(sim, &event, 0, err);
}

int nb6_pair_report_end(struct nb6_sim *sim, int64_t slot, enum nb6_pair_reason reason, struct nbc_error *err)
{
    return tell_pair(sim, slot, NB6_EVENT_PAIR_ENDED, reason, err);
}

int nb6_chain_report_end(struct nb6_sim *sim, int64_t slot, struct nbc_error *err)
{
    struct nb6_event event = {.kind = NB6_EVENT_CHAIN_ENDED};
    nb6_describe_chain(sim, slot, &event);
    return nb6_change_tell(sim, &event, 0, err);
}

int nb6_pairs_announce_first(struct nb6_sim *sim, struct nbc_error *err)
{
    int status = NBC_OK;
    for (int64_t slot = 0; slot < sim->pairs.n_slot && !status; slot++)
        status = tell_pair(sim, slot, NB6_EVENT_PAIR_FORMED,
                           sim->pairs.pair[slot].primordial ? NB6_PAIR_PRIMORDIAL : NB6_PAIR_ENCOUNTER, err);
    return status;
}

/* A second or two of work are not worth a word. */
static const int64_t BUSY_LEAST = 100000000;
static const double BUSY_SHARE = 0.5;

static int tell_busy(struct nb6_sim *sim, int64_t slot, struct nbc_error *err)
{
    const struct nb6_counters *c = &sim->counters;
    struct nb6_pair *pair = &sim->pairs.pair[slot];
    const double all = (double)c->pairs_irr + (double)c->pairs_reg + (double)c->ks_forces + (double)c->chain_pairs;
    if (pair->work < BUSY_LEAST || pair->work < 2 * pair->told || (double)pair->work < BUSY_SHARE * all) return NBC_OK;
    struct nb6_event event = {.kind = NB6_EVENT_BUSY, .value = {(double)pair->work, (double)pair->work / all}};
    pair->told = pair->work;
    if (pair->chain)
        nb6_describe_chain(sim, slot, &event);
    else
        nb6_describe_pair(sim, slot, NB6_PAIR_ENCOUNTER, &event);
    return nb6_event_raise(sim, &event, err);
}

static int tell_tolerance(struct nb6_sim *sim, int64_t slot, struct nbc_error *err)
{
    struct nb6_chain *chain = nb6_chain_of(&sim->pairs, slot);
    if (!chain || chain->state.unreached == 0 || chain->state.unreached < 2 * chain->told) return NBC_OK;
    struct nb6_event event = {.kind = NB6_EVENT_TOLERANCE};
    nb6_describe_chain(sim, slot, &event);
    chain->told = chain->state.unreached;
    return nb6_event_raise(sim, &event, err);
}

int nb6_slot_tell(struct nb6_sim *sim, int64_t slot, struct nbc_error *err)
{
    int status = tell_busy(sim, slot, err);
    return status ? status : tell_tolerance(sim, slot, err);
}
