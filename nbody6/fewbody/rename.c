#include "nbody6/fewbody/rename.h"

#include "common/nbc.h"
#include "nbody6/fewbody/kind.h"
#include "nbody6/fewbody/pairs/advance.h"
#include "nbody6/fewbody/pairs/make.h"
#include "nbody6/state/groups.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/members.h"
#include "nbody6/state/resolvers.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "regularization/chain.h"

static int loses_perturber(const struct nb6_subsystems *p, nb6_slot slot, const nb6_index *moved)
{
    for (int32_t k = 0; k < p->pert[slot].n; k++)
        if (moved[p->pert[slot].body[k]] < 0) return 1;
    return 0;
}

static void take_motion(struct nb6_subsystems *p, nb6_slot slot, const struct nb6_motion *copy)
{
    if (nb6_goes_on_demand(p, slot))
        *nb6_chain_of(p, slot) = copy->chain[p->system[slot].chain - 1];
    else
        p->ks[slot] = copy->ks[slot];
}

void nb6_subsystems_come_to_copy(struct nb6_sim *sim, const struct nb6_motion *copy, const nb6_index *moved)
{
    struct nb6_subsystems *p = &sim->subsystems;
    for (nb6_slot leader = 0; leader < p->n_slot; leader++) {
        int loses = 0;
        if (!nb6_slot_is_used(p, leader) || p->leader[leader] != leader) continue;
        for (nb6_slot slot = leader; slot >= 0; slot = p->follower[slot])
            loses |= moved[nb6_centre(sim, slot)] >= 0 && loses_perturber(p, slot, moved);
        for (nb6_slot slot = leader; loses && slot >= 0; slot = p->follower[slot]) take_motion(p, slot, copy);
    }
}

int nb6_subsystems_vanish(struct nb6_sim *sim, const nb6_index *moved, struct nbc_error *err)
{
    struct nb6_subsystems *p = &sim->subsystems;
    int status = NBC_OK;
    for (nb6_slot slot = p->n_slot - 1; slot >= 0 && !status; slot--) { /* slots at the end are given up on the way */
        if (!nb6_slot_is_used(p, slot) || moved[nb6_centre(sim, slot)] >= 0) continue;
        if (nb6_kind_of(p, slot)->is_pair)
            sim->run.counters.pairs_ended++;
        else
            sim->run.counters.chains_ended++;
        status = nb6_slot_clear(sim, slot, err);
    }
    return status;
}

static int rename_list(struct nb6_subsystems *p, nb6_slot slot, const nb6_index *moved)
{
    struct nb6_perturbers *pert = &p->pert[slot];
    int32_t n = 0;
    for (int32_t k = 0; k < pert->n; k++)
        if (moved[pert->body[k]] >= 0) pert->body[n++] = moved[pert->body[k]];
    int fewer = n < pert->n;
    pert->n = n;
    return fewer;
}

/* Its members, and those of mergers that are not committed to the run yet. Numbers of former ones may be beyond the
 * stars that are left, which a checkpoint must not have. */
static void rename_chain(struct nb6_chain *chain, const nb6_index *moved)
{
    for (int m = 0; m < CHAIN_MAX; m++) chain->star[m] = m < chain->state.n ? moved[chain->star[m]] : 0;
    for (int64_t k = 0; k < CHAIN_MAX; k++)
        for (int m = 0; m < 2; m++)
            chain->merged[k].star[m] = k < chain->n_merged ? moved[chain->merged[k].star[m]] : 0;
}

int nb6_subsystems_rename(struct nb6_sim *sim, const nb6_index *moved, struct nbc_error *err)
{
    struct nb6_subsystems *p = &sim->subsystems;
    int status = NBC_OK;
    int64_t n_fewer = 0;
    for (nb6_slot slot = 0; slot < p->n_slot; slot++) {
        struct nb6_subsystem *pair = &p->system[slot];
        if (!nb6_slot_is_used(p, slot)) continue;
        if (nb6_goes_on_demand(p, slot)) rename_chain(nb6_chain_of(p, slot), moved);
        for (int m = 0; m < 2; m++) pair->member[m] = moved[pair->member[m]];
        if (rename_list(p, slot, moved)) p->changed[n_fewer++] = (nb6_stored_slot)slot;
    }
    nb6_resolvers_find(p, nb6_bodies(sim));
    nb6_subsystems_set_sources(sim);
    for (int64_t k = 0; k < n_fewer && !status; k++) status = nb6_pair_start(sim, p->changed[k], err);
    nb6_groups_find(sim);
    return status;
}
