#include "nbody6/step/step.h"

#include "common/nbc.h"
#include "nbody6/fewbody/pairs/step.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/state/bodies.h"
#include "nbody6/state/body.h"
#include "nbody6/state/groups.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/profile.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/transaction.h"
#include "nbody6/step/block.h"
#include "nbody6/step/commit.h"
#include "nbody6/step/decide.h"
#include "regularization/chain.h"
#include "regularization/ks.h"

static int stages(struct nb6_sim *sim, int *paused, struct nbc_error *err)
{
    int status;
    if ((status = nb6_step_pairs(sim, paused, err)) || *paused) return status;
    nb6_block_mark_regular_members(sim);
    status = nb6_block_compute(sim, err);
    return status ? status : nb6_step_commit(sim, err);
}

/* Stages "advance subsystems" to "commit". A paused block keeps the motions that have advanced so far. */
static int block(struct nb6_sim *sim, int *paused, struct nbc_error *err)
{
    int status = nb6_transaction_begin(sim, err);
    if (status) return status;
    status = stages(sim, paused, err);
    if (!status) return nb6_transaction_commit_and_notify(sim, err);
    nb6_transaction_rollback(sim);
    return status;
}

static int step(struct nb6_sim *sim, int *paused, struct nbc_error *err)
{
    *paused = 0;
    int status = sim->book.undecided ? nb6_step_decide_again(sim, err) : NBC_OK; /* the last call failed in stage
                                                                                  * "decide" */
    if (status) return status;
    const double start = nbc_wtime();
    nb6_block_select(sim);
    nb6_profile_stage(sim, NB6_STAGE_SCHEDULE, nbc_wtime() - start);
    status = nb6_external_extend_to(&sim->run.external, nb6_time_to_double(sim->active.t), err);
    if (!status) status = nb6_rebase_origin(sim, sim->active.t, err);
    if (!status) status = block(sim, paused, err);
    return status || *paused ? status : nb6_step_decide(sim, err);
}

int nb6_step(struct nb6_sim *sim, int *paused, struct nbc_error *err)
{
    nb6_profile_step_begins(sim);
    int status = step(sim, paused, err);
    nb6_profile_step_ends(sim);
    return status;
}

static int shift_times(struct nb6_sim *sim, nb6_time origin, struct nbc_error *err)
{
    const double shift = nb6_time_to_double(sim->ti_origin - origin);
    int status = NBC_OK;
    for (nb6_slot slot = 0; slot < sim->subsystems.n_slot && !status; slot++) {
        status = nb6_save_slot(sim, slot, err);
        if (!status && ks_shift_time(&sim->subsystems.ks[slot], shift))
            status = nbc_fail(err, NBC_INTERNAL, "a pair has no time at t = %.12g", nb6_time_to_double(sim->ti_now));
    }
    if (status) return status;
    for (int64_t k = 0; k < sim->subsystems.n_chain; k++) chain_shift_time(&sim->subsystems.chain[k].state, shift);
    sim->ti_origin = origin;
    nb6_groups_find(sim);
    for (int64_t m = 0; m < sim->subsystems.n_source && !status; m++)
        status = nb6_send_body(sim, sim->subsystems.source[m], err);
    return status;
}

/* 2^12 units are 52 bits of ticks: times up to there, and their differences, are exact doubles. */
static const nb6_time EPOCH = (nb6_time)1 << (NB6_TIME_BITS + 12);

nb6_time nb6_origin_of(nb6_time t)
{
    return t / EPOCH * EPOCH;
}

nb6_time nb6_origin_end(nb6_time origin)
{
    return origin + EPOCH;
}

int nb6_rebase_origin(struct nb6_sim *sim, nb6_time t, struct nbc_error *err)
{
    const nb6_time origin = nb6_origin_of(t);
    if (origin == sim->ti_origin) return NBC_OK;
    int status = nb6_transaction_begin(sim, err);
    if (status) return status;
    status = shift_times(sim, origin, err);
    if (!status) return nb6_transaction_commit_and_notify(sim, err);
    nb6_transaction_rollback(sim);
    return status;
}
