#include "nbody6/step/rules.h"

#include "nbody6/fewbody/criteria.h"
#include "nbody6/input/config.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/sim.h"
#include "nbody6/step/radius.h"

#include <math.h>

/* Whether anybody looks at stars at other times than multiples of the longest step, at which all stand at corrected
 * positions. If not, their derivatives of higher order need not belong to the present lists (NA12 section 2). */
static int is_seen_between_steps(const struct nb6_config *config)
{
    const double longest = nb6_step_length(nb6_level_of(config->integration.dt_max, NB6_TIME_BITS));
    const double time[] = {config->run.dt_adjust, config->run.dt_output, config->run.t_crit};
    for (size_t k = 0; k < sizeof time / sizeof *time; k++)
        if (fmod(time[k], longest) != 0) return 1;
    return 0;
}

struct nb6_step_rules nb6_step_rules_of(const struct nb6_sim *sim)
{
    const struct nb6_integration_config *config = &sim->config.integration;
    const double share = sim->book.eta_share, eta_irr = config->eta_irr * share, eta_reg = config->eta_reg * share;
    return (struct nb6_step_rules){.eta_irr = eta_irr,
                                   .eta_reg = eta_reg,
                                   .limit_irr = nb6_velocity_limit_irregular(sim->n, eta_irr),
                                   .limit_reg = nb6_velocity_limit_regular(sim->n, eta_reg),
                                   .dt_close = nb6_pairs_enabled(sim) ? 2 * sim->book.dt_min : 0,
                                   .n_source = sim->pairs.n_source,
                                   .level_max = nb6_level_of(config->dt_max, NB6_TIME_BITS),
                                   .all_are_neighbours = nb6_all_are_neighbours(sim),
                                   .seen_between_steps = is_seen_between_steps(&sim->config)};
}
