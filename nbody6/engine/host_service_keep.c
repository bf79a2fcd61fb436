#include "nbody6/engine/host_service_keep.h"

#include "common/nbc.h"
#include "gpuirr/gpuirr.h"
#include "nbody6/state/groups.h"
#include "nbody6/state/members.h"
#include "nbody6/state/resolvers.h"
#include "nbody6/state/schedule.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"

#include <string.h>

static int no_memory(struct nbc_error *err)
{
    return nbc_fail(err, NBC_NO_MEMORY, "no memory to keep the state of few-body systems");
}

/* The state as it was before the open transaction, also where that has changed it already. */
int nb6_keep_begin(struct nb6_keep *keep, const struct nb6_sim *sim, struct nbc_error *err)
{
    const struct nb6_transaction *t = &sim->transaction;
    if (keep->began) return NBC_OK;
    if (!nbc_grow(&keep->body_at, &keep->bodies, nb6_bodies(sim), sizeof *keep->body_at) ||
        !nbc_grow(&keep->slot_at, &keep->slots, sim->subsystems.n_slot, sizeof *keep->slot_at))
        return no_memory(err);
    keep->counters = t->open ? t->counters : sim->run.counters;
    keep->run_book = t->open ? t->run_book : sim->run.book;
    keep->book = t->open ? t->book : sim->book;
    keep->ti_now = sim->ti_now;
    keep->began = 1;
    return NBC_OK;
}

static int keep_list(struct nb6_kept_body *kept, const struct nb6_sim *sim, int32_t i)
{
    size_t nnb = 0;
    const int32_t *list = gpuirr_get_list(sim->irr, (size_t)i, &nnb);
    if (kept->list) return 1;
    kept->list = nbc_alloc_unset(nnb + 1, sizeof *kept->list);
    if (!kept->list) return 0;
    kept->nnb = (int32_t)nnb;
    if (nnb > 0) memcpy(kept->list, list, nnb * sizeof *list);
    return 1;
}

static int add_body(struct nb6_keep *keep, const struct nb6_saved_body *was, struct nbc_error *err)
{
    if (!nbc_grow(&keep->body, &keep->body_room, keep->n_body + 1, sizeof *keep->body)) return no_memory(err);
    keep->body[keep->n_body++] = (struct nb6_kept_body){.was = *was};
    keep->body_at[was->i] = (int32_t)keep->n_body;
    return NBC_OK;
}

int nb6_keep_body(struct nb6_keep *keep, const struct nb6_sim *sim, int32_t i, int with_list, struct nbc_error *err)
{
    if (!keep->body_at[i]) {
        const struct nb6_saved_body was = {
            .i = i, .level = nb6_schedule_level(sim->schedule, i), .body = sim->body[i], .star = sim->star[i]};
        const int status = add_body(keep, &was, err);
        if (status) return status;
    }
    return !with_list || keep_list(&keep->body[keep->body_at[i] - 1], sim, i) ? NBC_OK : no_memory(err);
}

/* A copy with memory of its own. */
static int copy_slot(const struct nb6_saved_slot *from, struct nb6_saved_slot *to)
{
    *to = *from;
    to->capacity = from->n_perturber;
    to->perturber = nbc_alloc_unset((size_t)from->n_perturber + 1, sizeof *to->perturber);
    to->chain = from->has_chain ? nbc_alloc_unset(1, sizeof *to->chain) : NULL;
    if (!to->perturber || (from->has_chain && !to->chain)) {
        nbc_free(to->perturber);
        nbc_free(to->chain);
        return 0;
    }
    if (from->n_perturber > 0)
        memcpy(to->perturber, from->perturber, (size_t)from->n_perturber * sizeof *to->perturber);
    if (from->has_chain) *to->chain = *from->chain;
    return 1;
}

