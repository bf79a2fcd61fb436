#include "nbody6/fewbody/chains.h"

#include "nbody6/state/sim.h"

#include <math.h>
#include <string.h>

struct nb6_chain *nb6_chain_of(const struct nb6_pairs *pairs, int64_t slot)
{
    int32_t chain = pairs->pair[slot].chain;
    return chain ? &pairs->chain[chain - 1] : NULL;
}

int nb6_chains_enabled(const struct nb6_sim *sim)
{
    return sim->config.pair.systems && sim->config.pair.chains && nb6_pairs_enabled(sim);
}

struct nb6_chain *nb6_chain_take(struct nb6_pairs *pairs, int64_t slot)
{
    int64_t k = 0;
    while (k < pairs->n_chain && pairs->chain[k].slot >= 0) k++;
    if (k == pairs->chain_capacity) {
        int64_t capacity = 2 * pairs->chain_capacity + 4;
        struct nb6_chain *grown = nbc_alloc((size_t)capacity, sizeof *grown);
        if (!grown) return NULL;
        if (pairs->n_chain > 0) memcpy(grown, pairs->chain, (size_t)pairs->n_chain * sizeof *grown);
        nbc_free(pairs->chain);
        pairs->chain = grown;
        pairs->chain_capacity = capacity;
    }
    if (k == pairs->n_chain) pairs->n_chain++;
    memset(&pairs->chain[k], 0, sizeof pairs->chain[k]);
    pairs->chain[k].slot = (int32_t)slot;
    pairs->pair[slot].chain = (int32_t)k + 1;
    return &pairs->chain[k];
}

void nb6_chain_release(struct nb6_pairs *pairs, int64_t slot)
{
    struct nb6_chain *chain = nb6_chain_of(pairs, slot);
    if (!chain) return;
    chain->slot = -1;
    pairs->pair[slot].chain = 0;
    while (pairs->n_chain > 0 && pairs->chain[pairs->n_chain - 1].slot < 0) pairs->n_chain--;
}

int nb6_stars_of(const struct nb6_sim *sim, int64_t body, int32_t star[])
{
    if (body < sim->n) {
        star[0] = (int32_t)body;
        return 1;
    }
    const struct nb6_chain *chain = nb6_chain_of(&sim->pairs, body - sim->n);
    if (chain) {
        memcpy(star, chain->star, (size_t)chain->state.n * sizeof *star);
        return chain->state.n;
    }
    const int32_t *member = sim->pairs.pair[body - sim->n].member;
    int n = nb6_stars_of(sim, member[0], star);
    return n + nb6_stars_of(sim, member[1], star + n);
}

double nb6_chain_size(const struct nb6_chain *chain)
{
    double r2 = 0;
    for (int m = 0; m < chain->state.n; m++) {
        const double *x = chain->x[m];
        r2 = fmax(r2, x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
    }
    return sqrt(r2);
}

double nb6_chain_energy(const struct nb6_chain *chain)
{
    int slowed = 0;
    for (int k = 0; k + 1 < chain->state.n; k++) slowed |= chain->state.kappa[k] > 1;
    return slowed ? chain_energy_booked(&chain->state) : chain_energy(&chain->state);
}

void nb6_chain_refresh(struct nb6_chain *chain)
{
    static const double nowhere[3];
    struct chain_body body[CHAIN_MAX];
    chain_set_centre(&chain->state, nowhere, nowhere);
    chain_bodies(&chain->state, body);
    for (int m = 0; m < chain->state.n; m++) {
        memcpy(chain->x[m], body[m].x, sizeof chain->x[m]);
        memcpy(chain->v[m], body[m].v, sizeof chain->v[m]);
    }
    if (chain->state.n > chain->most) chain->most = chain->state.n;
}
