#include "nbody6/engine/host_service_follow.h"

#include "common/nbc.h"
#include "nbody6/fewbody/pairs/step.h"
#include "nbody6/fewbody/pairs/tides.h"
#include "nbody6/state/members.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/state/transaction.h"
#include "nbody6/step/step.h"

#include <string.h>

int nb6_follow_status(const struct nb6_follow *f, struct nbc_error *err)
{
    if (f->status) *err = f->error;
    return f->status;
}

void nb6_follow_reached(const struct nb6_sim *sim, struct nb6_follow *f, nb6_time t)
{
    if (t <= f->t_reached) return;
    f->t_reached = t;
    f->lags = sim->subsystems.n_listed > 0;
    f->last = -1;
}

/* Commit the open transaction and keep what it saved, or roll it back. */
static int end(struct nb6_sim *sim, struct nb6_keep *keep, int status, struct nbc_error *err)
{
    if (!status) status = nb6_keep_saved(keep, sim, err);
    if (status)
        nb6_transaction_rollback(sim);
    else
        nb6_transaction_commit(sim);
    return status;
}

int nb6_follow_one(struct nb6_sim *sim, struct nb6_follow *f, struct nb6_keep *keep)
{
    if (!f->lags) return 0;
    int status = nb6_keep_begin(keep, sim, &f->error);
    if (!status) status = nb6_transaction_begin(sim, &f->error);
    if (!status) {
        status = nb6_step_pairs_follow_next(sim, f->t_reached, &f->last, &f->error);
        status = end(sim, keep, status, &f->error);
    }
    f->status = status;
    f->lags = f->last >= 0 && !status;
    return f->lags;
}

/* ---- notes of steps */

static int set_told(struct nb6_follow *f, const struct nb6_dev *home, int64_t n, const struct nb6_dev_note *note,
                    struct nbc_error *err)
{
    if (!nbc_grow(&f->told, &f->told_room, n, sizeof *f->told))
        return nbc_fail(err, NBC_NO_MEMORY, "no memory for steps of other bodies");
    for (int64_t k = 0; k < n; k++) f->told[k] = home->body_of[note[k].place];
    return NBC_OK;
}

/* The tide of all but the perturbers on a remote pair. Bodies beyond a new list contribute nothing, or the engine
 * would have asked. */
static int take_tide(struct nb6_sim *sim, int32_t i, const struct nb6_dev_note *note, struct nbc_error *err)
{
    const nb6_slot slot = nb6_slot_of(sim, i);
    struct nb6_subsystem *pair = &sim->subsystems.system[slot];
    int status = nb6_save_slot(sim, slot, err);
    if (status) return status;
    if (note->has_new_list) pair->far = (struct nb6_tide){.t = note->t};
    pair->tide.t = note->t;
    memcpy(pair->tide.field, note->field, sizeof pair->tide.field);
    memcpy(pair->tide.field_dot, note->field_dot, sizeof pair->tide.field_dot);
    nb6_tide_join(&pair->far, &pair->tide);
    return NBC_OK;
}

static int move_up_to(struct nb6_sim *sim, const struct nb6_follow *f, struct nb6_keep *keep, int64_t n,
                      const struct nb6_dev_note *note, struct nbc_error *err)
{
    int status = nb6_transaction_begin(sim, err);
    if (status) return status;
    status = nb6_step_pairs_follow(sim, note->t, n, f->told, err);
    for (int64_t k = 0; k < n && !status; k++)
        if (note[k].has_tide) status = take_tide(sim, f->told[k], &note[k], err);
    return end(sim, keep, status, err);
}

static int take_body(struct nb6_sim *sim, struct nb6_keep *keep, struct nb6_dev *home, int32_t i,
                     const struct nb6_dev_note *note, struct nbc_error *err)
{
    const int status = nb6_keep_body(keep, sim, i, 0, err);
    if (status) return status;
    sim->body[i] = note->body;
    sim->star[i].level_irr = (int8_t)note->level;
    if (home->shown[note->place] == NB6_DEV_HIDDEN) home->shown[note->place] = NB6_DEV_ALONE;
    return NBC_OK;
}

int nb6_follow_notes(struct nb6_sim *sim, struct nb6_follow *f, struct nb6_keep *keep, struct nb6_dev *home, int64_t n,
                     const struct nb6_dev_note *note, struct nbc_error *err)
{
    int status = set_told(f, home, n, note, err);
    if (!status) status = move_up_to(sim, f, keep, n, note, err);
    for (int64_t k = 0; k < n && !status; k++) status = take_body(sim, keep, home, f->told[k], &note[k], err);
    return status;
}

/* ---- the end */

void nb6_follow_end(const struct nb6_sim *sim, struct nb6_follow *f)
{
    f->lags = f->status = 0;
    f->t_reached = sim->ti_now;
}

void nb6_follow_free(struct nb6_follow *f)
{
    nbc_free(f->told);
}
