#include "nbody6/fewbody/change.h"

#include "common/nbc.h"
#include "nbody6/fewbody/chains/change.h"
#include "nbody6/fewbody/change_record.h"
#include "nbody6/fewbody/decisions.h"
#include "nbody6/fewbody/kind.h"
#include "nbody6/fewbody/pairs/advance.h"
#include "nbody6/fewbody/pairs/change.h"
#include "nbody6/fewbody/pairs/events.h"
#include "nbody6/state/ascending.h"
#include "nbody6/state/event.h"
#include "nbody6/state/groups.h"
#include "nbody6/state/members.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"

/* A body that came with one change may have gone with the next. */
static void drop_gone(const struct nb6_sim *sim, struct nb6_change *c)
{
    int64_t n = 0;
    for (int64_t k = 0; k < c->n_fresh; k++)
        if (c->fresh[k] < nb6_bodies(sim) && nb6_takes_part(sim, c->fresh[k])) c->fresh[n++] = c->fresh[k];
    c->n_fresh = n;
}

static int tell(struct nb6_sim *sim, struct nb6_announcement *say, struct nbc_error *err)
{
    double energy = say->before;
    int status = NBC_OK;
    for (int k = 0; k < 2 && !status; k++) {
        double after = 0;
        if (say->after[k] >= 0) status = nb6_add_apart(sim, say->after[k], sim->ti_now, 0, NULL, &after, err);
        energy -= after;
    }
    if (status) return status;
    if (say->described) nb6_slot_describe(sim, say->after[0], say->event.pair.reason, &say->event);
    return nb6_change_tell(sim, &say->event, energy, err);
}

static int apply_chain(struct nb6_sim *sim, const struct nb6_chain_change *change, struct nb6_change *c,
                       struct nbc_error *err)
{
    if (change->kind == NB6_CHAIN_GATHER) return nb6_chain_gather(sim, change, c, err);
    return change->kind == NB6_CHAIN_JOIN ? nb6_chain_join(sim, change, c, err)
                                          : nb6_chain_split(sim, nb6_slot_of(sim, change->i), &change->group, c, err);
}

static int make_room(struct nb6_sim *sim, const struct nb6_decisions *d, struct nb6_change *c, struct nbc_error *err)
{
    const size_t most = (size_t)(d->n_form + d->n_end + d->n_chain);
    size_t perturbers = 0; /* of pairs that merge, where pairs among them may end just before */
    for (int64_t k = 0; k < d->n_end; k++) perturbers += (size_t)(sim->subsystems.pert[d->end[k]].n + d->n_end);
    int status =
        nb6_sim_reserve(sim, sim->subsystems.n_slot + d->n_form + d->n_chain, err); /* one slot each, at most */
    if (status) return status;
    c->fresh = nbc_alloc(2 * most + perturbers, sizeof *c->fresh);
    c->formed = nbc_alloc(2 * most, sizeof *c->formed);
    c->say = nbc_alloc(3 * most, sizeof *c->say);
    if (c->fresh && c->formed && c->say) return NBC_OK;
    return nbc_fail(err, NBC_NO_MEMORY, "no memory for a new pair");
}

int nb6_change_apply(struct nb6_sim *sim, const struct nb6_decisions *d, struct nb6_change *c, struct nbc_error *err)
{
    *c = (struct nb6_change){0};
    int status = make_room(sim, d, c, err);
    if (status) return status;
    nb6_motions_forget(sim);
    for (int64_t k = 0; k < d->n_end && !status; k++) {
        int merged = nb6_end_reason(&sim->subsystems, d->end[k]) == NB6_PAIR_MERGED;
        status = merged ? nb6_pair_merge(sim, d->end[k], c, err) : nb6_pair_end(sim, d->end[k], c, err);
    }
    for (int64_t k = 0; k < d->n_chain && !status; k++) status = apply_chain(sim, &d->chain[k], c, err);
    for (int64_t k = 0; k < d->n_form && !status; k++) status = nb6_pair_form(sim, d->form[k], c, err);
    drop_gone(sim, c);
    nb6_list_sort(c->fresh, c->n_fresh);
    return status;
}

int nb6_change_finish(struct nb6_sim *sim, struct nb6_change *c, struct nbc_error *err)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    int status = NBC_OK;
    for (int64_t k = 0; k < c->n_formed && !status; k++) status = nb6_pair_start(sim, c->formed[k], err);
    for (int64_t k = 0; k < c->n_touched && !status; k++)
        if (c->touched[k] < p->n_slot && nb6_slot_is_used(p, c->touched[k]))
            status = nb6_pair_start(sim, c->touched[k], err);
    nb6_groups_link(sim);
    nb6_groups_set_next(sim);
    for (int64_t k = 0; k < c->n_say && !status; k++) status = tell(sim, &c->say[k], err);
    return status;
}

void nb6_change_free(struct nb6_change *c)
{
    nbc_free(c->touched);
    nbc_free(c->fresh);
    nbc_free(c->formed);
    nbc_free(c->say);
}
