#include "nbody6/fewbody/hierarchies.h"
#include "nbody6/state/sim.h"
#include "nbody6/step/hermite.h"
#include "nbody6/step/step.h"

#include <math.h>

/* Two stars make a pair when all others together disturb their mutual attraction by less than the first, and it ends
 * when they disturb it by more than the second. A pair that is hard, closer than RMIN at all times, stays together for
 * long; a fast or wide one is only passing, and a third star that comes near would pass one of its members within a
 * step of the relative motion: direct integration is the better way then. */
static const double GAMMA_FORM_HARD = 0.25, GAMMA_LOST_HARD = 0.5;
static const double GAMMA_FORM_SOFT = 0.02, GAMMA_LOST_SOFT = 0.05;
/* Two pairs that disturb each other so strongly collide: the softer one ends, and forms anew below the second. */
static const double GAMMA_COLLISION = 0.1, GAMMA_FORM_COLLISION = 0.05;
/* A hierarchy is broken up, so that its inner pair feels who comes. */
static const double GAMMA_BREAK = 0.05;
/* Stars count as approaching until they recede at this fraction of the velocity of a circular orbit (NBODY6). */
static const double RECEDING = 0.02;
/* Before the first block two stars that are closer than this part of what counts as close are a pair even if they fly
 * apart: first steps of single stars, which know no history, lose 3e-8 of m1 m2/r, and all of it below a tick. */
static const double CLOSE_AT_START = 0.1;
/* Stars are looked at whose step is below this many DTMIN. With Aarseth's DTMIN two stars of mean mass on a circle of
 * radius RMIN make steps of 2.5: below one, a round binary between 0.54 and 1 RMIN that a passing star broke up would
 * be left to the Hermite scheme until it turned eccentric. */
static const double LOOKED_AT = 4;

/* ---- the end of a pair */

/* Never wider than r (2 a < r), or bound more strongly than encounters can undo. */
static int is_hard(const struct nb6_sim *sim, double m, double h, double r)
{
    return h < 0 && (-m / h < r || -h > sim->book.e_close);
}

int nb6_pair_is_hard(const struct nb6_sim *sim, int64_t slot)
{
    const struct ks_pair *ks = &sim->pairs.ks[slot];
    return is_hard(sim, ks->m, ks->h, sim->pairs.pair[slot].r_end);
}

