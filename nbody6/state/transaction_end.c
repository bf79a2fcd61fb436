/* How a transaction ends. */
#include "gpuirr/gpuirr.h"
#include "nbody6/state/bodies.h"
#include "nbody6/state/event.h"
#include "nbody6/state/groups.h"
#include "nbody6/state/members.h"
#include "nbody6/state/resolvers.h"
#include "nbody6/state/schedule.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/touched.h"
#include "nbody6/state/transaction.h"

#include <string.h>

void nb6_transaction_commit(struct nb6_sim *sim)
{
    gpuirr_publish(sim->irr);
    nb6_transaction_close(&sim->transaction);
}

/* The transaction is over when the observer hears of an event, which may be a reason to write a checkpoint or to ask
 * for the stars: those of the block that has brought the event. */
int nb6_transaction_notify(struct nb6_sim *sim, struct nbc_error *err)
{
    struct nb6_transaction *t = &sim->transaction;
    const int64_t n_event = t->n_event;
    int status = NBC_OK;
    if (sim->ti_reached < sim->ti_now) sim->ti_reached = sim->ti_now;
    t->n_event = sim->engine_image.told_later = 0;
    for (int64_t k = 0; k < n_event && !status; k++) {
        const struct nb6_event event = t->event[k];
        status = nb6_event_raise(sim, &event, err);
    }
    return status;
}

void nb6_transaction_forget_events(struct nb6_sim *sim)
{
    sim->transaction.n_event = sim->engine_image.told_later = 0;
}

int nb6_transaction_commit_and_notify(struct nb6_sim *sim, struct nbc_error *err)
{
    nb6_transaction_commit(sim);
    return nb6_transaction_notify(sim, err);
}

void nb6_slot_restore(struct nb6_subsystems *p, const struct nb6_saved_slot *from)
{
    p->system[from->slot] = from->system;
    p->ks[from->slot] = from->ks;
    p->pert[from->slot].n = from->n_perturber;
    if (from->n_perturber > 0)
        memcpy(p->pert[from->slot].body, from->perturber, (size_t)from->n_perturber * sizeof *from->perturber);
    if (from->has_chain) p->chain[from->system.chain - 1] = *from->chain;
}

/* Saved slots resolve nobody, and groups with one of them are noted. A slot beyond all that are in use, now or then,
 * was saved before it could be opened. */
static void forget_relations(struct nb6_sim *sim)
{
    const struct nb6_transaction *t = &sim->transaction;
    struct nb6_subsystems *p = &sim->subsystems;
    for (int64_t k = 0; k < t->n_saved; k++) {
        const nb6_slot slot = t->slot[k].slot;
        if (slot < p->n_slot || slot < t->n_slot) nb6_note_slot(p, slot);
        nb6_resolver_remove(p, slot);
    }
}

/* Chains are in none of the saved slots. */
static void free_chains(struct nb6_sim *sim)
{
    const struct nb6_transaction *t = &sim->transaction;
    struct nb6_subsystems *p = &sim->subsystems;
    for (int64_t k = 0; k < t->n_saved; k++) {
        struct nb6_chain *chain = t->slot[k].slot < p->n_slot ? nb6_chain_of(p, t->slot[k].slot) : NULL;
        if (chain) chain->slot = NB6_NO_SLOT;
    }
}

static void restore_slots(struct nb6_sim *sim)
{
    const struct nb6_transaction *t = &sim->transaction;
    struct nb6_subsystems *p = &sim->subsystems;
    free_chains(sim);
    p->n_slot = t->n_slot;
    p->count = t->count;
    p->n_chain = t->n_chain;
    if (p->free_from > p->n_slot) p->free_from = p->n_slot;
    for (int64_t k = 0; k < t->n_saved; k++) {
        const nb6_slot slot = t->slot[k].slot;
        nb6_slot_restore(p, &t->slot[k]);
        if (slot >= p->n_slot) continue;
        if (!nb6_slot_is_used(p, slot) && slot < p->free_from) p->free_from = slot;
        if (nb6_chain_of(p, slot)) nb6_chain_of(p, slot)->slot = (nb6_stored_slot)slot;
    }
}

static void restore_relations(struct nb6_sim *sim)
{
    const struct nb6_transaction *t = &sim->transaction;
    for (int64_t k = 0; k < t->n_saved; k++) {
        const nb6_index centre = nb6_centre(sim, t->slot[k].slot);
        nb6_resolver_add(&sim->subsystems, t->slot[k].slot);
        nb6_subsystems_change_sources(sim, 1, &centre);
    }
    for (int64_t k = 0; k < t->n_body; k++) nb6_subsystems_change_sources(sim, 1, &t->body[k].i);
    nb6_groups_link(sim);
    nb6_groups_set_next(sim);
}

/* Bodies may have had other numbers, also in lists. */
static void find_relations(struct nb6_sim *sim)
{
    nb6_subsystems_set_sources(sim);
    nb6_resolvers_find(&sim->subsystems, nb6_bodies(sim));
    nb6_groups_find(sim);
}

/* Both libraries take every predictor that they had before. */
static void restore_bodies(struct nb6_sim *sim)
{
    const struct nb6_transaction *t = &sim->transaction;
    for (int64_t k = 0; k < t->n_body; k++) {
        const struct nb6_saved_body *from = &t->body[k];
        sim->body[from->i] = from->body;
        sim->star[from->i] = from->star;
        if (from->level < 0)
            nb6_schedule_remove(sim->schedule, from->i);
        else
            nb6_schedule_set(sim->schedule, from->i, from->level);
    }
    for (int64_t k = 0; k < t->n_body; k++) {
        const nb6_index i = t->body[k].i;
        if (i < nb6_bodies(sim) && nb6_takes_part(sim, i))
            (void)nb6_send_body(sim, i, NULL);
        else
            (void)nb6_withdraw_body(sim, i, NULL);
    }
}

/* In the order backwards, so that the first copy of a star is the one that stays. */
static void restore_aged(struct nb6_sim *sim)
{
    const struct nb6_transaction *t = &sim->transaction;
    for (int64_t k = t->n_aged - 1; k >= 0; k--) sim->ageing->aged[t->aged[k].i] = t->aged[k].aged;
}

void nb6_transaction_rollback(struct nb6_sim *sim)
{
    struct nb6_transaction *t = &sim->transaction;
    if (!t->open) return;
    const int moved = sim->ti_origin != t->ti_origin;
    gpuirr_discard(sim->irr);
    if (!t->are_all_saved) forget_relations(sim);
    nb6_touched_roll_back(&sim->engine_image.touched, t->n_pulls, t->n_renumbered);
    t->n_event = t->n_untold;
    sim->n = t->n;
    sim->run.counters = t->counters;
    sim->run.book = t->run_book;
    sim->book = t->book;
    sim->ti_origin = t->ti_origin;
    sim->nb_cap = t->nb_cap;
    restore_slots(sim);
    restore_bodies(sim);
    restore_aged(sim);
    if (t->are_all_saved)
        find_relations(sim);
    else
        restore_relations(sim);
    for (int64_t m = 0; m < sim->subsystems.n_source && moved; m++)
        (void)nb6_send_body(sim, sim->subsystems.source[m], NULL);
    nb6_transaction_close(t);
}
