/* The two stages of the block step that belong to pairs. */
#include "nbody6/fewbody/change.h"
#include "nbody6/fewbody/hierarchies.h"
#include "nbody6/fewbody/mergers.h"
#include "nbody6/step/step.h"

#include <math.h>
#include <string.h>

/* The centre of mass joins the block, in its place. */
static void join_block(struct nb6_active *active, int32_t i)
{
    int64_t at = active->n_irr;
    while (at > 0 && active->irr[at - 1] > i) at--;
    if (at > 0 && active->irr[at - 1] == i) return;
    memmove(active->irr + at + 1, active->irr + at, (size_t)(active->n_irr - at) * sizeof *active->irr);
    active->irr[at] = i;
    active->n_irr++;
}

static void count_chain_work(struct nb6_sim *sim, int64_t slot, struct nb6_chain *chain)
{
    const int64_t steps = chain->state.steps - chain->steps, forces = chain->state.evaluations - chain->forces;
    const int64_t n = chain->state.n, pairs = forces * (n * (n - 1) / 2 + n * sim->pairs.pert[slot].n);
    sim->counters.chain_steps += (uint64_t)steps;
    sim->counters.chain_forces += (uint64_t)forces;
    sim->counters.chain_pairs += (uint64_t)pairs;
    sim->pairs.pair[slot].work += pairs;
    chain->steps += steps;
    chain->forces += forces;
}

static void count_work(struct nb6_sim *sim, int64_t slot)
{
    struct nb6_pair *pair = &sim->pairs.pair[slot];
    const struct ks_pair *ks = &sim->pairs.ks[slot];
    struct nb6_chain *chain = nb6_chain_of(&sim->pairs, slot);
    if (chain) {
        count_chain_work(sim, slot, chain);
        return;
    }
    const int64_t forces = (ks->n_eval - pair->forces) * sim->pairs.pert[slot].n;
    sim->counters.ks_steps += (uint64_t)(ks->n_step - pair->steps);
    sim->counters.ks_forces += (uint64_t)forces;
    pair->work += forces;
    pair->steps = ks->n_step;
    pair->forces = ks->n_eval;
}

static void decide_end(struct nb6_sim *sim, int64_t slot)
{
    struct nb6_pair *pair = &sim->pairs.pair[slot];
    struct chain_group group;
    if (pair->chain) {
        const struct nb6_chain *chain = nb6_chain_of(&sim->pairs, slot);
        if (chain->state.t != nb6_relative_time(sim, sim->active.t)) return;
        pair->ending = nb6_chain_must_change(sim, slot, &group);
        if (pair->ending) join_block(&sim->active, (int32_t)(sim->n + slot));
        return;
    }
    if (sim->pairs.ks[slot].gamma > pair->gamma_max) pair->gamma_max = sim->pairs.ks[slot].gamma;
    int reason = nb6_pair_collides(sim, slot) ? NB6_PAIR_MERGED : nb6_pair_must_end(sim, slot, sim->active.t);
    if (reason < 0) return;
    pair->ending = reason + 1;
    join_block(&sim->active, (int32_t)(sim->n + slot));
}

/* Whether a pair without perturbers can leave its orbit's bounds, or has stars that may touch: then somebody has to
 * look. */
static int is_wide(const struct nb6_sim *sim, int64_t slot)
{
    if (sim->pairs.pair[slot].chain || nb6_pairs_is_perturbed(&sim->pairs, slot)) return 0;
    return isfinite(nb6_pair_step_limit(sim, slot)) || sim->config.pair.r_star > 0;
}

static int follow_wide(struct nb6_sim *sim, struct nbc_error *err)
{
    struct nb6_active *active = &sim->active;
    for (int64_t at = active->n_irr - 1; at >= 0 && active->irr[at] >= sim->n; at--) {
        int64_t slot = active->irr[at] - sim->n;
        if (!is_wide(sim, slot)) continue;
        int status = nb6_pair_finish(sim, slot, active->t, err);
        if (status) return status;
        decide_end(sim, slot);
    }
    return NBC_OK;
}

/* Bookkeeping of a group that was advanced. */
static int after_group(struct nb6_sim *sim, int64_t leader, struct nbc_error *err)
{
    struct nb6_pairs *p = &sim->pairs;
    int status = NBC_OK;
    p->next[leader] = INFINITY;
    p->pair[leader].begun = 0;
    for (int64_t slot = leader; slot >= 0 && !status; slot = p->follower[slot]) {
        if (p->pair[slot].chain) status = nb6_chain_tell_mergers(sim, nb6_chain_of(p, slot), err);
        if (!p->pair[slot].chain) p->next[leader] = fmin(p->next[leader], p->ks[slot].t + p->ks[slot].dt);
        decide_end(sim, slot);
    }
    return status;
}

