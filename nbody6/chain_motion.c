/* Chains in time. */
#include "chains.h"
#include "pair_field.h"

int nb6_chain_advance(struct nb6_field *f, const struct nb6_motion *motion, int64_t slot, double t,
                      struct nbc_error *err)
{
    struct nb6_chain *chain = &motion->chain[f->sim->pairs.pair[slot].chain - 1];
    const struct chain_field field = {nb6_field_acceleration, f};
    struct chain_event event;
    int status = chain_advance(&chain->state, t, f->n_path + f->n_resolved > 0 ? &field : NULL, &event, err);
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
