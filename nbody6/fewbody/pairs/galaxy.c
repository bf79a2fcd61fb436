#include "nbody6/fewbody/pairs/galaxy.h"

#include "common/nbc.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/state/energy_ledger.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "regularization/ks.h"

void nb6_galaxy_pull(const struct nb6_external *external, const struct nb6_external_series *series, double t,
                     const double centre[2][3], int n, const double mass[], const double (*x)[3],
                     const double (*xdot)[3], struct nb6_pull *pull)
{
    static const double nothing[3];
    const int does_work = nb6_external_does_work(external);
    if (series && nb6_external_near(external, series, t, centre, n, mass, x, xdot, pull->acc, pull->jerk, pull->power))
        return;
    pull->power[0] = pull->power[1] = 0;
    for (int m = 0; m < n; m++) {
        const double *v = xdot ? xdot[m] : nothing;
        double rate[2];
        nb6_external_relative(external, t, centre, x[m], v, v, nothing, pull->acc[m], pull->jerk[m]);
        if (!does_work) continue;
        nb6_external_rate(external, t, centre, x[m], v, pull->acc[m], pull->jerk[m], rate);
        for (int k = 0; k < 2; k++) pull->power[k] += mass[m] * rate[k];
    }
}

double nb6_slot_galaxy_work(const struct nb6_subsystems *subsystems, const struct nb6_motion *motion, nb6_slot slot)
{
    return nb6_goes_on_demand(subsystems, slot) ? motion->chain[subsystems->system[slot].chain - 1].galaxy_work
                                                : motion->ks[slot].work;
}

int nb6_slot_book_galaxy_work(struct nb6_sim *sim, nb6_slot slot, struct nbc_error *err)
{
    struct nb6_subsystems *p = &sim->subsystems;
    struct nb6_chain *chain = nb6_chain_of(p, slot);
    const double work = chain ? chain->galaxy_work : ks_take_work(&p->ks[slot]);
    if (work == 0) return NBC_OK;
    if (chain) chain->galaxy_work = 0;
    return nb6_ledger_book(&sim->run.book.ledger, NB6_CHANNEL_GALAXY, work, err);
}
