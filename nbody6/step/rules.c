#include "nbody6/step/rules.h"

#include "gpunb/gpunb.h"
#include "nbody6/fewbody/criteria.h"
#include "nbody6/input/config.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/sim.h"
#include "nbody6/step/radius.h"

#include <math.h>
#include <string.h>

/* Does the run use positions of stars at other times than multiples of the longest step, when all are at corrected
 * positions? If not, their derivatives of higher order need not belong to the present lists (NA12 section 2). */
static int is_seen_between_steps(const struct nb6_config *config)
{
    const double longest = nb6_step_length(nb6_level_of(config->integration.dt_max, NB6_TIME_BITS));
    const double time[] = {config->run.dt_adjust, config->run.dt_output, config->run.t_crit};
    for (size_t k = 0; k < sizeof time / sizeof *time; k++)
        if (fmod(time[k], longest) != 0) return 1;
    return 0;
}

/* An engine with an image sums in float, also if GPUNB sums in double for the host engine. */
static double noise_of_regular_forces(const struct nb6_sim *sim)
{
    const int in_double = sim->engine == NB6_ENGINE_HOST && strcmp(gpunb_info(sim->reg)->name, "ref") == 0;
    return in_double ? NB6_NOISE_DOUBLE : NB6_NOISE_FLOAT;
}

/* The error of a force by tree that half of all targets have, three times (gpunb/tree.h): as the rounding errors to
 * which it is added. */
static const double TREE_NOISE = 3.0 / 30;

double nb6_noise_by_tree(const struct nb6_sim *sim)
{
    return TREE_NOISE * sim->run.config.integration.force_error;
}

struct nb6_step_rules nb6_step_rules_of(const struct nb6_sim *sim)
{
    const struct nb6_integration_config *config = &sim->run.config.integration;
    const double share = sim->book.eta_share, eta_irr = config->eta_irr * share, eta_reg = config->eta_reg * share;
    const double noise_reg = noise_of_regular_forces(sim), noise_reg_far = 3 * noise_reg * sim->run.book.mass_start;
    const double r_half2 = sim->book.r_half * sim->book.r_half;
    return (struct nb6_step_rules){.eta_irr = eta_irr,
                                   .eta_reg = eta_reg,
                                   .limit_irr = nb6_velocity_limit_irregular(sim->n, eta_irr),
                                   .limit_reg = nb6_velocity_limit_regular(sim->n, eta_reg),
                                   .dt_close = nb6_subsystems_enabled(sim) ? 2 * sim->book.dt_min : 0,
                                   .n_source = sim->subsystems.n_source,
                                   .level_max = nb6_level_of(config->dt_max, NB6_TIME_BITS),
                                   .all_are_neighbours = nb6_all_are_neighbours(sim),
                                   .in_double = nb6_needs_double(eta_irr),
                                   .noise_reg_near = 3 * noise_reg * sim->mean_mass,
                                   .noise_reg_far = noise_reg_far,
                                   .noise_by_tree = nb6_noise_by_tree(sim),
                                   .noise_reg_most = nb6_all_are_neighbours(sim) ? 0 : noise_reg_far / r_half2,
                                   .r_half2 = r_half2,
                                   .seen_between_steps = is_seen_between_steps(&sim->run.config)};
}
