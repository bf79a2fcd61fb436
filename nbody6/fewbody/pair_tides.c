/* Tides on the relative motion of a pair, or on a chain: of neighbours too weak to be perturbers, of all bodies beyond
 * the neighbour sphere, and of the galaxy. */
#include "nbody6/fewbody/pair_tides.h"

#include "nbody6/fewbody/kind.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/state/body.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/members.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/state/view.h"

#include <math.h>

/* The tide of bodies beyond the sphere counts where it may change the energy of the pair by more than this part of the
 * cluster's: wide and soft pairs, and chains. It costs as much as a sum over all bodies. */
static const double FAR_ENERGY = 1e-10;

void nb6_tide_add(double m, const double x[3], const double v[3], struct nb6_tide *tide)
{
    double inv2 = 1 / (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]), w = m * inv2 * sqrt(inv2);
    double xv = (x[0] * v[0] + x[1] * v[1] + x[2] * v[2]) * inv2;
    for (int a = 0, k = 0; a < 3; a++)
        for (int b = a; b < 3; b++, k++) {
            double xx = x[a] * x[b] * inv2, turn = (x[a] * v[b] + v[a] * x[b]) * inv2;
            tide->field[k] += w * (3 * xx - (a == b));
            tide->field_dot[k] += 3 * w * (turn - xv * (5 * xx - (a == b)));
        }
}

void nb6_tide_join(const struct nb6_tide *far, struct nb6_tide *tide)
{
    const double s = nb6_time_to_double(tide->t - far->t);
    for (int k = 0; k < 6; k++) {
        tide->field[k] += far->field[k] + s * far->field_dot[k];
        tide->field_dot[k] += far->field_dot[k];
    }
}

/* Whether it is worth the sum. Outside the sphere there is at most the mass of all. */
static int is_felt(const struct nb6_sim *sim, int64_t slot)
{
    const double r = nb6_slot_reference_radius(sim, slot), r_nb = nb6_get_star(sim, nb6_centre(sim, slot))->r_nb;
    const double tide = sim->book.mass_start / (r_nb * r_nb * r_nb);
    return nb6_get_body(sim, nb6_centre(sim, slot))->mass * r * r * tide > FAR_ENERGY * nb6_energy_scale(sim);
}

void nb6_pair_far_tide(const struct nb6_sim *sim, int64_t slot, nb6_time t, size_t nnb, const int32_t *list,
                       struct nb6_tide *tide)
{
    const int32_t i = nb6_centre(sim, slot);
    const struct nb6_pairs *p = &sim->pairs;
    double x[3], v[3];
    size_t next = 0;
    *tide = (struct nb6_tide){.t = t};
    if (nnb + 1 >= (size_t)p->n_source || !is_felt(sim, slot)) return;
    nb6_get_predicted(sim, i, t, x, v);
    for (int64_t m = 0; m < p->n_source; m++) {
        const int32_t j = p->source[m];
        if (next < nnb && list[next] == j) {
            next++;
            continue;
        }
        if (j == i) continue;
        const struct nb6_body *other = nb6_get_body(sim, j);
        double y[3], w[3];
        nb6_get_predicted(sim, j, t, y, w);
        for (int k = 0; k < 3; k++) {
            y[k] -= x[k];
            w[k] -= v[k];
        }
        nb6_tide_add(other->mass, y, w, tide);
    }
}

double nb6_pair_galactic_tide(const struct nb6_sim *sim, int64_t slot)
{
    const double r = nb6_slot_reference_radius(sim, slot);
    const struct nb6_body *centre = nb6_get_body(sim, nb6_centre(sim, slot));
    return nb6_external_strongest(&sim->external, nb6_time_to_double(centre->t0), centre->x0) * r * r * r /
           centre->mass;
}
