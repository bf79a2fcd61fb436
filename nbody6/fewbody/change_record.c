#include "nbody6/fewbody/change_record.h"

#include "common/nbc.h"
#include "nbody6/fewbody/pairs/advance.h"
#include "nbody6/state/ascending.h"
#include "nbody6/state/event.h"
#include "nbody6/state/resolvers.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"

int nb6_change_finish_others(struct nb6_sim *sim, int32_t vanishing, struct nb6_change *c, struct nbc_error *err)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    int is_new, status = NBC_OK;
    for (nb6_slot slot = nb6_resolver_first(p, vanishing); slot >= 0 && !status;
         slot = nb6_resolver_next(p, slot, vanishing)) {
        status = nb6_change_touch(c, slot, &is_new, err);
        if (!status && is_new) status = nb6_pair_finish(sim, slot, sim->ti_now, err);
    }
    return status;
}

void nb6_change_add(struct nb6_change *c, nb6_index fresh)
{
    for (int64_t k = 0; k < c->n_fresh; k++)
        if (c->fresh[k] == fresh) return;
    c->fresh[c->n_fresh++] = fresh;
}

int nb6_change_touch(struct nb6_change *c, nb6_slot slot, int *is_new, struct nbc_error *err)
{
    const int64_t n = c->n_touched;
    if (!nbc_grow(&c->touched, &c->touched_room, n + 1, sizeof *c->touched))
        return nbc_fail(err, NBC_NO_MEMORY, "no memory for the pairs that a change of members touches");
    c->n_touched = nb6_list_insert(c->touched, n, (nb6_stored_slot)slot);
    *is_new = c->n_touched > n;
    return NBC_OK;
}

void nb6_change_let_go(struct nb6_change *c, nb6_slot slot)
{
    const nb6_stored_slot value = (nb6_stored_slot)slot;
    c->n_touched = nb6_list_remove_some(c->touched, c->n_touched, 1, &value);
}

struct nb6_announcement *nb6_change_say(struct nb6_change *c, enum nb6_event_kind kind)
{
    struct nb6_announcement *say = &c->say[c->n_say++];
    *say = (struct nb6_announcement){.event.kind = kind, .after = {NB6_NO_SLOT, NB6_NO_SLOT}};
    return say;
}
