#include "nbody6/run/changed_bodies.h"

#include "nbody6/fewbody/new_masses.h"
#include "nbody6/state/ascending.h"
#include "nbody6/state/members.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"

nb6_index nb6_body_with(const struct nb6_sim *sim, nb6_index star)
{
    nb6_index i = star;
    while (nb6_is_member(&sim->star[i])) i = nb6_centre(sim, nb6_owner_slot(&sim->star[i]));
    return i;
}

/* Stars ascend, and centres of mass come behind them. */
int64_t nb6_changed_bodies(const struct nb6_sim *sim, const struct nb6_new_masses *masses, nb6_index *body)
{
    int64_t n = 0;
    for (int64_t k = 0; k < masses->n; k++) {
        const nb6_index i = nb6_body_with(sim, masses->star[k]);
        if (nb6_list_find(body, (size_t)n, i) < 0) n = nb6_list_insert(body, n, i);
    }
    return n;
}

double nb6_changed_by(const struct nb6_sim *sim, const struct nb6_new_masses *masses, nb6_index body)
{
    nb6_index star[CHAIN_MAX];
    double change = 0;
    const int n = nb6_stars_of(sim, body, star);
    for (int m = 0; m < n; m++) {
        const int64_t k = nb6_new_masses_place(masses, star[m]);
        if (k >= 0) change += masses->mass[k] - sim->body[star[m]].mass;
    }
    return change;
}
