/* The host engine: all bodies are in host memory. */
#include "common/nbc.h"
#include "nbody6/engine/engine.h"
#include "nbody6/state/sim.h"
#include "nbody6/step/block.h"
#include "nbody6/step/step.h"

static int supports(const struct nb6_sim *sim)
{
    (void)sim;
    return 1;
}

static int advance(struct nb6_sim *sim, nb6_time t_stop, int64_t max_blocks, enum nb6_stop_reason *reason,
                   struct nbc_error *err)
{
    for (int64_t done = 0; done < max_blocks; done++) {
        int paused;
        *reason = NB6_STOP_REACHED;
        if (nb6_block_next(sim) > t_stop) return NBC_OK;
        const int status = nb6_step(sim, &paused, err);
        if (sim->ti_reached < sim->ti_now) sim->ti_reached = sim->ti_now;
        *reason = status == NBC_NON_FINITE ? NB6_STOP_NON_FINITE
                  : status == NBC_DEVICE   ? NB6_STOP_DEVICE
                                           : NB6_STOP_PAUSED;
        if (status || paused) return status;
    }
    *reason = NB6_STOP_BLOCKS;
    return NBC_OK;
}

const struct nb6_engine nb6_host_engine = {.name = "host", .supports = supports, .advance = advance};
