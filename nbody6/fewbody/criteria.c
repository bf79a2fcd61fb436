#include "nbody6/fewbody/criteria.h"

#include "nbody6/input/config.h"
#include "nbody6/state/body.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/view.h"
#include "regularization/ks.h"

#include <math.h>

int nb6_subsystems_enabled(const struct nb6_sim *sim)
{
    const struct nb6_integration_config *c = &sim->run.config.integration;
    return sim->book.r_min > 0 && sim->book.dt_min > 0 && !(c->dt_fixed_irr > 0) && !(c->dt_fixed_reg > 0);
}

int nb6_chains_enabled(const struct nb6_sim *sim)
{
    return sim->run.config.pair.systems && sim->run.config.pair.chains && nb6_subsystems_enabled(sim);
}

int nb6_hierarchies_enabled(const struct nb6_sim *sim)
{
    return sim->run.config.pair.systems && sim->run.config.pair.hierarchies && nb6_subsystems_enabled(sim);
}

int nb6_orbit_is_hard(const struct nb6_sim *sim, double m, double h, double r)
{
    return h < 0 && (-m / h < r || -h > sim->book.e_close);
}

int nb6_pair_is_hard(const struct nb6_sim *sim, nb6_slot slot)
{
    const struct ks_pair *ks = &sim->subsystems.ks[slot];
    return nb6_orbit_is_hard(sim, ks->m, ks->h, sim->subsystems.system[slot].r_end);
}

double nb6_local_spacing(const struct nb6_sim *sim, int64_t i)
{
    enum { NEAREST = 6 };
    double x[3], v[3], nearest[NEAREST];
    const nb6_time t = sim->active.t;
    size_t nnb = 0;
    int found = 0;
    const nb6_index *list = nb6_get_list(sim, i, &nnb);
    nb6_get_predicted(sim, i, t, x, v);
    for (size_t k = 0; k < nnb; k++) {
        double y[3], w[3], r2 = 0;
        nb6_get_predicted(sim, list[k], t, y, w);
        for (int d = 0; d < 3; d++) r2 += (y[d] - x[d]) * (y[d] - x[d]);
        if (found == NEAREST && r2 >= nearest[NEAREST - 1]) continue;
        int at = found < NEAREST ? found++ : NEAREST - 1;
        for (; at > 0 && nearest[at - 1] > r2; at--) nearest[at] = nearest[at - 1];
        nearest[at] = r2;
    }
    return found > 1 ? sqrt(nearest[found - 1]) / cbrt(found) : INFINITY; /* a companion alone is no surroundings */
}

double nb6_close_radius(const struct nb6_sim *sim, int n, double mass, int64_t i)
{
    const double r_min = sim->book.r_min, heavy = mass / (n * sim->mean_mass);
    if (!(heavy > 1)) return r_min;
    return fmax(r_min, fmin(r_min * heavy, NB6_COMPACT_SPACING * nb6_local_spacing(sim, i)));
}

/* Pairs up to so many radii wide stay together while undisturbed. With N, RMIN gets smaller beside the spacing of stars
 * in the core, which is a fourth of N^(2/3) RMIN whatever its density. */
static double widest(const struct nb6_sim *sim)
{
    const double LEAST = 10, MOST = 40, OF_SPACING = 0.4, root = cbrt((double)sim->n);
    return fmin(fmax(OF_SPACING / 4 * root * root, LEAST), MOST);
}

int nb6_pair_stays_together(const struct nb6_sim *sim, nb6_slot slot, double h, double apocentre)
{
    const struct nb6_subsystem *pair = &sim->subsystems.system[slot];
    const struct ks_pair *ks = &sim->subsystems.ks[slot];
    if (nb6_orbit_stays_together(sim, ks->m, h, pair->r_end)) return 1;
    if (!(h < 0 && -ks->m / h < widest(sim) * pair->r_end)) return 0;
    if (pair->remote) return 1;
    const double wider = apocentre / ks->now.r;
    return ks->gamma * wider * wider * wider < sim->run.config.pair.gamma_max;
}

int nb6_orbit_stays_together(const struct nb6_sim *sim, double m, double h, double r)
{
    return nb6_orbit_is_hard(sim, m, h, NB6_COMPACT * r);
}
