/* Chains in time. */
#include "nbody6/fewbody/chains/motion.h"

#include "common/nbc.h"
#include "nbody6/fewbody/chains/chains.h"
#include "nbody6/fewbody/pairs/field.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/state/body.h"
#include "nbody6/state/members.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/state/view.h"
#include "regularization/chain.h"

#include <math.h>

static int32_t star_of(const struct nb6_chain *chain, int64_t id)
{
    int m = 0;
    while (chain->state.id[m] != id) m++;
    return chain->star[m];
}

/* Energy of the members with all bodies outside. */
static int outer_energy(struct nb6_field *f, struct nb6_chain *chain, double *energy)
{
    nb6_chain_refresh(chain);
    return nb6_field_potential(f, chain->state.t, chain->state.n, chain->state.mass, (const double(*)[3])chain->x,
                               energy);
}

/* Which star each member is after one of them is gone. */
static void keep_stars(struct nb6_chain *chain, int n, const int64_t id[], const nb6_index star[])
{
    for (int m = 0; m < chain->state.n; m++)
        for (int k = 0; k < n; k++)
            if (id[k] == chain->state.id[m]) chain->star[m] = star[k];
}

/* Two members become one star with both masses and volumes. Their energy with each other, and with all bodies outside
 * beyond that of one star, is lost. The state of the run follows later. */
static int merge_two(struct nb6_field *f, struct nb6_chain *chain, const struct chain_event *event,
                     struct nbc_error *err)
{
    struct chain *c = &chain->state;
    struct nb6_merger *merger = &chain->merged[chain->n_merged];
    nb6_index star[CHAIN_MAX];
    int64_t id[CHAIN_MAX];
    const int n = c->n;
    double volume = 0, mass = 0, before, after;
    for (int m = 0; m < n; m++) {
        id[m] = c->id[m];
        star[m] = chain->star[m];
        if (id[m] != event->id[0] && id[m] != event->id[1]) continue;
        mass += c->mass[m];
        volume += c->radius[m] * c->radius[m] * c->radius[m];
    }
    *merger = (struct nb6_merger){.t = c->t,
                                  .star = {star_of(chain, event->id[0]), star_of(chain, event->id[1])},
                                  .mass = mass,
                                  .radius = cbrt(volume),
                                  .r = event->r};
    int status = outer_energy(f, chain, &before);
    if (!status) status = chain_merge(c, event->id[0], event->id[1], merger->radius, &merger->energy, err);
    if (status) return status;
    keep_stars(chain, n, id, star);
    status = outer_energy(f, chain, &after);
    merger->energy += before - after;
    chain->n_merged++;
    return status;
}

/* Of two stars the pair that they become takes care. */
static int can_merge(const struct nb6_chain *chain, const struct chain_event *event)
{
    return event->kind == CHAIN_COLLISION && chain->state.n > 2 && chain->n_merged < CHAIN_MAX;
}

/* The nearest member within reach of a star that has grown, if there is one; `event` is of both then. */
static void find_swallowed(const struct nb6_chain *chain, struct chain_event *event)
{
    const struct chain *c = &chain->state;
    int at = 0;
    while (c->id[at] != event->id[0]) at++;
    *event = (struct chain_event){.kind = CHAIN_NONE, .id = {c->id[at]}, .r = INFINITY};
    for (int m = 0; m < c->n; m++) {
        double r2 = 0;
        for (int k = 0; k < 3; k++) r2 += (chain->x[m][k] - chain->x[at][k]) * (chain->x[m][k] - chain->x[at][k]);
        if (m == at || !(sqrt(r2) <= c->radius[m] + c->radius[at]) || !(sqrt(r2) < event->r)) continue;
        event->kind = CHAIN_COLLISION;
        event->id[1] = c->id[m];
        event->r = sqrt(r2);
    }
}

/* Merge two members that have met, and others that their product touches: these may have no pericentre ahead. */
static int merge(struct nb6_field *f, struct nb6_chain *chain, const struct chain_event *event, struct nbc_error *err)
{
    struct chain_event next = *event;
    int status = NBC_OK;
    while (!status && can_merge(chain, &next)) {
        status = merge_two(f, chain, &next, err);
        if (!status) find_swallowed(chain, &next);
    }
    return status;
}

/* The work of the galaxy since the centre of mass was last put to rest (pairs/field.c). */
static void take_work(const struct nb6_field *f, struct nb6_chain *chain)
{
    static const double nowhere[3];
    double x[3], v[3], mass = 0;
    if (!nb6_external_does_work(&f->sim->run.external)) return;
    chain_centre(&chain->state, x, v);
    for (int m = 0; m < chain->state.n; m++) mass += chain->state.mass[m];
    chain->galaxy_work += mass * v[0];
    chain_set_centre(&chain->state, nowhere, nowhere);
}

/* Steps between two checks of the remaining work. */
enum { STEPS_OF_A_SLICE = 8 };

int nb6_chain_advance(struct nb6_field *f, const struct nb6_motion *motion, nb6_slot slot, double t,
                      struct nbc_error *err)
{
    struct nb6_chain *chain = &motion->chain[f->sim->subsystems.system[slot].chain - 1];
    const struct chain_field field = {.acceleration = nb6_field_acceleration,
                                      .context = f,
                                      .by_velocity = f->sim->run.external.active &&
                                                     !nb6_external_acts_on_members(&f->sim->run.external)};
    struct chain_event event = {.kind = CHAIN_STEPS};
    int status = NBC_OK;
    chain->state.options.max_steps = STEPS_OF_A_SLICE;
    while (!status && event.kind != CHAIN_NONE && !f->paused) {
        const int64_t evaluations = chain->state.evaluations;
        const double jump = nb6_field_jump(f, chain->state.t, t), end = fmin(jump, t);
        nb6_field_stay_before_jump(f, isfinite(jump));
        status = chain_advance(&chain->state, end, &field, &event, err);
        nb6_field_stay_before_jump(f, 0);
        if (event.kind == CHAIN_NONE && end < t) event.kind = CHAIN_STEPS;
        take_work(f, chain);
        if (!status && can_merge(chain, &event)) status = merge(f, chain, &event, err);
        f->left -= chain->state.evaluations - evaluations;
        f->paused = f->left <= 0 && event.kind != CHAIN_NONE;
    }
    nb6_chain_refresh(chain);
    return status;
}

static int is_due(const struct nb6_sim *sim, int64_t i, nb6_time t)
{
    return t % nb6_step_ticks(nb6_get_star(sim, i)->level_irr) == 0;
}

int nb6_chain_is_due(const struct nb6_sim *sim, const struct nb6_chain *chain, nb6_time t)
{
    const struct nb6_perturbers *pert = &sim->subsystems.pert[chain->slot];
    if (is_due(sim, nb6_centre(sim, chain->slot), t)) return 1;
    for (int32_t k = 0; k < pert->n; k++)
        if (is_due(sim, pert->body[k], t)) return 1;
    return 0;
}
