/* The engine that keeps all bodies in memory: its stages are the files of this folder. */
#include "common/nbc.h"
#include "nbody6/state/body.h"
#include "nbody6/state/members.h"
#include "nbody6/state/schedule.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/step/commit.h"
#include "nbody6/step/engine.h"
#include "nbody6/step/irregular.h"
#include "nbody6/step/predict.h"
#include "nbody6/step/regular_step.h"
#include "nbody6/step/start_bodies.h"

static nb6_time next(const struct nb6_sim *sim)
{
    return nb6_schedule_next(sim->schedule, sim->ti_now);
}

static void select_block(struct nb6_sim *sim)
{
    struct nb6_active *active = &sim->active;
    active->t = next(sim);
    active->n_irr = nb6_schedule_due(sim->schedule, active->t, active->irr);
}

static void seal(struct nb6_sim *sim)
{
    struct nb6_active *active = &sim->active;
    active->n_reg = 0;
    for (int64_t slot = 0; slot < active->n_irr; slot++) {
        const struct nb6_star *star = &sim->star[active->irr[slot]];
        nb6_time step = nb6_step_ticks(star->level_reg);
        int regular =
            (active->t - star->t0_reg >= step && active->t % step == 0) ||
            (nb6_is_centre(sim, active->irr[slot]) && nb6_is_ending(&sim->pairs, nb6_slot_of(sim, active->irr[slot])));
        active->corrected[slot].regular = (int8_t)regular;
        if (regular) active->reg[active->n_reg++] = (int32_t)slot;
    }
}

static int compute(struct nb6_sim *sim, struct nbc_error *err)
{
    int status = nb6_step_predict(sim, err);
    if (!status) status = nb6_step_irregular(sim, err);
    return status ? status : nb6_step_regular(sim, err);
}

static const struct nb6_engine host = {
    .name = "host",
    .next = next,
    .select = select_block,
    .seal = seal,
    .compute = compute,
    .commit = nb6_step_commit,
    .start = nb6_start_bodies,
};

const struct nb6_engine *nb6_engine_of(const struct nb6_sim *sim)
{
    (void)sim; /* there is one so far */
    return &host;
}
