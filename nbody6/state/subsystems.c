#include "nbody6/state/subsystems.h"

#include "common/nbc.h"
#include "nbody6/state/ascending.h"
#include "nbody6/state/resolvers.h"
#include "nbody6/state/sim.h"
#include "regularization/chain.h"

#include <math.h>
#include <string.h>

/* Of a checkpoint that was just read, those in use. */
static size_t slots_with_memory(const struct nb6_subsystems *p)
{
    return (size_t)(p->capacity > p->n_slot ? p->capacity : p->n_slot);
}

/* Every array of a run that is sized with its slots, alone or after n stars. Used parts are kept, the rest is zero; a
 * failure leaves some arrays larger than the capacity. */
static int grow(struct nb6_subsystems *p, int64_t n, int64_t slots)
{
    const size_t used = (size_t)p->n_slot, had = slots_with_memory(p), room = (size_t)slots, stars = (size_t)n;
    const size_t bodies = p->resolved_by ? stars + used : 0;
#define GROW(array, old, new)                                                                                          \
    do {                                                                                                               \
        void *grown = nbc_realloc(array, old, new, sizeof *(array));                                                   \
        if (!grown) return 0;                                                                                          \
        (array) = grown;                                                                                               \
    } while (0)
    GROW(p->system, used, room);
    GROW(p->ks, used, room);
    GROW(p->pert, had, room); /* a free slot keeps its memory */
    GROW(p->leader, used, room);
    GROW(p->follower, used, room);
    GROW(p->next, used, room);
    GROW(p->due, used, room);
    GROW(p->listed, had, room);
    GROW(p->is_listed, had, room);
    GROW(p->noted, had, room);
    GROW(p->is_noted, had, room);
    GROW(p->changed, used, room);
    GROW(p->resolved_by, bodies, stars + room);
    GROW(p->source, bodies, stars + room);
#undef GROW
    for (size_t i = bodies; i < stars + room; i++) p->resolved_by[i] = NB6_NO_SLOT;
    p->capacity = slots;
    return 1;
}

int nb6_subsystems_alloc(struct nb6_subsystems *p, int64_t n, int64_t n_pair)
{
    if (!p->scratch) p->scratch = nbc_alloc(1, sizeof *p->scratch);
    return p->scratch && grow(p, n, nb6_subsystems_room(n_pair > p->n_slot ? n_pair : p->n_slot));
}

int nb6_subsystems_reserve(struct nb6_subsystems *p, int64_t n, int64_t slots)
{
    return slots <= p->capacity || grow(p, n, slots);
}

int64_t nb6_subsystems_room(int64_t n_slot)
{
    enum { AT_LEAST = 16 };
    return n_slot + n_slot / 2 + AT_LEAST;
}

static void free_scratch(struct nb6_field_scratches *all)
{
    for (int k = 0; all && k < all->parts; k++) {
        nbc_free(all->part[k].path);
        nbc_free(all->part[k].resolved);
        nbc_free(all->part[k].mass);
        nbc_free(all->part[k].dx);
        nbc_free(all->part[k].dv);
        nbc_free(all->part[k].series);
    }
    if (all) nbc_free(all->part);
    nbc_free(all);
}

void nb6_subsystems_free(struct nb6_subsystems *p)
{
    for (size_t slot = 0; p->pert && slot < slots_with_memory(p); slot++) nbc_free(p->pert[slot].body);
    nbc_free(p->system);
    nbc_free(p->ks);
    nbc_free(p->chain);
    nbc_free(p->pert);
    nbc_free(p->resolved_by);
    nbc_free(p->leader);
    nbc_free(p->follower);
    nbc_free(p->next);
    nbc_free(p->due);
    nbc_free(p->listed);
    nbc_free(p->is_listed);
    nbc_free(p->noted);
    nbc_free(p->is_noted);
    nbc_free(p->changed);
    nbc_free(p->form);
    nbc_free(p->chain_change);
    nbc_free(p->source);
    nbc_free(p->holder);
    nbc_free(p->views);
    nbc_free(p->tide_sources);
    free_scratch(p->scratch);
    memset(p, 0, sizeof *p);
}