double nb6_local_spacing(const struct nb6_sim *sim, int64_t i)
{
    enum { NEAREST = 6 };
    double x[3], v[3], nearest[NEAREST];
    const nb6_time t = sim->active.t;
    size_t nnb = 0;
    int found = 0;
    const int32_t *list = gpuirr_get_list(sim->irr, (size_t)i, &nnb);
    nb6_predict(&sim->body[i], nb6_time_to_double(t - sim->body[i].t0), x, v);
    for (size_t k = 0; k < nnb; k++) {
        const struct nb6_body *other = &sim->body[list[k]];
        double y[3], w[3], r2 = 0;
        nb6_predict(other, nb6_time_to_double(t - other->t0), y, w);
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

/* A bound pair that is not much wider stays together over its orbit, where it would else end and form once an orbit. */
static int stays_together(const struct nb6_sim *sim, double m, double h, double r)
{
    return is_hard(sim, m, h, NB6_COMPACT * r);
}

static double binding_energy(const struct ks_pair *ks)
{
    return -ks->mass[0] * ks->mass[1] / ks->m * ks->h;
}

/* Slot of the pair that disturbs this one most, if no single star does so more; else -1. */
static int64_t strongest_pair(const struct nb6_sim *sim, int64_t slot, nb6_time t)
{
    const struct nb6_perturbers *pert = &sim->pairs.pert[slot];
    const struct nb6_body *centre = &sim->body[sim->n + slot];
    double x[3], v[3], largest = 0;
    int64_t strongest = -1;
    nb6_predict(centre, nb6_time_to_double(t - centre->t0), x, v);
    for (int32_t k = 0; k < pert->n; k++) {
        const struct nb6_body *other = &sim->body[pert->body[k]];
        double y[3], w[3], r2 = 0;
        nb6_predict(other, nb6_time_to_double(t - other->t0), y, w);
        for (int d = 0; d < 3; d++) r2 += (y[d] - x[d]) * (y[d] - x[d]);
        double tide = other->mass / (r2 * sqrt(r2));
        if (!(tide > largest)) continue;
        largest = tide;
        strongest = pert->body[k];
    }
    return strongest >= sim->n ? strongest - sim->n : -1;
}

int nb6_pair_must_end(const struct nb6_sim *sim, int64_t slot, nb6_time t)
{
    const struct nb6_pair *pair = &sim->pairs.pair[slot];
    const struct ks_pair *ks = &sim->pairs.ks[slot];
    struct ks_elements e;
    ks_elements(ks, &e);
    int hard = is_hard(sim, ks->m, ks->h, pair->r_end);
    if (nb6_is_hierarchy(sim, slot) && ks->gamma > GAMMA_BREAK) return NB6_PAIR_PERTURBED;
    if (nb6_is_hierarchy(sim, slot) && nb6_hierarchy_stability(sim, slot) < 1) return NB6_PAIR_UNSTABLE;
    if (ks->gamma > (hard ? GAMMA_LOST_HARD : GAMMA_LOST_SOFT)) return NB6_PAIR_DISSOLVED;
    if (e.r > pair->r_end) {
        if (!stays_together(sim, ks->m, ks->h, pair->r_end) && e.rdot > 0) return NB6_PAIR_SEPARATED;
        if (!hard && ks->gamma > sim->config.pair.gamma_max) return NB6_PAIR_PERTURBED;
    }
    if (ks->gamma > GAMMA_COLLISION) {
        int64_t other = strongest_pair(sim, slot, t);
        if (other >= 0 && !sim->pairs.pair[other].chain && binding_energy(ks) <= binding_energy(&sim->pairs.ks[other]))
            return NB6_PAIR_COLLISION;
    }
    return -1;
}

double nb6_pair_step_limit(const struct nb6_sim *sim, int64_t slot)
{
    const struct nb6_pair *pair = &sim->pairs.pair[slot];
    const struct ks_pair *ks = &sim->pairs.ks[slot];
    const struct nb6_chain *chain = nb6_chain_of(&sim->pairs, slot);
    if (chain) {
        double size = fmax(nb6_chain_size(chain), sim->book.r_min);
        return 0.25 * size * sqrt(size / sim->body[sim->n + slot].mass);
    }
    if (stays_together(sim, ks->m, ks->h, pair->r_end)) return INFINITY;
    double r = pair->r_end, v2 = 2 * (ks->h + ks->m / r);
    return 0.25 * r / sqrt(fmax(v2, ks->m / r));
}

/* ---- candidates */

/* Two stars on their way to each other. */
struct candidate {
    int32_t i, j;
    double x[3], v[3], r2; /* of j seen from i */
};

static void predicted(const struct nb6_sim *sim, int64_t i, nb6_time t, double x[3], double v[3])
{
    const struct nb6_body *body = &sim->body[i];
    nb6_predict(body, nb6_time_to_double(t - body->t0), x, v);
}

/* The nearest neighbour, if it is a star. */
static int find_nearest(const struct nb6_sim *sim, nb6_time t, struct candidate *c)
{
    size_t nnb = 0;
    const int32_t *list = gpuirr_get_list(sim->irr, (size_t)c->i, &nnb);
    double x[3], v[3];
    predicted(sim, c->i, t, x, v);
    c->j = -1;
    c->r2 = INFINITY;
    for (size_t k = 0; k < nnb; k++) {
        double y[3], w[3], r2 = 0;
        predicted(sim, list[k], t, y, w);
        for (int d = 0; d < 3; d++) r2 += (y[d] - x[d]) * (y[d] - x[d]);
        if (!(r2 < c->r2)) continue;
        c->j = list[k];
        c->r2 = r2;
        for (int d = 0; d < 3; d++) {
            c->x[d] = y[d] - x[d];
            c->v[d] = w[d] - v[d];
        }
    }
    return c->j >= 0 && c->j < sim->n && c->r2 > 0;
}

static double near(const struct nb6_sim *sim, const struct candidate *c)
{
    return nb6_close_radius(sim, 2, sim->body[c->i].mass + sim->body[c->j].mass, c->i);
}

static int is_near_and_approaching(const struct nb6_sim *sim, const struct candidate *c)
{
    const int first = sim->counters.blocks == 0;
    double m = sim->body[c->i].mass + sim->body[c->j].mass, r = sqrt(c->r2);
    double rv = c->x[0] * c->v[0] + c->x[1] * c->v[1] + c->x[2] * c->v[2];
    return m > 0 && r < near(sim, c) && (rv < RECEDING * sqrt(m * r) || (first && r < CLOSE_AT_START * near(sim, c)));
}

/* What the other neighbours and the galaxy do to the relative motion, beside the mutual attraction; and which neighbour
 * does most of it. */
static double perturbation(const struct nb6_sim *sim, nb6_time t, const struct candidate *c, int32_t *strongest)
{
    size_t nnb = 0;
    const int32_t *list = gpuirr_get_list(sim->irr, (size_t)c->i, &nnb);
    double x[3], v[3], p[3] = {0, 0, 0}, largest = 0;
    *strongest = -1;
    predicted(sim, c->i, t, x, v);
    for (size_t k = 0; k < nnb; k++) {
        if (list[k] == c->j) continue;
        double y[3], w[3], di2 = 0, dj2 = 0, dj[3];
        predicted(sim, list[k], t, y, w);
        for (int d = 0; d < 3; d++) {
            y[d] -= x[d];
            dj[d] = y[d] - c->x[d];
            di2 += y[d] * y[d];
            dj2 += dj[d] * dj[d];
        }
        if (!(di2 > 0 && dj2 > 0)) return INFINITY;
        double m = sim->body[list[k]].mass, wi = m / (di2 * sqrt(di2)), wj = m / (dj2 * sqrt(dj2));
        for (int d = 0; d < 3; d++) p[d] += wi * y[d] - wj * dj[d];
        if (!(wi > largest)) continue;
        largest = wi;
        *strongest = list[k];
    }
    double m = sim->body[c->i].mass + sim->body[c->j].mass, galaxy = nb6_external_strongest(&sim->external);
    return (sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]) + galaxy * sqrt(c->r2)) * c->r2 / m;
}

