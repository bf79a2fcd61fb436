#include "nbody6/step/decide.h"

#include "common/nbc.h"
#include "nbody6/fewbody/change.h"
#include "nbody6/fewbody/change_record.h"
#include "nbody6/fewbody/decisions.h"
#include "nbody6/fewbody/kind.h"
#include "nbody6/fewbody/pairs/perturbers.h"
#include "nbody6/fewbody/pairs/search.h"
#include "nbody6/state/ascending.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/members.h"
#include "nbody6/state/profile.h"
#include "nbody6/state/schedule.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/state/transaction.h"
#include "nbody6/step/start_bodies.h"

/* Systems that end or change with this block. */
static int find_ending(struct nb6_sim *sim, struct nb6_decisions *d, struct nbc_error *err)
{
    const struct nb6_active *active = &sim->active;
    int status = NBC_OK;
    int64_t first = active->n_irr;
    while (first > 0 && nb6_is_centre(sim, active->irr[first - 1])) first--;
    for (int64_t at = first; at < active->n_irr && !status; at++) {
        nb6_slot slot = nb6_slot_of(sim, active->irr[at]);
        if (!nb6_is_ending(&sim->subsystems, slot)) continue;
        status = nb6_save_slot(sim, slot, err);
        if (!status) status = nb6_kind_of(&sim->subsystems, slot)->decide(sim, slot, d, err);
    }
    return status;
}

/* Systems that form otherwise than of two stars that meet, kind by kind. */
static int search_kinds(struct nb6_sim *sim, struct nb6_decisions *d, struct nbc_error *err)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    int status = NBC_OK;
    for (int64_t k = 0; k < p->n_kind && !status; k++)
        if (p->kinds[k]->search) status = p->kinds[k]->search(sim, d, err);
    return status;
}

/* A table with room for n items; its old content is lost. NULL: no memory. */
static void *scratch(void *old, int64_t *capacity, int64_t n, size_t size)
{
    if (n <= *capacity) return old;
    nbc_free(old);
    void *table = nbc_alloc((size_t)(2 * n), size);
    *capacity = table ? 2 * n : 0;
    return table;
}

/* Each decision has at least one member of the block of its own, of a chain the centre of mass. */
static int begin_decisions(struct nb6_sim *sim, struct nb6_decisions *d, struct nbc_error *err)
{
    struct nb6_subsystems *p = &sim->subsystems;
    const int64_t n_form = sim->active.n_irr, n_change = n_form + p->n_slot;
    p->form = scratch(p->form, &p->form_capacity, n_form, sizeof *p->form);
    p->chain_change = scratch(p->chain_change, &p->change_capacity, n_change, sizeof *p->chain_change);
    *d = (struct nb6_decisions){.end = sim->active.reg, /* free once the block is committed */
                                .form = p->form,
                                .chain = p->chain_change};
    return n_form <= p->form_capacity && n_change <= p->change_capacity
               ? NBC_OK
               : nbc_fail(err, NBC_NO_MEMORY, "no memory to look for new pairs");
}

/* Lists and slots first, then forces and steps of all bodies that are new, then relative motions and events. */
static int change(struct nb6_sim *sim, const struct nb6_decisions *d, struct nbc_error *err)
{
    struct nb6_change c;
    int status = nb6_change_apply(sim, d, &c, err);
    if (!status) status = nb6_start_bodies(sim, c.n_fresh, c.fresh, err);
    if (!status) status = nb6_change_finish(sim, &c, err);
    nb6_change_free(&c);
    return status;
}

/* New perturbers, and systems that form, end and change.   @return as the searches */
static int look_at_members(struct nb6_sim *sim, struct nb6_decisions *d, struct nbc_error *err)
{
    int status = begin_decisions(sim, d, err);
    if (!status && sim->subsystems.count) status = find_ending(sim, d, err);
    if (!status) status = nb6_subsystems_search(sim, d, err);
    if (!status && sim->subsystems.count) status = nb6_subsystems_update(sim, err);
    if (!status && sim->subsystems.count) status = search_kinds(sim, d, err);
    return status;
}

static int are_any(const struct nb6_decisions *d)
{
    return d->n_form + d->n_end + d->n_chain > 0;
}

int nb6_step_look(struct nb6_sim *sim, int *is_complete, struct nbc_error *err)
{
    struct nb6_decisions d;
    const uint64_t edits = sim->edits;
    const int status = look_at_members(sim, &d, err);
    const int has_events = sim->transaction.n_event > sim->engine_image.told_later; /* than those of edits before */
    *is_complete = !status && !are_any(&d) && sim->edits == edits && !has_events;
    return status;
}

static int decide(struct nb6_sim *sim, struct nbc_error *err)
{
    struct nb6_decisions d;
    int status = look_at_members(sim, &d, err);
    if (!status && are_any(&d)) status = change(sim, &d, err);
    sim->book.undecided = 0;
    return status;
}

int nb6_step_decide(struct nb6_sim *sim, struct nbc_error *err)
{
    double start = nbc_wtime();
    int status = nb6_transaction_begin(sim, err);
    if (status) return status;
    status = decide(sim, err);
    if (status)
        nb6_transaction_rollback(sim);
    else
        status = nb6_transaction_commit_and_notify(sim, err);
    nb6_profile_stage(sim, NB6_STAGE_PAIRS, nbc_wtime() - start);
    return status;
}

/* Centres of mass of systems that must end have joined the block before their steps end. */
static void add_ending(const struct nb6_sim *sim, struct nb6_active *active)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    for (nb6_slot slot = 0; slot < p->n_slot; slot++) {
        const nb6_index centre = nb6_centre(sim, slot);
        if (nb6_is_ending(p, slot) && nb6_takes_part(sim, centre) && sim->body[centre].t0 == sim->ti_now)
            active->n_irr = nb6_list_insert(active->irr, active->n_irr, centre);
    }
}

/* Members of a block are the bodies at its time. Steps begin at multiples of their lengths, so that the schedule finds
 * all others: their steps are such as may end now. */
int nb6_step_decide_again(struct nb6_sim *sim, struct nbc_error *err)
{
    struct nb6_active *active = &sim->active;
    const int64_t n = nb6_schedule_due(sim->schedule, sim->ti_now, active->irr);
    active->t = sim->ti_now;
    active->n_irr = 0;
    for (int64_t k = 0; k < n; k++)
        if (sim->body[active->irr[k]].t0 == sim->ti_now) active->irr[active->n_irr++] = active->irr[k];
    add_ending(sim, active);
    return nb6_step_decide(sim, err);
}
