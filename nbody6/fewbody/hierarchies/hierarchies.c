#include "nbody6/fewbody/hierarchies/hierarchies.h"

#include "nbody6/fewbody/criteria.h"
#include "nbody6/fewbody/kind.h"
#include "nbody6/fewbody/mergers.h"
#include "nbody6/fewbody/parts.h"
#include "nbody6/state/bodies.h"
#include "nbody6/state/body.h"
#include "nbody6/state/members.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/state/view.h"
#include "regularization/chain.h"
#include "regularization/hierarchy.h"
#include "regularization/ks.h"

#include <math.h>

static double angle(const double a[3], const double b[3])
{
    double c[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
    return atan2(sqrt(c[0] * c[0] + c[1] * c[1] + c[2] * c[2]), a[0] * b[0] + a[1] * b[1] + a[2] * b[2]);
}

static void inner_orbit(const struct nb6_sim *sim, nb6_index i, struct hierarchy_orbit *inner)
{
    const struct ks_pair *ks = &sim->subsystems.ks[nb6_slot_of(sim, i)];
    double x[3], v[3];
    ks_relative(ks, x, v);
    hierarchy_orbit_find(ks->m, x, v, inner);
}

static double apocentre(const struct hierarchy_orbit *orbit)
{
    return orbit->a * (1 + orbit->e);
}

/* How far from the centre of a body its stars may reach: their own radius, and the apocentre of a pair. */
static double reach_of(const struct nb6_sim *sim, nb6_index i)
{
    struct hierarchy_orbit inner;
    if (!nb6_is_centre(sim, i)) return nb6_largest_radius(sim, i);
    inner_orbit(sim, i, &inner);
    return apocentre(&inner) + nb6_largest_radius(sim, i);
}

/* Pericentre of an orbit of two bodies over the least one at which no star of one can touch a star of the other. */
static double clearance_of(const struct nb6_sim *sim, nb6_index i, nb6_index j, const struct hierarchy_orbit *outer)
{
    if (!(nb6_largest_radius(sim, i) + nb6_largest_radius(sim, j) > 0)) return INFINITY;
    return outer->pericentre / (reach_of(sim, i) + reach_of(sim, j));
}

/* The same of the two stars of the pair in body i. */
static double clearance_inside(const struct nb6_sim *sim, nb6_index i, const struct hierarchy_orbit *inner)
{
    const nb6_index *member = sim->subsystems.system[nb6_slot_of(sim, i)].member;
    const double touch = nb6_get_star(sim, member[0])->radius + nb6_get_star(sim, member[1])->radius;
    return touch > 0 ? inner->pericentre / touch : INFINITY;
}

/* Of the pair in body i, on an outer orbit around body j. */
static double stability_of(const struct nb6_sim *sim, nb6_index i, nb6_index j, const struct hierarchy_orbit *outer)
{
    struct hierarchy_orbit inner;
    inner_orbit(sim, i, &inner);
    if (!(inner.period > 0)) return 0;
    double critical = hierarchy_critical_ratio(nb6_get_body(sim, j)->mass / sim->subsystems.ks[nb6_slot_of(sim, i)].m,
                                               outer->e, angle(inner.j, outer->j));
    return fmin(outer->pericentre / (critical * inner.a), clearance_inside(sim, i, &inner));
}

double nb6_orbit_stability(const struct nb6_sim *sim, nb6_index i, nb6_index j, const double x[3], const double v[3],
                           double *a)
{
    struct hierarchy_orbit outer;
    double ratio = INFINITY;
    hierarchy_orbit_find(nb6_get_body(sim, i)->mass + nb6_get_body(sim, j)->mass, x, v, &outer);
    *a = outer.a;
    if (!(outer.period > 0)) return 0;
    if (nb6_is_centre(sim, i)) ratio = fmin(ratio, stability_of(sim, i, j, &outer));
    if (nb6_is_centre(sim, j)) ratio = fmin(ratio, stability_of(sim, j, i, &outer));
    return ratio > 0 ? fmin(ratio, clearance_of(sim, i, j, &outer)) : 0; /* an unbound pair has no apocentre */
}

double nb6_hierarchy_stability(const struct nb6_sim *sim, nb6_slot slot)
{
    const nb6_index *member = sim->subsystems.system[slot].member;
    double x[3], v[3], a;
    ks_relative(&sim->subsystems.ks[slot], x, v);
    return nb6_orbit_stability(sim, member[0], member[1], x, v, &a);
}

static void parts_of(const struct nb6_sim *sim, nb6_index i, struct nb6_parts *parts)
{
    const struct nb6_motion motion = nb6_subsystems_motion(&sim->subsystems);
    if (!nb6_is_centre(sim, i))
        nb6_parts_of_point(parts);
    else
        nb6_parts_of_slot(&sim->subsystems, &motion, nb6_slot_of(sim, i), nb6_relative_time(sim, sim->ti_now), parts);
}

/* Parts of body i at x with the perturbers of a slot, but for two bodies. */
static double tide_of_others(const struct nb6_sim *sim, nb6_index i, const struct nb6_parts *own, const double x[3],
                             nb6_slot slot, nb6_index j)
{
    struct nb6_parts point;
    double sum = 0;
    if (own->n == 1 || slot < 0) return 0;
    const struct nb6_perturbers *pert = &sim->subsystems.pert[slot];
    nb6_parts_of_point(&point);
    for (int32_t k = 0; k < pert->n; k++) {
        const struct nb6_body *other = nb6_get_body(sim, pert->body[k]);
        double y[3], w[3];
        if (pert->body[k] == i || pert->body[k] == j) continue;
        nb6_get_predicted(sim, pert->body[k], sim->ti_now, y, w);
        for (int d = 0; d < 3; d++) y[d] -= x[d];
        sum += nb6_get_body(sim, i)->mass * other->mass * nb6_parts_potential(y, own, &point);
    }
    return sum;
}

/* Frozen, a pair does not feel the galaxy any more. */
static double tide_of_galaxy(const struct nb6_sim *sim, nb6_index i, const struct nb6_parts *own, const double x[3])
{
    return own->n > 1 && sim->run.external.active
               ? nb6_get_body(sim, i)->mass *
                     nb6_parts_tidal(&sim->run.external, nb6_time_to_double(sim->ti_now), x, own)
               : 0;
}

double nb6_tidal_energy(const struct nb6_sim *sim, nb6_index i, nb6_index j, const double x_i[3], const double x_j[3],
                        const int64_t perturbers[2])
{
    struct nb6_parts a, b;
    const double x[3] = {x_j[0] - x_i[0], x_j[1] - x_i[1], x_j[2] - x_i[2]};
    parts_of(sim, i, &a);
    parts_of(sim, j, &b);
    return nb6_get_body(sim, i)->mass * nb6_get_body(sim, j)->mass * nb6_parts_potential(x, &a, &b) +
           tide_of_others(sim, i, &a, x_i, perturbers[0], j) + tide_of_others(sim, j, &b, x_j, perturbers[1], i) +
           tide_of_galaxy(sim, i, &a, x_i) + tide_of_galaxy(sim, j, &b, x_j);
}

void nb6_add_kinetic(double reduced_mass, double energy, double v[3])
{
    double kinetic = 0.5 * reduced_mass * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    if (!(kinetic + energy > 0) || !(kinetic > 0)) return;
    double factor = sqrt(1 + energy / kinetic);
    for (int k = 0; k < 3; k++) v[k] *= factor;
}

/* The largest radius below a node of a hierarchy in a chain, and how far from its centre stars may reach. */
static double reach_below(const struct hierarchy *h, int node, const struct chain *c, double *radius)
{
    if (node < h->n) return *radius = c->radius[node];
    const struct hierarchy_pair *pair = &h->pair[node - h->n];
    double other;
    const double first = reach_below(h, pair->first, c, radius), second = reach_below(h, pair->second, c, &other);
    *radius = fmax(*radius, other);
    return apocentre(&pair->orbit) + fmax(first, second);
}

/* As clearance_of, the smallest of all orbits in a chain; 0 if the two stars of a pair touch. */
static double clearance_in(const struct hierarchy *h, const struct chain *c)
{
    double clearance = INFINITY;
    for (int p = 0; p < h->pairs; p++) {
        const struct hierarchy_pair *pair = &h->pair[p];
        double radius[2];
        const double first = reach_below(h, pair->first, c, &radius[0]),
                     second = reach_below(h, pair->second, c, &radius[1]);
        if (!(radius[0] + radius[1] > 0)) continue;
        if (pair->first >= h->n || pair->second >= h->n)
            clearance = fmin(clearance, pair->orbit.pericentre / (first + second));
        else if (pair->orbit.pericentre <= first + second)
            return 0;
    }
    return clearance;
}

/* Stars below a node of a hierarchy. */
static void add_stars(const struct hierarchy *h, int node, const struct chain *c, struct chain_group *group)
{
    if (node < h->n) {
        group->id[group->n++] = c->id[node];
        return;
    }
    add_stars(h, h->pair[node - h->n].first, c, group);
    add_stars(h, h->pair[node - h->n].second, c, group);
}

int nb6_hierarchy_in_chain(const struct nb6_sim *sim, nb6_slot slot, struct chain_group *group)
{
    const struct nb6_chain *chain = nb6_chain_of(&sim->subsystems, slot);
    const struct chain *c = &chain->state;
    struct hierarchy h;
    struct chain_group part[2] = {{0}, {0}};
    double d[3] = {0, 0, 0}, r2 = 0;
    if (!nb6_hierarchies_enabled(sim) || c->n > 4) return 0;
    if (hierarchy_find(c->n, c->mass, (const double(*)[3])chain->x, (const double(*)[3])chain->v, &h)) return 0;
    if (h.roots != 1) return 0;
    const struct hierarchy_pair *outer = &h.pair[h.pairs - 1];
    double near = NB6_COMPACT * nb6_close_radius(sim, c->n, outer->mass, nb6_centre(sim, slot));
    if (!outer->stable || !(fmin(outer->ratio, clearance_in(&h, c)) > NB6_HIERARCHY_ROOM)) return 0;
    if (!(2 * outer->orbit.a < near)) return 0;
    add_stars(&h, outer->first, c, &part[0]);
    add_stars(&h, outer->second, c, &part[1]);
    for (int p = 0; p < 2; p++) {
        double mass = 0, x[3] = {0, 0, 0};
        for (int s = 0; s < part[p].n; s++)
            for (int m = 0; m < c->n; m++) {
                if (c->id[m] != part[p].id[s]) continue;
                mass += c->mass[m];
                for (int k = 0; k < 3; k++) x[k] += c->mass[m] * chain->x[m][k];
            }
        for (int k = 0; k < 3; k++) d[k] += (p ? 1 : -1) * x[k] / mass;
    }
    for (int k = 0; k < 3; k++) r2 += d[k] * d[k];
    if (!(r2 > outer->orbit.a * outer->orbit.a)) return 0;
    *group = part[part[0].n <= part[1].n ? 0 : 1];
    return group->n;
}