static int is_dominated(const struct nb6_sim *sim, nb6_time t, const struct candidate *c)
{
    double m = sim->body[c->i].mass + sim->body[c->j].mass, h = -m / sqrt(c->r2);
    for (int d = 0; d < 3; d++) h += 0.5 * c->v[d] * c->v[d];
    int32_t strongest;
    double gamma = perturbation(sim, t, c, &strongest);
    if (!is_hard(sim, m, h, near(sim, c))) return gamma < GAMMA_FORM_SOFT;
    return gamma < (strongest >= sim->n ? GAMMA_FORM_COLLISION : GAMMA_FORM_HARD);
}

double nb6_pair_perturbation(const struct nb6_sim *sim, nb6_time t, int32_t i, int32_t j)
{
    struct candidate c = {.i = i, .j = j};
    double y[3], w[3];
    int32_t strongest;
    predicted(sim, i, t, y, w);
    predicted(sim, j, t, c.x, c.v);
    for (int d = 0; d < 3; d++) {
        c.x[d] -= y[d];
        c.v[d] -= w[d];
        c.r2 += c.x[d] * c.x[d];
    }
    return perturbation(sim, t, &c, &strongest);
}

static int stands_at(const struct nb6_sim *sim, int64_t i, nb6_time t)
{
    return sim->body[i].t0 == t && sim->star[i].t0_reg == t;
}

/* A body ends its irregular and regular steps by the next multiple of this step. */
static void call(struct nb6_sim *sim, int32_t i, int8_t level)
{
    struct nb6_star *star = &sim->star[i];
    if (star->level_irr > level) star->level_irr = level;
    star->level_reg = star->level_irr;
    nb6_schedule_set(sim->schedule, i, star->level_irr);
}

/* Whoever has only one of the two in the list takes part: then nothing of anybody's polynomials is lost. */
int nb6_pairs_are_ready(struct nb6_sim *sim, int32_t i, int32_t j, nb6_time t, int32_t *body)
{
    int8_t a = sim->star[i].level_irr, b = sim->star[j].level_irr, level = a < b ? a : b;
    int64_t n = nb6_lists_one_sided(sim, i, j, body);
    int ready = stands_at(sim, i, t) && stands_at(sim, j, t);
    for (int64_t k = 0; k < n; k++) ready = ready && stands_at(sim, body[k], t);
    if (ready) return 1;
    call(sim, i, level);
    call(sim, j, level);
    for (int64_t k = 0; k < n; k++) call(sim, body[k], level);
    return 0;
}

static int taken(int64_t n, const int32_t (*pair)[2], int32_t i)
{
    for (int64_t k = 0; k < n; k++)
        if (pair[k][0] == i || pair[k][1] == i) return 1;
    return 0;
}

int nb6_pairs_search(struct nb6_sim *sim, int32_t (*pair)[2], int64_t *n, struct nbc_error *err)
{
    const struct nb6_active *active = &sim->active;
    int32_t *scratch = NULL;
    *n = 0;
    if (!nb6_pairs_enabled(sim)) return NBC_OK;
    int level = nb6_level_of(LOOKED_AT * sim->book.dt_min, NB6_TIME_BITS);
    for (int64_t slot = 0; slot < active->n_irr; slot++) {
        struct candidate c = {.i = active->irr[slot]};
        if (c.i >= sim->n) break;
        if (sim->star[c.i].level_irr > level || !find_nearest(sim, active->t, &c)) continue;
        if (!is_near_and_approaching(sim, &c) || !is_dominated(sim, active->t, &c)) continue;
        if (taken(*n, (const int32_t(*)[2])pair, c.i) || taken(*n, (const int32_t(*)[2])pair, c.j)) continue;
        if (!scratch) scratch = nbc_alloc((size_t)sim->pairs.n_source, sizeof *scratch);
        if (!scratch) return nbc_fail(err, NBC_NO_MEMORY, "no memory to look for pairs");
        if (!nb6_pairs_are_ready(sim, c.i, c.j, active->t, scratch)) continue;
        pair[*n][0] = c.i < c.j ? c.i : c.j;
        pair[(*n)++][1] = c.i < c.j ? c.j : c.i;
    }
    nbc_free(scratch);
    return NBC_OK;
}
