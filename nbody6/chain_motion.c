/* Chains in time. */
#include "chains.h"
#include "pair_field.h"

#include <math.h>
#include <string.h>

static int32_t star_of(const struct nb6_chain *chain, int64_t id)
{
    int m = 0;
    while (chain->state.id[m] != id) m++;
    return chain->star[m];
}

/* Two members have met: one star goes on, with both masses and volumes. The run itself is told later. */
static int merge(struct nb6_chain *chain, const struct chain_event *event, struct nbc_error *err)
{
    struct chain *c = &chain->state;
    struct nb6_merger *merger = &chain->merged[chain->n_merged];
    int32_t star[CHAIN_MAX], goes_on[CHAIN_MAX];
    int64_t id[CHAIN_MAX];
    const int n = c->n;
    double volume = 0, mass = 0;
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
    int status = chain_merge(c, event->id[0], event->id[1], merger->radius, &merger->energy, err);
    if (status) return status;
    for (int m = 0; m < c->n; m++)
        for (int k = 0; k < n; k++)
            if (id[k] == c->id[m]) goes_on[m] = star[k];
    memcpy(chain->star, goes_on, (size_t)c->n * sizeof *goes_on);
    chain->n_merged++;
    return NBC_OK;
}

/* Of two stars the pair that they become takes care. */
static int can_merge(const struct nb6_chain *chain, const struct chain_event *event)
{
    return event->kind == CHAIN_COLLISION && chain->state.n > 2 && chain->n_merged < CHAIN_MAX;
}

int nb6_chain_advance(struct nb6_field *f, const struct nb6_motion *motion, int64_t slot, double t,
                      struct nbc_error *err)
{
    struct nb6_chain *chain = &motion->chain[f->sim->pairs.pair[slot].chain - 1];
    const struct chain_field field = {.acceleration = nb6_field_acceleration, .context = f};
    struct chain_event event = {.kind = CHAIN_COLLISION};
    int status = NBC_OK;
    while (!status && event.kind != CHAIN_NONE) {
        status = chain_advance(&chain->state, t, &field, &event, err);
        if (!status && can_merge(chain, &event)) status = merge(chain, &event, err);
    }
    nb6_chain_refresh(chain);
    return status;
}

static int is_due(const struct nb6_sim *sim, int64_t i, nb6_time t)
{
    return t % nb6_step_ticks(sim->star[i].level_irr) == 0;
}

int nb6_chain_is_due(const struct nb6_sim *sim, const struct nb6_chain *chain, nb6_time t)
{
    const struct nb6_perturbers *pert = &sim->pairs.pert[chain->slot];
    if (is_due(sim, sim->n + chain->slot, t)) return 1;
    for (int32_t k = 0; k < pert->n; k++)
        if (is_due(sim, pert->body[k], t)) return 1;
    return 0;
}
