#include "nbody6/fewbody/pairs.h"

#include "nbody6/fewbody/parts.h"
#include "nbody6/state/sim.h"

#include <math.h>
#include <string.h>

/* Every array of a run that is sized with its slots, alone or after n stars. What is in use is kept, the rest is zero;
 * a failure leaves some arrays larger than the capacity says. */
static int grow(struct nb6_pairs *p, int64_t n, int64_t slots)
{
    const size_t used = (size_t)p->n_slot, room = (size_t)slots, stars = (size_t)n;
    const size_t bodies = p->resolved_by ? stars + used : 0;
#define GROW(array, old, new)                                                                                          \
    do {                                                                                                               \
        void *grown = nbc_realloc(array, old, new, sizeof *(array));                                                   \
        if (!grown) return 0;                                                                                          \
        (array) = grown;                                                                                               \
    } while (0)
    GROW(p->pair, used, room);
    GROW(p->ks, used, room);
    GROW(p->pert, used, room);
    GROW(p->leader, used, room);
    GROW(p->follower, used, room);
    GROW(p->next, used, room);
    GROW(p->due, used, room);
    GROW(p->is_due, used, room);
    GROW(p->changed, used, room);
    GROW(p->resolved_by, bodies, stars + room);
    GROW(p->source, bodies, stars + room);
    GROW(p->place, bodies, stars + room);
#undef GROW
    p->capacity = slots;
    return 1;
}

int nb6_pairs_alloc(struct nb6_pairs *p, int64_t n)
{
    return grow(p, n, nb6_pairs_room(p->n_slot));
}

int nb6_pairs_reserve(struct nb6_pairs *p, int64_t n, int64_t slots)
{
    return slots <= p->capacity || grow(p, n, slots);
}

int64_t nb6_pairs_room(int64_t n_slot)
{
    enum { AT_LEAST = 16 };
    return n_slot + n_slot / 2 + AT_LEAST;
}

void nb6_pairs_free(struct nb6_pairs *p)
{
    for (int64_t slot = 0; p->pert && slot < p->n_slot; slot++) nbc_free(p->pert[slot].body);
    nbc_free(p->pair);
    nbc_free(p->ks);
    nbc_free(p->chain);
    nbc_free(p->pert);
    nbc_free(p->resolved_by);
    nbc_free(p->leader);
    nbc_free(p->follower);
    nbc_free(p->next);
    nbc_free(p->due);
    nbc_free(p->is_due);
    nbc_free(p->changed);
    nbc_free(p->form);
    nbc_free(p->chain_change);
    nbc_free(p->source);
    nbc_free(p->place);
    memset(p, 0, sizeof *p);
}

void nb6_pairs_trim(struct nb6_pairs *p)
{
    while (p->n_slot > 0 && p->pair[p->n_slot - 1].member[0] < 0) {
        nbc_free(p->pert[--p->n_slot].body);
        p->pert[p->n_slot] = (struct nb6_perturbers){0};
    }
}

int64_t nb6_bodies(const struct nb6_sim *sim)
{
    return sim->n + sim->pairs.n_slot;
}

int nb6_takes_part(const struct nb6_sim *sim, int64_t i)
{
    return sim->star[i].owner == 0 && (i < sim->n || sim->pairs.pair[i - sim->n].member[0] >= 0);
}

int nb6_pairs_enabled(const struct nb6_sim *sim)
{
    const struct nb6_integration_config *c = &sim->config.integration;
    return sim->book.r_min > 0 && sim->book.dt_min > 0 && !(c->dt_fixed_irr > 0) && !(c->dt_fixed_reg > 0);
}

void nb6_pairs_set_sources(struct nb6_sim *sim)
{
    struct nb6_pairs *p = &sim->pairs;
    p->n_source = 0;
    for (int64_t i = 0; i < nb6_bodies(sim); i++) {
        p->place[i] = -1;
        if (!nb6_takes_part(sim, i)) continue;
        p->place[i] = (int32_t)p->n_source;
        p->source[p->n_source++] = (int32_t)i;
    }
}

int nb6_pairs_resolves(const struct nb6_pairs *p, int64_t slot, int32_t j)
{
    const struct nb6_perturbers *pert = &p->pert[slot];
    int32_t low = 0, high = pert->n;
    while (low < high) {
        int32_t middle = (low + high) / 2;
        if (pert->body[middle] < j)
            low = middle + 1;
        else
            high = middle;
    }
    return low < pert->n && pert->body[low] == j;
}

