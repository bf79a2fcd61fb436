#include "nbody6/step/levels.h"

#include "nbody6/state/sim.h"
#include "nbody6/step/radius.h"

/* 2^5 to 2^8 all hold the error of close encounters; this one costs a percent of all regular steps. */
enum { LEVELS_APART = 6 };

int8_t nb6_step_regular_level(const struct nb6_sim *sim, int level_reg, int level_irr)
{
    int kept = level_reg <= level_irr + LEVELS_APART || sim->config.integration.dt_fixed_reg > 0 ||
               nb6_all_are_neighbours(sim);
    return (int8_t)(kept ? level_reg : level_irr);
}