void nb6_subsystems_trim(struct nb6_subsystems *p)
{
    while (p->n_slot > 0 && p->system[p->n_slot - 1].member[0] < 0) p->pert[--p->n_slot].n = 0;
    if (p->free_from > p->n_slot) p->free_from = p->n_slot;
}

int nb6_subsystems_resolves(const struct nb6_subsystems *p, nb6_slot slot, nb6_index j)
{
    return nb6_list_find(p->pert[slot].body, (size_t)p->pert[slot].n, j) >= 0;
}

int nb6_subsystems_set_perturbers(struct nb6_subsystems *p, nb6_slot slot, int64_t n, const nb6_index *body,
                                  struct nbc_error *err)
{
    struct nb6_perturbers *pert = &p->pert[slot];
    if (n > pert->capacity && !nb6_perturbers_reserve(pert, n + n / 4 + 8))
        return nbc_fail(err, NBC_NO_MEMORY, "no memory for the %lld perturbers of a pair", (long long)n);
    nb6_note_slot(p, slot);
    nb6_resolver_remove(p, slot);
    if (n > 0) memcpy(pert->body, body, (size_t)n * sizeof *body);
    pert->n = (int32_t)n;
    p->system[slot].remote = 0;
    nb6_resolver_add(p, slot);
    return NBC_OK;
}

struct nb6_chain *nb6_chain_of(const struct nb6_subsystems *subsystems, nb6_slot slot)
{
    int32_t chain = subsystems->system[slot].chain;
    return chain ? &subsystems->chain[chain - 1] : NULL;
}

struct nb6_chain *nb6_chain_take(struct nb6_subsystems *subsystems, nb6_slot slot)
{
    int64_t k = 0;
    while (k < subsystems->n_chain && subsystems->chain[k].slot >= 0) k++;
    if (k == subsystems->chain_capacity) {
        int64_t capacity = 2 * subsystems->chain_capacity + 4;
        struct nb6_chain *grown = nbc_alloc((size_t)capacity, sizeof *grown);
        if (!grown) return NULL;
        if (subsystems->n_chain > 0) memcpy(grown, subsystems->chain, (size_t)subsystems->n_chain * sizeof *grown);
        nbc_free(subsystems->chain);
        subsystems->chain = grown;
        subsystems->chain_capacity = capacity;
    }
    if (k == subsystems->n_chain) subsystems->n_chain++;
    nb6_note_slot(subsystems, slot);
    memset(&subsystems->chain[k], 0, sizeof subsystems->chain[k]);
    subsystems->chain[k].slot = (nb6_stored_slot)slot;
    subsystems->system[slot].chain = (int32_t)k + 1;
    subsystems->system[slot].kind = NB6_CHAIN;
    return &subsystems->chain[k];
}

void nb6_chain_release(struct nb6_subsystems *subsystems, nb6_slot slot)
{
    struct nb6_chain *chain = nb6_chain_of(subsystems, slot);
    if (!chain) return;
    nb6_note_slot(subsystems, slot);
    chain->slot = NB6_NO_SLOT;
    subsystems->system[slot].chain = 0;
    subsystems->system[slot].kind = NB6_PAIR;
    while (subsystems->n_chain > 0 && subsystems->chain[subsystems->n_chain - 1].slot < 0) subsystems->n_chain--;
}

double nb6_slot_time(const struct nb6_subsystems *subsystems, const struct nb6_motion *motion, nb6_slot slot)
{
    int32_t chain = subsystems->system[slot].chain;
    return chain ? motion->chain[chain - 1].state.t : motion->ks[slot].t;
}

double nb6_slot_step_end(const struct nb6_subsystems *subsystems, const struct nb6_motion *motion, nb6_slot slot)
{
    return nb6_goes_on_demand(subsystems, slot) ? INFINITY : motion->ks[slot].t + motion->ks[slot].dt;
}

void nb6_motions_forget(struct nb6_sim *sim)
{
    nbc_free(sim->motions_now.motion.ks);
    nbc_free(sim->motions_now.motion.chain);
    sim->motions_now = (struct nb6_motions_now){0};
}