int nb6_pairs_set_perturbers(struct nb6_pairs *p, int64_t slot, int64_t n, const int32_t *body, struct nbc_error *err)
{
    struct nb6_perturbers *pert = &p->pert[slot];
    if (n > pert->capacity) {
        int32_t capacity = (int32_t)(n + n / 4 + 8);
        int32_t *grown = nbc_alloc((size_t)capacity, sizeof *grown);
        if (!grown) return nbc_fail(err, NBC_NO_MEMORY, "no memory for the %lld perturbers of a pair", (long long)n);
        if (pert->n > 0) memcpy(grown, pert->body, (size_t)pert->n * sizeof *grown);
        nbc_free(pert->body);
        pert->body = grown;
        pert->capacity = capacity;
    }
    for (int32_t k = 0; k < pert->n; k++) p->resolved_by[pert->body[k]]--;
    if (n > 0) memcpy(pert->body, body, (size_t)n * sizeof *body);
    pert->n = (int32_t)n;
    for (int32_t k = 0; k < pert->n; k++) p->resolved_by[pert->body[k]]++;
    return NBC_OK;
}

static int32_t leader_of(const struct nb6_pairs *p, int32_t slot)
{
    while (p->leader[slot] != slot) slot = p->leader[slot];
    return slot;
}

/* Pairs are always joined under the lowest slot, so that groups do not depend on the order in which links are found. */
static void link_pair(struct nb6_sim *sim, int32_t slot)
{
    struct nb6_pairs *p = &sim->pairs;
    const struct nb6_perturbers *pert = &p->pert[slot];
    for (int32_t k = pert->n - 1; k >= 0 && pert->body[k] >= sim->n; k--) {
        int32_t other = pert->body[k] - (int32_t)sim->n;
        if (other >= slot || !nb6_parts_are_mutual(p, sim->n, slot, other)) continue;
        int32_t a = leader_of(p, slot), b = leader_of(p, other);
        if (a > b)
            p->leader[a] = b;
        else
            p->leader[b] = a;
    }
}

void nb6_pairs_set_groups(struct nb6_sim *sim)
{
    struct nb6_pairs *p = &sim->pairs;
    for (int64_t slot = 0; slot < p->n_slot; slot++) {
        p->leader[slot] = (int32_t)slot;
        p->follower[slot] = -1;
        p->next[slot] = INFINITY; /* of a chain: whenever somebody needs it */
        if (p->pair[slot].member[0] >= 0 && p->pert[slot].n > 0) link_pair(sim, (int32_t)slot);
    }
    for (int64_t slot = p->n_slot - 1; slot >= 0; slot--) {
        if (p->pair[slot].member[0] < 0 || !nb6_pairs_is_perturbed(p, slot)) continue;
        int32_t first = leader_of(p, (int32_t)slot);
        p->leader[slot] = first;
        if (!p->pair[slot].chain) p->next[first] = fmin(p->next[first], p->ks[slot].t + p->ks[slot].dt);
        if (first == slot) continue;
        p->follower[slot] = p->follower[first];
        p->follower[first] = (int32_t)slot;
    }
}

int64_t nb6_pairs_name(const struct nb6_sim *sim, int64_t slot, int member)
{
    return sim->star[sim->pairs.pair[slot].member[member]].name;
}

static int rename_list(struct nb6_pairs *p, int64_t slot, const int32_t *moved)
{
    struct nb6_perturbers *pert = &p->pert[slot];
    int32_t n = 0;
    for (int32_t k = 0; k < pert->n; k++)
        if (moved[pert->body[k]] >= 0) pert->body[n++] = moved[pert->body[k]];
    int fewer = n < pert->n;
    pert->n = n;
    return fewer;
}

/* A pair that loses a perturber, which is far away by then, goes on without it from where it stands. */
int nb6_pairs_rename(struct nb6_sim *sim, const int32_t *moved, struct nbc_error *err)
{
    struct nb6_pairs *p = &sim->pairs;
    int status = NBC_OK;
    int64_t n_fewer = 0;
    for (int64_t slot = 0; slot < p->n_slot; slot++) {
        struct nb6_pair *pair = &p->pair[slot];
        if (pair->member[0] < 0) continue;
        if (moved[pair->member[0]] < 0) {
            if (pair->chain)
                sim->counters.chains_ended++;
            else
                sim->counters.pairs_ended++;
            nb6_chain_release(p, slot);
            pair->member[0] = pair->member[1] = -1;
            p->pert[slot].n = 0;
            p->count--;
            continue;
        }
        struct nb6_chain *chain = nb6_chain_of(p, slot);
        for (int m = 0; chain && m < chain->state.n; m++) chain->star[m] = moved[chain->star[m]];
        for (int m = 0; m < 2; m++) pair->member[m] = moved[pair->member[m]];
        if (rename_list(p, slot, moved)) p->changed[n_fewer++] = (int32_t)slot;
    }
    nb6_pairs_trim(p);
    memset(p->resolved_by, 0, (size_t)nb6_bodies(sim) * sizeof *p->resolved_by);
    for (int64_t slot = 0; slot < p->n_slot; slot++)
        for (int32_t k = 0; k < p->pert[slot].n; k++) p->resolved_by[p->pert[slot].body[k]]++;
    nb6_pairs_set_sources(sim);
    for (int64_t k = 0; k < n_fewer && !status; k++) status = nb6_pair_start(sim, p->changed[k], err);
    nb6_pairs_set_groups(sim);
    return status;
}