static int keep_slot(struct nb6_keep *keep, const struct nb6_saved_slot *was, struct nbc_error *err)
{
    if (keep->slot_at[was->slot]) return NBC_OK;
    if (!nbc_grow(&keep->slot, &keep->slot_room, keep->n_slot + 1, sizeof *keep->slot) ||
        !copy_slot(was, &keep->slot[keep->n_slot]))
        return no_memory(err);
    keep->slot_at[was->slot] = (int32_t)++keep->n_slot;
    return NBC_OK;
}

/* Bodies of stars that have become one within a chain. */
int nb6_keep_saved(struct nb6_keep *keep, const struct nb6_sim *sim, struct nbc_error *err)
{
    const struct nb6_transaction *t = &sim->transaction;
    int status = NBC_OK;
    for (int64_t k = 0; k < t->n_saved && !status; k++) status = keep_slot(keep, &t->slot[k], err);
    for (int64_t k = 0; k < t->n_body && !status; k++)
        if (!keep->body_at[t->body[k].i]) status = add_body(keep, &t->body[k], err);
    return status;
}

/* A star may come several times: the first record counts, as in a transaction. */
int nb6_keep_aged(struct nb6_keep *keep, const struct nb6_sim *sim, struct nbc_error *err)
{
    const struct nb6_transaction *t = &sim->transaction;
    if (!t->open || t->n_aged == 0) return NBC_OK;
    if (!nbc_grow(&keep->aged, &keep->aged_room, keep->n_aged + t->n_aged, sizeof *keep->aged)) return no_memory(err);
    memcpy(keep->aged + keep->n_aged, t->aged, (size_t)t->n_aged * sizeof *t->aged);
    keep->n_aged += t->n_aged;
    return NBC_OK;
}

void nb6_keep_drop(struct nb6_keep *keep)
{
    for (int64_t k = 0; k < keep->n_body; k++) {
        keep->body_at[keep->body[k].was.i] = 0;
        nbc_free(keep->body[k].list);
    }
    for (int64_t k = 0; k < keep->n_slot; k++) {
        keep->slot_at[keep->slot[k].slot] = 0;
        nbc_free(keep->slot[k].perturber);
        nbc_free(keep->slot[k].chain);
    }
    keep->n_body = keep->n_slot = keep->n_aged = 0;
    keep->began = 0;
}

/* Lists had this length before, so that the library has the memory. */
static void restore_body(const struct nb6_kept_body *kept, struct nb6_sim *sim)
{
    const int32_t i = kept->was.i;
    sim->body[i] = kept->was.body;
    sim->star[i] = kept->was.star;
    if (kept->was.level < 0)
        nb6_schedule_remove(sim->schedule, i);
    else
        nb6_schedule_set(sim->schedule, i, kept->was.level);
    if (kept->list) (void)gpuirr_set_list(sim->irr, (size_t)i, (size_t)kept->nnb, kept->list);
}

void nb6_keep_restore(struct nb6_keep *keep, struct nb6_sim *sim)
{
    if (!keep->began) return;
    for (int64_t k = 0; k < keep->n_body; k++) restore_body(&keep->body[k], sim);
    for (int64_t k = 0; k < keep->n_slot; k++) nb6_slot_restore(&sim->subsystems, &keep->slot[k]);
    for (int64_t k = keep->n_aged - 1; k >= 0; k--) sim->ageing->aged[keep->aged[k].i] = keep->aged[k].aged;
    sim->run.counters = keep->counters;
    sim->run.book = keep->run_book;
    sim->book = keep->book;
    sim->ti_now = keep->ti_now;
    nb6_resolvers_find(&sim->subsystems, nb6_bodies(sim));
    nb6_groups_find(sim);
    nb6_keep_drop(keep);
}

void nb6_keep_free(struct nb6_keep *keep)
{
    nb6_keep_drop(keep);
    nbc_free(keep->body_at);
    nbc_free(keep->slot_at);
    nbc_free(keep->body);
    nbc_free(keep->slot);
    nbc_free(keep->aged);
    *keep = (struct nb6_keep){0};
}
