#include "nbody6/step/block.h"

#include "common/nbc.h"
#include "common/team.h"
#include "nbody6/state/body.h"
#include "nbody6/state/members.h"
#include "nbody6/state/schedule.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/step/irregular.h"
#include "nbody6/step/levels.h"
#include "nbody6/step/predict.h"
#include "nbody6/step/regular_step.h"

nb6_time nb6_block_next(const struct nb6_sim *sim)
{
    return nb6_schedule_next(sim->schedule, sim->ti_now);
}

void nb6_block_select(struct nb6_sim *sim)
{
    struct nb6_active *active = &sim->active;
    active->t = nb6_block_next(sim);
    active->n_irr = nb6_schedule_due(sim->schedule, active->t, active->irr);
}

static int ends_regular_step(const struct nb6_sim *sim, int32_t i)
{
    const nb6_time t = sim->active.t, step = nb6_step_ticks(sim->star[i].level_reg);
    if (t - sim->star[i].t0_reg >= step && t % step == 0) return 1;
    return nb6_is_centre(sim, i) && nb6_is_ending(&sim->subsystems, nb6_slot_of(sim, i));
}

/* The first access to the members' records in a block: the threads that correct them later load them here. */
static void mark_part(void *context, int part, int parts)
{
    struct nb6_sim *sim = context;
    struct nb6_active *active = &sim->active;
    int64_t first, end, pairs_irr = 0;
    nbc_range(active->n_irr, part, parts, &first, &end);
    for (int64_t member = first; member < end; member++) {
        const int32_t i = active->irr[member];
        const int regular = ends_regular_step(sim, i);
        active->is_reg[member] = (int8_t)regular;
        pairs_irr += sim->star[i].nnb;
    }
    __atomic_fetch_add(&active->pairs_irr, pairs_irr, __ATOMIC_RELAXED);
}

void nb6_block_mark_regular_members(struct nb6_sim *sim)
{
    struct nb6_active *active = &sim->active;
    active->n_reg = active->pairs_irr = 0;
    nbc_team_run(nbc_parts(active->n_irr, NB6_BODIES_OF_A_PART), mark_part, sim);
    for (int64_t member = 0; member < active->n_irr; member++)
        if (active->is_reg[member]) active->reg[active->n_reg++] = (int32_t)member;
}

int nb6_block_compute(struct nb6_sim *sim, struct nbc_error *err)
{
    int status = nb6_step_regular_begin(sim, err);
    if (!status) status = nb6_step_predict(sim, err);
    if (!status) status = nb6_step_irregular(sim, err);
    return status ? status : nb6_step_regular(sim, err);
}
