#include "nbody6/state/groups.h"

#include "nbody6/state/ascending.h"
#include "nbody6/state/members.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"

#include <math.h>

static nb6_stored_slot leader_of(const struct nb6_subsystems *p, nb6_stored_slot slot)
{
    while (p->leader[slot] != slot) slot = p->leader[slot];
    return slot;
}

/* Pairs are always joined under the lowest slot, so that groups do not depend on the order in which links are found. */
static void link_pair(struct nb6_sim *sim, nb6_stored_slot slot)
{
    struct nb6_subsystems *p = &sim->subsystems;
    const struct nb6_perturbers *pert = &p->pert[slot];
    for (int32_t k = pert->n - 1; k >= 0 && nb6_is_centre(sim, pert->body[k]); k--) {
        nb6_stored_slot other = pert->body[k] - (nb6_stored_slot)sim->n;
        if (other >= slot || !nb6_slots_are_mutual(sim, slot, other)) continue;
        nb6_stored_slot a = leader_of(p, slot), b = leader_of(p, other);
        if (a > b)
            p->leader[a] = b;
        else
            p->leader[b] = a;
    }
}

void nb6_groups_add(struct nb6_subsystems *p, nb6_slot slot)
{
    p->leader[slot] = (nb6_stored_slot)slot;
    p->follower[slot] = NB6_NO_SLOT;
    p->next[slot] = INFINITY; /* of a chain: advanced on demand */
}

/* Each of those that were listed is alone; those on which something acts stay in the list. */
static void renew_list(struct nb6_subsystems *p)
{
    int64_t n = 0;
    for (int64_t k = 0; k < p->n_listed; k++) {
        const nb6_stored_slot slot = p->listed[k];
        nb6_groups_add(p, slot);
        p->is_listed[slot] = slot < p->n_slot && nb6_slot_is_used(p, slot) && nb6_subsystems_is_perturbed(p, slot);
        if (p->is_listed[slot]) p->listed[n++] = slot;
    }
    p->n_listed = n;
    nb6_list_sort(p->listed, n); /* the few new ones are at the end */
}

void nb6_groups_link(struct nb6_sim *sim)
{
    struct nb6_subsystems *p = &sim->subsystems;
    renew_list(p);
    for (int64_t k = 0; k < p->n_listed; k++) link_pair(sim, p->listed[k]);
    for (int64_t k = p->n_listed - 1; k >= 0; k--) {
        const nb6_stored_slot slot = p->listed[k], first = leader_of(p, slot);
        p->leader[slot] = first;
        if (first == slot) continue;
        p->follower[slot] = p->follower[first];
        p->follower[first] = slot;
    }
}

double nb6_group_step_end(const struct nb6_subsystems *p, nb6_slot leader)
{
    const struct nb6_motion motion = nb6_subsystems_motion(p);
    double end = INFINITY;
    for (nb6_slot slot = leader; slot >= 0; slot = p->follower[slot])
        end = fmin(end, nb6_slot_step_end(p, &motion, slot));
    return end;
}

void nb6_groups_set_next(struct nb6_sim *sim)
{
    struct nb6_subsystems *p = &sim->subsystems;
    for (int64_t k = 0; k < p->n_listed; k++) {
        const nb6_stored_slot slot = p->listed[k];
        if (p->leader[slot] == slot) p->next[slot] = p->system[slot].begun ? -INFINITY : nb6_group_step_end(p, slot);
    }
}

void nb6_groups_find(struct nb6_sim *sim)
{
    struct nb6_subsystems *p = &sim->subsystems;
    p->n_listed = 0;
    p->free_from = 0;
    for (nb6_slot slot = 0; slot < p->n_slot; slot++) {
        nb6_groups_add(p, slot);
        p->is_listed[slot] = 1;
        p->listed[p->n_listed++] = (nb6_stored_slot)slot;
    }
    for (nb6_slot slot = p->n_slot; slot < p->capacity; slot++) p->is_listed[slot] = 0;
    nb6_groups_link(sim);
    nb6_groups_set_next(sim);
}
