#include "nbody6/fewbody/hierarchies.h"

#include "nbody6/fewbody/change.h"
#include "nbody6/fewbody/parts.h"
#include "nbody6/step/hermite.h"
#include "nbody6/step/step.h"
#include "regularization/hierarchy.h"

#include <math.h>
#include <string.h>

/* What is frozen has room to spare above the criterion, so that it is not broken up at once. */
static const double ROOM = 1.1;
/* The outer orbit is to be as compact as that of any pair that stays together, and others disturb it less than this. */
static const double GAMMA_OUTER = 0.01;

int nb6_hierarchies_enabled(const struct nb6_sim *sim)
{
    return sim->config.pair.systems && sim->config.pair.hierarchies && nb6_pairs_enabled(sim);
}

int64_t nb6_inner_slot(const struct nb6_sim *sim, int64_t slot, int member)
{
    const struct nb6_pair *pair = &sim->pairs.pair[slot];
    return !pair->chain && pair->member[member] >= sim->n ? pair->member[member] - sim->n : -1;
}

int nb6_is_hierarchy(const struct nb6_sim *sim, int64_t slot)
{
    return nb6_inner_slot(sim, slot, 0) >= 0 || nb6_inner_slot(sim, slot, 1) >= 0;
}

/* A simple pair of two stars. */
static int is_pair(const struct nb6_sim *sim, int32_t i)
{
    return i >= sim->n && !sim->pairs.pair[i - sim->n].chain && !nb6_is_hierarchy(sim, i - sim->n);
}

