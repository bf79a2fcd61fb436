/* Energies of escapers. */
#include "nbody6/run/escapers.h"

#include "nbody6/analysis/frame.h"
#include "nbody6/fewbody/pairs/correct.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/state/sim.h"

#include <math.h>

/* Energy of all relative motions inside the body at a place of the frame. */
static double binding_at(const struct nb6_frame *frame, int64_t place)
{
    double sum = 0;
    for (int64_t k = 0; k < frame->n_pair; k++)
        if (frame->pair[k].place == place) sum += frame->pair[k].binding;
    for (int64_t k = 0; k < frame->n_chain; k++)
        if (frame->chain[k].place == place) sum += frame->chain[k].binding;
    return sum;
}

double nb6_escapers_binding(const struct nb6_frame *frame, const struct nb6_escapers *e)
{
    double sum = 0;
    for (int64_t g = 0; g < e->n_gone; g++) sum += binding_at(frame, e->place[g]);
    return sum;
}

/* Potential energy that leaves with them, beyond point masses: of resolved pairs with the bodies around them, and of
 * the galaxy on relative motions. */
static double inner_potential_of_escapers(const struct nb6_sim *sim, const struct nb6_frame *frame,
                                          const struct nb6_escapers *e)
{
    if (!frame->motion.ks) return 0;
    return frame->pair_potential -
           nb6_subsystems_potential(sim, (const double(*)[3])frame->x, &frame->motion, e->moved) + frame->pair_tidal -
           nb6_subsystems_tidal(sim, &frame->motion, e->moved);
}

double nb6_escapers_energy(const struct nb6_sim *sim, const struct nb6_frame *frame, const struct nb6_escapers *e)
{
    double energy = inner_potential_of_escapers(sim, frame, e);
    for (int64_t g = 0; g < e->n_gone; g++) {
        int64_t i = e->place[g];
        const double *v = frame->v[i], *x = frame->x[i];
        double per_mass = 0.5 * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) + frame->pot[i] +
                          nb6_external_potential(&sim->run.external, frame->t, x);
        for (int64_t h = 0; h < g; h++) {
            const double *y = frame->x[e->place[h]];
            double r =
                sqrt((x[0] - y[0]) * (x[0] - y[0]) + (x[1] - y[1]) * (x[1] - y[1]) + (x[2] - y[2]) * (x[2] - y[2]));
            if (r > 0) per_mass += frame->mass[e->place[h]] / r;
        }
        energy += frame->mass[i] * per_mass;
    }
    return energy;
}
