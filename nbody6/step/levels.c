#include "nbody6/step/levels.h"

#include "nbody6/state/sim.h"
#include "nbody6/step/radius.h"
#include "nbody6/step/rules.h"

int8_t nb6_step_regular_level(const struct nb6_sim *sim, int level_reg, int level_irr)
{
    const int any = sim->run.config.integration.dt_fixed_reg > 0 || nb6_all_are_neighbours(sim);
    return nb6_regular_level_beside(level_reg, level_irr, any);
}
