#include "nbody6/fewbody/encounter.h"

#include "nbody6/fewbody/criteria.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/level.h"
#include "nbody6/state/sim.h"

struct nb6_encounter_rules nb6_encounter_rules_of(const struct nb6_sim *sim)
{
    return (struct nb6_encounter_rules){
        .enabled = nb6_subsystems_enabled(sim),
        .level = nb6_level_of(NB6_LOOKED_AT * sim->book.dt_min, NB6_TIME_BITS),
        .level_anyway = nb6_level_of(NB6_LOOKED_AT_ANYWAY * sim->book.dt_min, NB6_TIME_BITS),
        .r_min = sim->book.r_min,
        .mean_mass = sim->mean_mass,
    };
}
