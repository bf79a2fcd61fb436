#include "nbody6/state/members.h"

#include "common/select.h"
#include "nbody6/state/ascending.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"

#include <string.h>

int64_t nb6_bodies(const struct nb6_sim *sim)
{
    return sim->n + sim->subsystems.n_slot;
}

int nb6_takes_part(const struct nb6_sim *sim, int64_t i)
{
    return sim->star[i].owner == 0 &&
           (!nb6_is_centre(sim, i) || nb6_slot_is_used(&sim->subsystems, nb6_slot_of(sim, i)));
}

static int is_source(const void *sim, int64_t i)
{
    return nb6_takes_part(sim, i);
}

void nb6_subsystems_set_sources(struct nb6_sim *sim)
{
    enum { BODIES_OF_A_PART = 2048 };
    struct nb6_subsystems *p = &sim->subsystems;
    p->n_source = nbc_select(nb6_bodies(sim), BODIES_OF_A_PART, is_source, sim, p->source);
}

int64_t nb6_source_place(const struct nb6_subsystems *p, nb6_index i)
{
    return nb6_list_find(p->source, (size_t)p->n_source, i);
}

void nb6_subsystems_change_sources(struct nb6_sim *sim, int n, const nb6_index *body)
{
    struct nb6_subsystems *p = &sim->subsystems;
    nb6_index come[CHAIN_MAX], gone[CHAIN_MAX];
    int64_t n_come = 0, n_gone = 0;
    for (int k = 0; k < n; k++) {
        if (body[k] < 0) continue;
        if (body[k] < nb6_bodies(sim) && nb6_takes_part(sim, body[k]))
            n_come = nb6_list_insert(come, n_come, body[k]);
        else
            n_gone = nb6_list_insert(gone, n_gone, body[k]);
    }
    p->n_source = nb6_list_remove_some(p->source, p->n_source, n_gone, gone);
    p->n_source = nb6_list_insert_some(p->source, p->n_source, n_come, come);
}

int64_t nb6_subsystems_name(const struct nb6_sim *sim, nb6_slot slot, int member)
{
    return sim->star[sim->subsystems.system[slot].member[member]].name;
}

int nb6_stars_of(const struct nb6_sim *sim, int64_t body, nb6_index star[])
{
    if (!nb6_is_centre(sim, body)) {
        star[0] = (int32_t)body;
        return 1;
    }
    const struct nb6_chain *chain = nb6_chain_of(&sim->subsystems, nb6_slot_of(sim, body));
    if (chain) {
        memcpy(star, chain->star, (size_t)chain->state.n * sizeof *star);
        return chain->state.n;
    }
    const nb6_index *member = sim->subsystems.system[nb6_slot_of(sim, body)].member;
    int n = nb6_stars_of(sim, member[0], star);
    return n + nb6_stars_of(sim, member[1], star + n);
}

int64_t nb6_massive_stars(const struct nb6_sim *sim)
{
    int64_t n = 0;
    for (int64_t i = 0; i < sim->n; i++) n += sim->body[i].mass > 0;
    return n;
}

nb6_slot nb6_inner_slot(const struct nb6_sim *sim, nb6_slot slot, int member)
{
    const struct nb6_subsystem *pair = &sim->subsystems.system[slot];
    return !pair->chain && nb6_is_centre(sim, pair->member[member]) ? nb6_slot_of(sim, pair->member[member])
                                                                    : NB6_NO_SLOT;
}

int nb6_is_hierarchy(const struct nb6_sim *sim, nb6_slot slot)
{
    return nb6_inner_slot(sim, slot, 0) >= 0 || nb6_inner_slot(sim, slot, 1) >= 0;
}

int nb6_slots_are_mutual(const struct nb6_sim *sim, nb6_slot slot, nb6_slot other)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    return !(nb6_goes_on_demand(p, slot) && nb6_goes_on_demand(p, other)) &&
           nb6_subsystems_resolves(p, slot, nb6_centre(sim, other)) &&
           nb6_subsystems_resolves(p, other, nb6_centre(sim, slot));
}
