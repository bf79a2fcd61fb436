#include "nbody6/state/resolvers.h"

#include "common/nbc.h"
#include "nbody6/state/ascending.h"

#include <string.h>

int nb6_perturbers_reserve(struct nb6_perturbers *pert, int64_t n)
{
    if (pert->body && n <= pert->capacity) return 1;
    nb6_index *grown = nbc_alloc(2 * (size_t)n, sizeof *grown);
    if (!grown) return 0;
    if (pert->n > 0) memcpy(grown, pert->body, (size_t)pert->n * sizeof *grown);
    if (pert->n > 0) memcpy(grown + n, pert->next_resolver, (size_t)pert->n * sizeof *grown);
    nbc_free(pert->body);
    pert->body = grown;
    pert->next_resolver = grown + n;
    pert->capacity = (int32_t)n;
    return 1;
}

/* Where the list of a slot has the next system that resolves a body of the list. */
static nb6_stored_slot *next_of(const struct nb6_subsystems *p, nb6_slot slot, nb6_index body)
{
    const struct nb6_perturbers *pert = &p->pert[slot];
    return &pert->next_resolver[nb6_list_find(pert->body, (size_t)pert->n, body)];
}

nb6_slot nb6_resolver_next(const struct nb6_subsystems *p, nb6_slot slot, int64_t body)
{
    return *next_of(p, slot, (nb6_index)body);
}

/* Where the first system at or behind this slot is written that resolves a body, or that there is none. */
static nb6_stored_slot *link_to(const struct nb6_subsystems *p, nb6_index body, nb6_slot slot)
{
    nb6_stored_slot *link = &p->resolved_by[body];
    while (*link >= 0 && *link < slot) link = next_of(p, *link, body);
    return link;
}

void nb6_resolver_remove(struct nb6_subsystems *p, nb6_slot slot)
{
    const struct nb6_perturbers *pert = &p->pert[slot];
    for (int32_t k = 0; k < pert->n; k++) *link_to(p, pert->body[k], slot) = pert->next_resolver[k];
}

void nb6_resolver_add(struct nb6_subsystems *p, nb6_slot slot)
{
    const struct nb6_perturbers *pert = &p->pert[slot];
    for (int32_t k = 0; k < pert->n; k++) {
        nb6_stored_slot *link = link_to(p, pert->body[k], slot);
        pert->next_resolver[k] = *link;
        *link = (nb6_stored_slot)slot;
    }
    if (pert->n > p->longest) p->longest = pert->n;
}

/* From the last slot on, so that each comes before those that are there. */
void nb6_resolvers_find(struct nb6_subsystems *p, int64_t bodies)
{
    for (int64_t i = 0; i < bodies; i++) p->resolved_by[i] = NB6_NO_SLOT;
    for (nb6_slot slot = p->n_slot - 1; slot >= 0; slot--) nb6_resolver_add(p, slot);
}

/* ---- notes */

static void note(struct nb6_subsystems *p, nb6_slot slot)
{
    if (p->is_noted[slot]) return;
    p->is_noted[slot] = 1;
    p->noted[p->n_noted++] = (nb6_stored_slot)slot;
}

/* The group as it was linked last: once all of it are noted, a slot may be opened for another system. */
void nb6_note_slot(struct nb6_subsystems *p, nb6_slot slot)
{
    if (p->is_noted[slot]) return;
    for (nb6_slot member = p->leader[slot]; member >= 0; member = p->follower[member]) note(p, member);
}

/* Where nothing acts there are no steps. */
void nb6_note_motion(struct nb6_subsystems *p, nb6_slot slot)
{
    if (p->is_listed[slot]) nb6_note_slot(p, slot);
}

void nb6_note_all_slots(struct nb6_subsystems *p)
{
    p->n_noted = p->n_listed = p->free_from = 0;
    for (nb6_slot slot = 0; slot < p->capacity; slot++) p->is_noted[slot] = p->is_listed[slot] = 0;
    for (nb6_slot slot = 0; slot < p->n_slot; slot++) note(p, slot);
}
