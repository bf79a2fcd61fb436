#include "nbody6/state/groups.h"

#include "nbody6/state/ascending.h"
#include "nbody6/state/members.h"
#include "nbody6/state/resolvers.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"

#include <math.h>

void nb6_groups_add(struct nb6_subsystems *p, nb6_slot slot)
{
    p->leader[slot] = (nb6_stored_slot)slot;
    p->follower[slot] = NB6_NO_SLOT;
    p->next[slot] = INFINITY; /* of a chain: advanced on demand */
}

/* Groups that noted slots are linked with now. */
static void note_links(struct nb6_sim *sim)
{
    struct nb6_subsystems *p = &sim->subsystems;
    for (int64_t n = 0; n < p->n_noted && p->n_noted < p->n_slot; n++) {
        const struct nb6_perturbers *pert = &p->pert[p->noted[n]];
        for (int32_t k = pert->n - 1; k >= 0 && nb6_is_centre(sim, pert->body[k]); k--) {
            const nb6_slot other = nb6_slot_of(sim, pert->body[k]);
            if (!p->is_noted[other] && nb6_slots_are_mutual(sim, p->noted[n], other)) nb6_note_slot(p, other);
        }
    }
}

/* The slots with a mark.   @return their number */
static int64_t collect(int64_t slots, const int8_t *mark, nb6_stored_slot *list)
{
    int64_t n = 0;
    for (nb6_slot slot = 0; slot < slots; slot++)
        if (mark[slot]) list[n++] = (nb6_stored_slot)slot;
    return n;
}

/* Few are sorted, more are taken from the marks. */
static void sort_noted(struct nb6_subsystems *p)
{
    enum { SHARE = 32 };
    if (p->n_noted <= p->capacity / SHARE)
        nb6_list_sort(p->noted, p->n_noted);
    else
        p->n_noted = collect(p->capacity, p->is_noted, p->noted);
}

static int is_to_be_listed(const struct nb6_subsystems *p, nb6_slot slot)
{
    return slot < p->n_slot && nb6_slot_is_used(p, slot) && nb6_subsystems_is_perturbed(p, slot);
}

static void list_one(struct nb6_subsystems *p, nb6_stored_slot slot)
{
    p->n_listed = p->is_listed[slot]
                      ? nb6_list_insert(p->listed, p->n_listed, slot)
                      : nb6_list_remove(p->listed, p->n_listed, nb6_list_find(p->listed, (size_t)p->n_listed, slot));
}

/* Each of those that are noted is alone. Few change the list, each by a shift of what is behind it; more make it anew.
 */
static void renew_list(struct nb6_subsystems *p)
{
    enum { FEW = 8 };
    int64_t n = 0;
    for (int64_t k = 0; k < p->n_noted; k++) n += p->is_listed[p->noted[k]] != is_to_be_listed(p, p->noted[k]);
    for (int64_t k = 0; k < p->n_noted; k++) {
        const nb6_stored_slot slot = p->noted[k];
        const int is = is_to_be_listed(p, slot);
        nb6_groups_add(p, slot);
        if (p->is_listed[slot] == is) continue;
        p->is_listed[slot] = (int8_t)is;
        if (n <= FEW) list_one(p, slot);
    }
    if (n > FEW) p->n_listed = collect(p->capacity, p->is_listed, p->listed);
}

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

void nb6_groups_link(struct nb6_sim *sim)
{
    struct nb6_subsystems *p = &sim->subsystems;
    note_links(sim);
    sort_noted(p);
    renew_list(p);
    for (int64_t k = 0; k < p->n_noted; k++)
        if (p->is_listed[p->noted[k]]) link_pair(sim, p->noted[k]);
    for (int64_t k = p->n_noted - 1; k >= 0; k--) {
        const nb6_stored_slot slot = p->noted[k], first = leader_of(p, slot);
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
    for (int64_t k = 0; k < p->n_noted; k++) {
        const nb6_stored_slot slot = p->noted[k];
        p->is_noted[slot] = 0;
        if (!p->is_listed[slot] || p->leader[slot] != slot) continue;
        p->next[slot] = p->system[slot].begun ? -INFINITY : nb6_group_step_end(p, slot);
    }
    p->n_noted = 0;
}

void nb6_groups_find(struct nb6_sim *sim)
{
    nb6_note_all_slots(&sim->subsystems);
    nb6_groups_link(sim);
    nb6_groups_set_next(sim);
}
