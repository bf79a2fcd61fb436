/* Tides on the relative motion of a pair, or on a chain: of neighbours too weak to be perturbers, of all bodies beyond
 * the neighbour sphere, and of the galaxy. */
#include "nbody6/fewbody/pairs/tides.h"

#include "nbody6/fewbody/kind.h"
#include "nbody6/fewbody/tide_sum.h"
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
    nb6_add_tide(m, x, v, tide->field, tide->field_dot);
}

void nb6_tide_join(const struct nb6_tide *far, struct nb6_tide *tide)
{
    const double s = nb6_time_to_double(tide->t - far->t);
    for (int k = 0; k < 6; k++) {
        tide->field[k] += far->field[k] + s * far->field_dot[k];
        tide->field_dot[k] += far->field_dot[k];
    }
}

double nb6_pair_far_tide_limit(const struct nb6_sim *sim, nb6_slot slot)
{
    const double r = nb6_slot_reference_radius(sim, slot);
    return FAR_ENERGY * nb6_energy_scale(sim) / (nb6_get_body(sim, nb6_centre(sim, slot))->mass * r * r);
}

/* Whether it is worth the sum. */
static int is_felt(const struct nb6_sim *sim, nb6_slot slot)
{
    const struct nb6_star *star = nb6_get_star(sim, nb6_centre(sim, slot));
    return nb6_strongest_outside(sim->run.book.mass_start, (double)sim->subsystems.n_source, star->acc_reg, star->r_nb,
                                 star->nnb) > nb6_pair_far_tide_limit(sim, slot);
}

int nb6_pair_far_tide_is_old(const struct nb6_sim *sim, nb6_slot slot, nb6_time t)
{
    const nb6_time t0_reg = nb6_get_star(sim, nb6_centre(sim, slot))->t0_reg;
    return t0_reg == t || sim->subsystems.system[slot].far.t < t0_reg;
}

static int leaves_nobody(const struct nb6_sim *sim, size_t nnb)
{
    return nnb + 1 >= (size_t)sim->subsystems.n_source;
}

int nb6_pair_sums_far_tide(const struct nb6_sim *sim, nb6_slot slot, nb6_time t)
{
    const size_t nnb = (size_t)nb6_get_star(sim, nb6_centre(sim, slot))->nnb;
    return nb6_pair_far_tide_is_old(sim, slot, t) && !leaves_nobody(sim, nnb) && is_felt(sim, slot);
}

/* A sum that an engine has made where the bodies are; NULL: it has not. */
static const struct nb6_tide *summed_by_engine(const struct nb6_subsystems *p, nb6_slot slot)
{
    for (int64_t k = 0; k < p->n_far; k++)
        if (p->far[k].slot == slot) return &p->far[k].tide;
    return NULL;
}

/* Bodies side by side, in the lanes of vectors; each lane has a sum of its own. Compilers make vectors of loops over
 * lanes, whatever their width: the bits are the same. */
enum { LANES = 8 };

struct lanes {
    int n;
    double m[LANES], x[3][LANES], v[3][LANES];
    double field[6][LANES], field_dot[6][LANES];
};

static void add_lanes(struct lanes *s)
{
    double inv2[LANES], w[LANES], xv[LANES];
    for (int l = 0; l < LANES; l++) {
        inv2[l] = 1 / (s->x[0][l] * s->x[0][l] + s->x[1][l] * s->x[1][l] + s->x[2][l] * s->x[2][l]);
        w[l] = s->m[l] * inv2[l] * sqrt(inv2[l]);
        xv[l] = (s->x[0][l] * s->v[0][l] + s->x[1][l] * s->v[1][l] + s->x[2][l] * s->v[2][l]) * inv2[l];
    }
    for (int a = 0, k = 0; a < 3; a++)
        for (int b = a; b < 3; b++, k++) {
            const double unit = a == b;
            for (int l = 0; l < LANES; l++) {
                const double xx = s->x[a][l] * s->x[b][l] * inv2[l];
                const double turn = (s->x[a][l] * s->v[b][l] + s->v[a][l] * s->x[b][l]) * inv2[l];
                s->field[k][l] += w[l] * (3 * xx - unit);
                s->field_dot[k][l] += 3 * w[l] * (turn - xv[l] * (5 * xx - unit));
            }
        }
    s->n = 0;
}

/* The last lanes may be empty: bodies without mass, somewhere. */
static void finish_lanes(struct lanes *s, struct nb6_tide *tide)
{
    for (; s->n > 0 && s->n < LANES; s->n++) {
        s->m[s->n] = 0;
        for (int k = 0; k < 3; k++) s->x[k][s->n] = 1;
    }
    if (s->n > 0) add_lanes(s);
    for (int k = 0; k < 6; k++)
        for (int l = 0; l < LANES; l++) {
            tide->field[k] += s->field[k][l];
            tide->field_dot[k] += s->field_dot[k][l];
        }
}

/* Of all bodies but that at i and those of its list. */
static void sum_far_tide(const struct nb6_sim *sim, nb6_index i, nb6_time t, size_t nnb, const nb6_index *list,
                         struct nb6_tide *tide)
{
    const struct nb6_subsystems *p = &sim->subsystems;
    struct lanes s = {0};
    double x[3], v[3];
    size_t next = 0;
    nb6_get_predicted(sim, i, t, x, v);
    for (int64_t m = 0; m < p->n_source; m++) {
        const nb6_index j = p->source[m];
        if (next < nnb && list[next] == j) {
            next++;
            continue;
        }
        if (j == i) continue;
        double y[3], w[3];
        nb6_get_predicted(sim, j, t, y, w);
        s.m[s.n] = nb6_get_body(sim, j)->mass;
        for (int k = 0; k < 3; k++) {
            s.x[k][s.n] = y[k] - x[k];
            s.v[k][s.n] = w[k] - v[k];
        }
        if (++s.n == LANES) add_lanes(&s);
    }
    finish_lanes(&s, tide);
}

void nb6_pair_far_tide(const struct nb6_sim *sim, nb6_slot slot, nb6_time t, size_t nnb, const nb6_index *list,
                       struct nb6_tide *tide)
{
    const struct nb6_tide *summed = summed_by_engine(&sim->subsystems, slot);
    *tide = summed ? *summed : (struct nb6_tide){.t = t};
    if (!summed && !leaves_nobody(sim, nnb) && is_felt(sim, slot))
        sum_far_tide(sim, nb6_centre(sim, slot), t, nnb, list, tide);
}

double nb6_pair_galactic_tide(const struct nb6_sim *sim, nb6_slot slot)
{
    const double r = nb6_slot_reference_radius(sim, slot);
    const struct nb6_body *centre = nb6_get_body(sim, nb6_centre(sim, slot));
    return nb6_external_strongest(&sim->run.external, nb6_time_to_double(centre->t0), centre->x0) * r * r * r /
           centre->mass;
}
