#include "nbody6/state/groups.h"

#include "nbody6/state/members.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"

#include <math.h>

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
    for (int32_t k = pert->n - 1; k >= 0 && nb6_is_centre(sim, pert->body[k]); k--) {
        int32_t other = pert->body[k] - (int32_t)sim->n;
        if (other >= slot || !nb6_slots_are_mutual(sim, slot, other)) continue;
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
    const struct nb6_motion motion = nb6_pairs_motion(p);
    for (int64_t slot = 0; slot < p->n_slot; slot++) {
        p->leader[slot] = (int32_t)slot;
        p->follower[slot] = -1;
        p->next[slot] = INFINITY; /* of a chain: whenever somebody needs it */
        if (nb6_slot_is_used(p, slot) && p->pert[slot].n > 0) link_pair(sim, (int32_t)slot);
    }
    for (int64_t slot = p->n_slot - 1; slot >= 0; slot--) {
        if (!nb6_slot_is_used(p, slot) || !nb6_pairs_is_perturbed(p, slot)) continue;
        int32_t first = leader_of(p, (int32_t)slot);
        p->leader[slot] = first;
        p->next[first] = fmin(p->next[first], nb6_slot_step_end(p, &motion, slot));
        if (first == slot) continue;
        p->follower[slot] = p->follower[first];
        p->follower[first] = (int32_t)slot;
    }
}
