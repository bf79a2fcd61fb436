#include "nbody6/state/touched_slots.h"

#include "common/nbc.h"

void nb6_touched_slots_any(struct nb6_touched_slots *touched)
{
    for (int64_t k = 0; k < touched->n; k++) touched->mark[touched->slot[k]] = 0;
    touched->n = 0;
    touched->known = 0;
}

void nb6_touched_slots_begin(struct nb6_touched_slots *touched, const struct nb6_slot_criteria *criteria)
{
    nb6_touched_slots_any(touched);
    touched->criteria = *criteria;
    touched->known = 1;
}

void nb6_touch_slot(struct nb6_touched_slots *touched, nb6_slot slot)
{
    if (!touched->known || (slot < touched->marks && touched->mark[slot])) return;
    if (!nbc_grow(&touched->mark, &touched->marks, slot + 1, sizeof *touched->mark) ||
        !nbc_grow(&touched->slot, &touched->room, touched->n + 1, sizeof *touched->slot)) {
        nb6_touched_slots_any(touched);
        return;
    }
    touched->mark[slot] = 1;
    touched->slot[touched->n++] = (nb6_stored_slot)slot;
}

void nb6_touched_slots_free(struct nb6_touched_slots *touched)
{
    nbc_free(touched->slot);
    nbc_free(touched->mark);
    *touched = (struct nb6_touched_slots){.known = 0};
}
