/* Chains of three and more stars as a kind of few-body system. */
#include "nbody6/fewbody/kind.h"
#include "common/nbc.h"
#include "nbody6/fewbody/chains/chains.h"
#include "nbody6/fewbody/chains/motion.h"
#include "nbody6/fewbody/chains/room.h"
#include "nbody6/fewbody/chains/search.h"
#include "nbody6/fewbody/decisions.h"
#include "nbody6/fewbody/mergers.h"
#include "nbody6/state/bodies.h"
#include "nbody6/state/body.h"
#include "nbody6/state/energy_ledger.h"
#include "nbody6/state/event.h"
#include "nbody6/state/members.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/state/view.h"
#include "regularization/chain.h"
#include "regularization/hierarchy.h"

#include <math.h>
#include <string.h>

static const struct nb6_chain *of_motion(const struct nb6_subsystems *subsystems, const struct nb6_motion *motion,
                                         nb6_slot slot)
{
    return &motion->chain[subsystems->system[slot].chain - 1];
}

static int is_needed(const struct nb6_sim *sim, nb6_slot slot, nb6_time t)
{
    return nb6_chain_is_due(sim, nb6_chain_of(&sim->subsystems, slot), t);
}

/* Chains are at the requested time; data for output, not for integration, are extrapolated linearly. */
static int points(const struct nb6_subsystems *subsystems, const struct nb6_motion *motion, nb6_slot slot, double t,
                  const double x[3], const double v[3], struct nb6_points *to)
{
    const struct nb6_chain *chain = of_motion(subsystems, motion, slot);
    const double s = t - chain->state.t;
    for (int m = 0; m < chain->state.n; m++, to->n++) {
        to->mass[to->n] = chain->state.mass[m];
        for (int k = 0; k < 3; k++) {
            to->x[to->n][k] = x[k] + chain->x[m][k] + s * chain->v[m][k];
            to->v[to->n][k] = v[k] + chain->v[m][k];
        }
    }
    return NBC_OK;
}

static double energy(const struct nb6_subsystems *subsystems, const struct nb6_motion *motion, nb6_slot slot)
{
    return nb6_chain_energy(of_motion(subsystems, motion, slot));
}

static double extent(const struct nb6_sim *sim, nb6_slot slot)
{
    return nb6_chain_size(nb6_chain_of(&sim->subsystems, slot));
}

static double reference_radius(const struct nb6_sim *sim, nb6_slot slot)
{
    const double size = extent(sim, slot);
    return fmin(2 * size, fmax(size, sim->book.r_min));
}

/* A system is checked four times while it contracts, as long as it is not smaller than this part of RMIN, and four
 * times while its size doubles. */
static const double SMALL = 1 / 16.0;

/* Longer steps would find a system that falls together from rest when its stars have left it at a hundred times the
 * speed of others, far beyond the largest size of a chain. */
static double step_limit(const struct nb6_sim *sim, nb6_slot slot)
{
    const double size = fmax(extent(sim, slot), SMALL * sim->book.r_min);
    const double fall = 0.25 * size * sqrt(size / nb6_get_body(sim, nb6_centre(sim, slot))->mass);
    struct chain_group parts;
    chain_escaper(&nb6_chain_of(&sim->subsystems, slot)->state, 0, 0, &parts);
    return parts.speed > 0 ? fmin(fall, 0.25 * fmax(parts.distance, sim->book.r_min) / parts.speed) : fall;
}

static void count_work(struct nb6_sim *sim, nb6_slot slot)
{
    struct nb6_chain *chain = nb6_chain_of(&sim->subsystems, slot);
    const int64_t steps = chain->state.steps - chain->steps, forces = chain->state.evaluations - chain->forces;
    const int64_t n = chain->state.n, pairs = forces * (n * (n - 1) / 2 + n * sim->subsystems.pert[slot].n);
    sim->run.counters.chain_steps += (uint64_t)steps;
    sim->run.counters.chain_forces += (uint64_t)forces;
    sim->run.counters.chain_pairs += (uint64_t)pairs;
    sim->subsystems.system[slot].work += pairs;
    chain->steps += steps;
    chain->forces += forces;
}

static int publish(struct nb6_sim *sim, nb6_slot slot, struct nbc_error *err)
{
    return nb6_chain_tell_mergers(sim, nb6_chain_of(&sim->subsystems, slot), err);
}

static int look_at_chain(struct nb6_sim *sim, nb6_slot slot)
{
    struct nb6_subsystem *pair = &sim->subsystems.system[slot];
    struct chain_group group;
    if (nb6_chain_of(&sim->subsystems, slot)->state.t != nb6_relative_time(sim, sim->active.t)) return 0;
    pair->ending = nb6_chain_must_change(sim, slot, &group);
    return pair->ending;
}

/* It gives up a part, unless what the block brought has made it compact again. */
static int decide(struct nb6_sim *sim, nb6_slot slot, struct nb6_decisions *decisions, struct nbc_error *err)
{
    (void)err;
    struct nb6_chain_change *change = &decisions->chain[decisions->n_chain];
    *change = (struct nb6_chain_change){.kind = NB6_CHAIN_SPLIT, .i = nb6_centre(sim, slot), .j = NB6_NOBODY};
    sim->subsystems.system[slot].ending = nb6_chain_must_change(sim, slot, &change->group);
    decisions->n_chain += nb6_is_ending(&sim->subsystems, slot);
    return NBC_OK;
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

static void describe_chain(const struct nb6_sim *sim, nb6_slot slot, enum nb6_pair_reason reason,
                           struct nb6_event *event)
{
    (void)reason;
    const struct nb6_chain *chain = nb6_chain_of(&sim->subsystems, slot);
    const struct chain *c = &chain->state;
    event->t = nb6_time_to_double(sim->ti_now);
    event->name = nb6_get_star(sim, nb6_centre(sim, slot))->name;
    event->mass = nb6_get_body(sim, nb6_centre(sim, slot))->mass;
    memcpy(event->x, nb6_get_body(sim, nb6_centre(sim, slot))->x0, sizeof event->x);
    memcpy(event->v, nb6_get_body(sim, nb6_centre(sim, slot))->v0, sizeof event->v);
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

static int warn(struct nb6_sim *sim, nb6_slot slot, struct nbc_error *err)
{
    struct nb6_chain *chain = nb6_chain_of(&sim->subsystems, slot);
    if (chain->state.unreached == 0 || chain->state.unreached < 2 * chain->told) return NBC_OK;
    struct nb6_event event = {.kind = NB6_EVENT_TOLERANCE};
    nb6_slot_describe(sim, slot, NB6_PAIR_ENCOUNTER, &event);
    chain->told = chain->state.unreached;
    return nb6_event_raise(sim, &event, err);
}

const struct nb6_kind nb6_chain_kind = {
    .name = "chain",
    .ends = NB6_EVENT_CHAIN_ENDED,
    .channel = NB6_CHANNEL_CHAINS,
    .advance = nb6_chain_advance,
    .finish = nb6_chain_advance,
    .is_needed = is_needed,
    .points = points,
    .energy = energy,
    .reference_radius = reference_radius,
    .extent = extent,
    .room = nb6_compact_radius,
    .step_limit = step_limit,
    .count_work = count_work,
    .publish = publish,
    .look = look_at_chain,
    .decide = decide,
    .search = nb6_chains_search,
    .describe = describe_chain,
    .warn = warn,
};
