#include "nbody6/state/ledger.h"

#include "nbody6/state/sim.h"

#include <math.h>

/* Stage names in the log. */
const char *const nb6_stage_names[NB6_STAGE_COUNT] = {
    "schedule", "pairs", "predict", "irregular", "correct", "regular", "commit", "adjust", "output", "device", "move"};

double nb6_energy_scale(const struct nb6_sim *sim)
{
    const struct nb6_bookkeeping *book = &sim->book;
    return sim->run.book.e_cluster > 0 ? sim->run.book.e_cluster
                                       : 0.2 * sim->run.book.mass_start * sim->run.book.mass_start / book->r_half;
}

double nb6_inexact_share(const struct nb6_sim *sim, double binding)
{
    const double cluster = nb6_energy_scale(sim);
    return fabs(binding) > cluster ? cluster / fabs(binding) : 1;
}