static double angle(const double a[3], const double b[3])
{
    double c[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
    return atan2(sqrt(c[0] * c[0] + c[1] * c[1] + c[2] * c[2]), a[0] * b[0] + a[1] * b[1] + a[2] * b[2]);
}

/* Of the pair in body i, on an outer orbit around body j. */
static double stability_of(const struct nb6_sim *sim, int32_t i, int32_t j, const struct hierarchy_orbit *outer)
{
    const struct ks_pair *ks = &sim->pairs.ks[i - sim->n];
    struct hierarchy_orbit inner;
    double x[3], v[3];
    ks_relative(ks, x, v);
    hierarchy_orbit_find(ks->m, x, v, &inner);
    if (!(inner.period > 0)) return 0;
    double critical = hierarchy_critical_ratio(sim->body[j].mass / ks->m, outer->e, angle(inner.j, outer->j));
    return outer->pericentre / (critical * inner.a);
}

double nb6_orbit_stability(const struct nb6_sim *sim, int32_t i, int32_t j, const double x[3], const double v[3],
                           double *a)
{
    struct hierarchy_orbit outer;
    double ratio = INFINITY;
    hierarchy_orbit_find(sim->body[i].mass + sim->body[j].mass, x, v, &outer);
    *a = outer.a;
    if (!(outer.period > 0)) return 0;
    if (i >= sim->n) ratio = fmin(ratio, stability_of(sim, i, j, &outer));
    if (j >= sim->n) ratio = fmin(ratio, stability_of(sim, j, i, &outer));
    return ratio;
}

double nb6_hierarchy_stability(const struct nb6_sim *sim, int64_t slot)
{
    const int32_t *member = sim->pairs.pair[slot].member;
    double x[3], v[3], a;
    ks_relative(&sim->pairs.ks[slot], x, v);
    return nb6_orbit_stability(sim, member[0], member[1], x, v, &a);
}

static void parts_of(const struct nb6_sim *sim, int32_t i, struct nb6_parts *parts)
{
    const struct nb6_motion motion = nb6_pairs_motion(&sim->pairs);
    if (i < sim->n)
        nb6_parts_of_point(parts);
    else
        nb6_parts_of_slot(&sim->pairs, &motion, i - sim->n, nb6_relative_time(sim, sim->ti_now), parts);
}

/* Parts of body i at x with the perturbers of a slot, but for two bodies. */
static double tide_of_others(const struct nb6_sim *sim, int32_t i, const struct nb6_parts *own, const double x[3],
                             int64_t slot, int32_t j)
{
    struct nb6_parts point;
    double sum = 0;
    if (own->n == 1 || slot < 0) return 0;
    const struct nb6_perturbers *pert = &sim->pairs.pert[slot];
    nb6_parts_of_point(&point);
    for (int32_t k = 0; k < pert->n; k++) {
        const struct nb6_body *other = &sim->body[pert->body[k]];
        double y[3], w[3];
        if (pert->body[k] == i || pert->body[k] == j) continue;
        nb6_predict(other, nb6_time_to_double(sim->ti_now - other->t0), y, w);
        for (int d = 0; d < 3; d++) y[d] -= x[d];
        sum += sim->body[i].mass * other->mass * nb6_parts_potential(y, own, &point);
    }
    return sum;
}

/* Frozen, a pair does not feel the galaxy any more. */
static double tide_of_galaxy(const struct nb6_sim *sim, int32_t i, const struct nb6_parts *own)
{
    return own->n > 1 && sim->external.active ? sim->body[i].mass * nb6_parts_tidal(&sim->external, own) : 0;
}

double nb6_tidal_energy(const struct nb6_sim *sim, int32_t i, int32_t j, const double x_i[3], const double x_j[3],
                        const int64_t perturbers[2])
{
    struct nb6_parts a, b;
    const double x[3] = {x_j[0] - x_i[0], x_j[1] - x_i[1], x_j[2] - x_i[2]};
    parts_of(sim, i, &a);
    parts_of(sim, j, &b);
    return sim->body[i].mass * sim->body[j].mass * nb6_parts_potential(x, &a, &b) +
           tide_of_others(sim, i, &a, x_i, perturbers[0], j) + tide_of_others(sim, j, &b, x_j, perturbers[1], i) +
           tide_of_galaxy(sim, i, &a) + tide_of_galaxy(sim, j, &b);
}

void nb6_add_kinetic(double reduced_mass, double energy, double v[3])
{
    double kinetic = 0.5 * reduced_mass * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    if (!(kinetic + energy > 0) || !(kinetic > 0)) return;
    double factor = sqrt(1 + energy / kinetic);
    for (int k = 0; k < 3; k++) v[k] *= factor;
}

/* A frozen orbit ignores the galaxy: it must be one that would be left alone without perturbers. */
static int feels_galaxy(const struct nb6_sim *sim, int32_t i)
{
    return i >= sim->n && nb6_pair_galactic_tide(sim, i - sim->n) > sim->config.pair.gamma_min;
}

/* Pair i and its strongest perturber j. Beyond the semi-major axis the tide, which the outer orbit has to take up, is
 * smallest. */
static int can_freeze(const struct nb6_sim *sim, int32_t i, int32_t j, nb6_time t)
{
    double x[3], v[3], y[3], w[3], r2 = 0, a;
    if (j < 0 || (j >= sim->n && (!is_pair(sim, j) || sim->pairs.pair[j - sim->n].ending))) return 0;
    if (feels_galaxy(sim, i) || feels_galaxy(sim, j)) return 0;
    nb6_predict(&sim->body[i], nb6_time_to_double(t - sim->body[i].t0), x, v);
    nb6_predict(&sim->body[j], nb6_time_to_double(t - sim->body[j].t0), y, w);
    for (int k = 0; k < 3; k++) {
        y[k] -= x[k];
        w[k] -= v[k];
        r2 += y[k] * y[k];
    }
    double ratio = nb6_orbit_stability(sim, i, j, y, w, &a), m = sim->body[i].mass + sim->body[j].mass;
    double near = fmin(NB6_COMPACT * nb6_close_radius(sim, 2, m, i), NB6_COMPACT_SPACING * nb6_local_spacing(sim, i));
    return ratio > ROOM && 2 * a < near && r2 > a * a && nb6_pair_perturbation(sim, t, i, j) < GAMMA_OUTER;
}

int nb6_hierarchies_search(struct nb6_sim *sim, struct nb6_decisions *d, struct nbc_error *err)
{
    const struct nb6_active *active = &sim->active;
    int32_t *scratch = NULL;
    if (!nb6_hierarchies_enabled(sim)) return NBC_OK;
    for (int64_t at = active->n_irr - 1; at >= 0 && active->irr[at] >= sim->n; at--) {
        int32_t i = active->irr[at];
        if (!is_pair(sim, i) || sim->pairs.pair[i - sim->n].ending || sim->pairs.pert[i - sim->n].n == 0) continue;
        if (!nb6_pair_is_hard(sim, i - sim->n)) continue;
        int32_t j = nb6_find_intruder(sim, i - sim->n, active->t).j;
        if (!can_freeze(sim, i, j, active->t) || nb6_is_decided(d, i) || nb6_is_decided(d, j)) continue;
        if (!scratch) scratch = nbc_alloc((size_t)sim->pairs.n_source, sizeof *scratch);
        if (!scratch) return nbc_fail(err, NBC_NO_MEMORY, "no memory to look for hierarchies");
        if (!nb6_pairs_are_ready(sim, i, j, active->t, scratch)) continue;
        d->form[d->n_form][0] = i < j ? i : j;
        d->form[d->n_form++][1] = i < j ? j : i;
    }
    nbc_free(scratch);
    return NBC_OK;
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

int nb6_hierarchy_in_chain(const struct nb6_sim *sim, int64_t slot, struct chain_group *group)
{
    const struct nb6_chain *chain = nb6_chain_of(&sim->pairs, slot);
    const struct chain *c = &chain->state;
    struct hierarchy h;
    struct chain_group part[2] = {{0}, {0}};
    double d[3] = {0, 0, 0}, r2 = 0;
    if (!nb6_hierarchies_enabled(sim) || c->n > 4) return 0;
    if (hierarchy_find(c->n, c->mass, (const double(*)[3])chain->x, (const double(*)[3])chain->v, &h)) return 0;
    if (h.roots != 1) return 0;
    const struct hierarchy_pair *outer = &h.pair[h.pairs - 1];
    double near = NB6_COMPACT * nb6_close_radius(sim, c->n, outer->mass, sim->n + slot);
    if (!outer->stable || !(outer->ratio > ROOM) || !(2 * outer->orbit.a < near)) return 0;
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
