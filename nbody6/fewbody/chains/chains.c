#include "nbody6/fewbody/chains/chains.h"

#include "nbody6/state/subsystems.h"
#include "regularization/chain.h"

#include <math.h>
#include <string.h>

double nb6_chain_size(const struct nb6_chain *chain)
{
    double r2 = 0;
    for (int m = 0; m < chain->state.n; m++) {
        const double *x = chain->x[m];
        r2 = fmax(r2, x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
    }
    return sqrt(r2);
}

double nb6_chain_energy(const struct nb6_chain *chain)
{
    int slowed = 0;
    for (int k = 0; k + 1 < chain->state.n; k++) slowed |= chain->state.kappa[k] > 1;
    return slowed ? chain_energy_booked(&chain->state) : chain_energy(&chain->state);
}

void nb6_chain_refresh(struct nb6_chain *chain)
{
    static const double nowhere[3];
    struct chain_body body[CHAIN_MAX];
    chain_set_centre(&chain->state, nowhere, nowhere);
    chain_bodies(&chain->state, body);
    for (int m = 0; m < chain->state.n; m++) {
        memcpy(chain->x[m], body[m].x, sizeof chain->x[m]);
        memcpy(chain->v[m], body[m].v, sizeof chain->v[m]);
    }
    if (chain->state.n > chain->most) chain->most = chain->state.n;
}
