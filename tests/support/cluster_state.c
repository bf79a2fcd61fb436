#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "tests/support/cluster_state.h"

#include "common/nbc.h"
#include "gpuirr/gpuirr.h"
#include "nbody6/state/ageing.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/members.h"
#include "nbody6/state/schedule.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"

static uint64_t mixed(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *byte = data;
    for (size_t k = 0; k < bytes; k += sizeof(uint64_t)) {
        uint64_t word = 0;
        memcpy(&word, byte + k, bytes - k < sizeof word ? bytes - k : sizeof word);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return hash;
}

static uint64_t mixed_bodies(const struct nb6_sim *sim, uint64_t hash)
{
    for (int64_t i = 0; i < nb6_bodies(sim); i++) {
        size_t nnb = 0;
        const int32_t *list = gpuirr_get_list(sim->irr, (size_t)i, &nnb);
        const int level = nb6_schedule_level(sim->schedule, (int32_t)i);
        hash = mixed(hash, &level, sizeof level);
        hash = mixed(hash, &nnb, sizeof nnb);
        hash = mixed(hash, list, nnb * sizeof *list);
        hash = mixed(hash, &sim->subsystems.resolved_by[i], sizeof *sim->subsystems.resolved_by);
        if (i >= sim->n && sim->subsystems.system[i - sim->n].member[0] < 0) continue; /* no body is there */
        hash = mixed(hash, &sim->body[i], sizeof sim->body[i]);
        hash = mixed(hash, &sim->star[i], sizeof sim->star[i]);
    }
    return hash;
}

static uint64_t mixed_slots(const struct nb6_subsystems *p, uint64_t hash)
{
    hash = mixed(hash, &p->n_slot, sizeof p->n_slot);
    hash = mixed(hash, &p->count, sizeof p->count);
    hash = mixed(hash, p->source, (size_t)p->n_source * sizeof *p->source);
    for (int64_t slot = 0; slot < p->n_slot; slot++) {
        hash = mixed(hash, &p->system[slot].member, sizeof p->system[slot].member);
        if (p->system[slot].member[0] < 0) continue;
        hash = mixed(hash, &p->system[slot], sizeof p->system[slot]);
        hash = mixed(hash, &p->leader[slot], sizeof *p->leader);
        hash = mixed(hash, &p->follower[slot], sizeof *p->follower);
        hash = mixed(hash, &p->next[slot], sizeof *p->next);
        hash = mixed(hash, p->pert[slot].body, (size_t)p->pert[slot].n * sizeof *p->pert[slot].body);
        hash = mixed(hash, p->pert[slot].next_resolver, (size_t)p->pert[slot].n * sizeof *p->pert[slot].next_resolver);
        const struct nb6_chain *chain = nb6_chain_of(p, slot);
        hash = chain ? mixed(hash, chain, sizeof *chain) : mixed(hash, &p->ks[slot], sizeof p->ks[slot]);
    }
    return hash;
}

/* The clock goes on. */
static uint64_t mixed_book(const struct nb6_run_book *book, uint64_t hash)
{
    struct nb6_run_book copy;
    memcpy(&copy, book, sizeof copy);
    copy.wall_used_s = 0;
    return mixed(hash, &copy, sizeof copy);
}

uint64_t cluster_state(const nb6_t *sim)
{
    uint64_t hash = 0xcbf29ce484222325u;
    hash = mixed(hash, &sim->n, sizeof sim->n);
    hash = mixed(hash, &sim->ti_now, sizeof sim->ti_now);
    hash = mixed(hash, &sim->ti_origin, sizeof sim->ti_origin);
    hash = mixed(hash, &sim->nb_cap, sizeof sim->nb_cap);
    hash = mixed(hash, &sim->run.counters, sizeof sim->run.counters);
    hash = mixed_book(&sim->run.book, hash);
    hash = mixed(hash, &sim->book, sizeof sim->book);
    if (sim->ageing) hash = mixed(hash, sim->ageing->aged, (size_t)sim->n * sizeof *sim->ageing->aged);
    return mixed_slots(&sim->subsystems, mixed_bodies(sim, hash));
}

uint64_t cluster_state_at_home(nb6_t *sim)
{
    struct nbc_error err = {0};
    if (nb6_bring_home(sim, &err)) fail_msg("%s", err.text);
    return cluster_state(sim);
}

uint64_t cluster_state_at_end(nb6_t *sim)
{
    const uint64_t state = cluster_state_at_home(sim);
    nb6_free(sim);
    return state;
}