/* Work of the groups that are due, and who of them takes more than its share. */
static int count_due(struct nb6_sim *sim, int64_t n_due, struct nbc_error *err)
{
    struct nb6_pairs *p = &sim->pairs;
    int status = NBC_OK;
    for (int64_t k = 0; k < n_due; k++)
        for (int64_t slot = p->due[k]; slot >= 0; slot = p->follower[slot]) count_work(sim, slot);
    for (int64_t k = 0; k < n_due && !status; k++)
        for (int64_t slot = p->due[k]; slot >= 0 && !status; slot = p->follower[slot])
            status = nb6_slot_tell(sim, slot, err);
    return status;
}

int nb6_step_pairs(struct nb6_sim *sim, int *paused, struct nbc_error *err)
{
    *paused = 0;
    if (sim->pairs.count == 0) return NBC_OK;
    double start = nbc_wtime();
    struct nb6_advance did;
    int status = nb6_pairs_advance(sim, sim->active.t, &did, err);
    *paused = did.paused;
    if (!status) status = count_due(sim, did.n_due, err);
    if (!status && !did.paused) status = follow_wide(sim, err);
    for (int64_t k = 0; k < did.n_due && !status && !did.paused; k++) status = after_group(sim, sim->pairs.due[k], err);
    sim->chain_s += did.chain_s;
    sim->stage_s[NB6_STAGE_PAIRS] += nbc_wtime() - start;
    return status;
}

/* Pairs that end, and chains that give up a part, unless what the block brought has made them compact again. */
static void find_ending(struct nb6_sim *sim, struct nb6_decisions *d)
{
    const struct nb6_active *active = &sim->active;
    int64_t first = active->n_irr;
    while (first > 0 && active->irr[first - 1] >= sim->n) first--;
    for (int64_t at = first; at < active->n_irr; at++) {
        int64_t slot = active->irr[at] - sim->n;
        if (!sim->pairs.pair[slot].ending) continue;
        if (!sim->pairs.pair[slot].chain) {
            d->end[d->n_end++] = (int32_t)slot;
            continue;
        }
        struct nb6_chain_change *change = &d->chain[d->n_chain];
        *change = (struct nb6_chain_change){.kind = NB6_CHAIN_SPLIT, .i = active->irr[at], .j = -1};
        sim->pairs.pair[slot].ending = nb6_chain_must_change(sim, slot, &change->group);
        d->n_chain += sim->pairs.pair[slot].ending;
    }
}

/* A table with room for n items, whose old content nobody needs; NULL: no memory. */
static void *scratch(void *old, int64_t *capacity, int64_t n, size_t size)
{
    if (n <= *capacity) return old;
    nbc_free(old);
    void *table = nbc_alloc((size_t)(2 * n), size);
    *capacity = table ? 2 * n : 0;
    return table;
}

/* Each decision has at least one member of the block of its own, of a chain the centre of mass. */
static int begin_decisions(struct nb6_sim *sim, struct nb6_decisions *d, struct nbc_error *err)
{
    struct nb6_pairs *p = &sim->pairs;
    const int64_t n_form = sim->active.n_irr, n_change = p->n_slot;
    p->form = scratch(p->form, &p->form_capacity, n_form, sizeof *p->form);
    p->chain_change = scratch(p->chain_change, &p->change_capacity, n_change, sizeof *p->chain_change);
    *d = (struct nb6_decisions){.end = sim->active.reg, /* free once the block is committed */
                                .form = p->form,
                                .chain = p->chain_change};
    return n_form <= p->form_capacity && n_change <= p->change_capacity
               ? NBC_OK
               : nbc_fail(err, NBC_NO_MEMORY, "no memory to look for new pairs");
}

int nb6_step_decide(struct nb6_sim *sim, struct nbc_error *err)
{
    double start = nbc_wtime();
    struct nb6_decisions d;
    int status = begin_decisions(sim, &d, err);
    if (status) return status;
    if (sim->pairs.count) find_ending(sim, &d);
    status = nb6_pairs_search(sim, d.form, &d.n_form, err);
    if (!status && sim->pairs.count) status = nb6_pairs_update(sim, err);
    if (!status && sim->pairs.count) status = nb6_chains_search(sim, &d, err);
    if (!status && sim->pairs.count) status = nb6_hierarchies_search(sim, &d, err);
    if (!status && d.n_form + d.n_end + d.n_chain > 0) status = nb6_pairs_change(sim, &d, err);
    sim->stage_s[NB6_STAGE_PAIRS] += nbc_wtime() - start;
    return status;
}

int nb6_step_decide_first(struct nb6_sim *sim, struct nbc_error *err)
{
    struct nb6_active *active = &sim->active;
    active->t = sim->ti_now;
    active->n_irr = sim->pairs.n_source;
    memcpy(active->irr, sim->pairs.source, (size_t)active->n_irr * sizeof *active->irr);
    return nb6_step_decide(sim, err);
}
