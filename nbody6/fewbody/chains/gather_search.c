#include "nbody6/fewbody/chains/gather_search.h"

#include "nbody6/fewbody/criteria.h"
#include "nbody6/fewbody/encounter.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/state/body.h"
#include "nbody6/state/members.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/state/view.h"

#include <math.h>
#include <string.h>

/* A body with a larger tide than this at the edge of a group, over its own attraction, belongs to it: as for the
 * intruder of a pair. */
static const double GAMMA_GATHER = 0.02;

/* A group is not wider than this part of the largest size of a chain: a chain of a larger one would part at once. */
static const double ROOM = 0.5;

/* Passing stars are left to pairs and to the block step, which lose little if no star comes much closer than the size
 * of the group: the group must shrink to this part of its size, by the angular momentum of each member. */
static const double PLUNGE = 0.02;

/* Members, relative to the first one, and their sums. */
struct group {
    int n;
    nb6_index star[CHAIN_MAX];
    double m[CHAIN_MAX], x[CHAIN_MAX][3], v[CHAIN_MAX][3];
    double mass, centre[3], drift[3], size;
};

static double distance2(const double a[3], const double b[3])
{
    double r2 = 0;
    for (int k = 0; k < 3; k++) r2 += (a[k] - b[k]) * (a[k] - b[k]);
    return r2;
}

static void sum_up(struct group *g)
{
    double mx[3] = {0}, mv[3] = {0}, r2 = 0;
    g->mass = 0;
    for (int m = 0; m < g->n; m++) {
        g->mass += g->m[m];
        for (int k = 0; k < 3; k++) {
            mx[k] += g->m[m] * g->x[m][k];
            mv[k] += g->m[m] * g->v[m][k];
        }
    }
    for (int k = 0; k < 3; k++) {
        g->centre[k] = mx[k] / g->mass;
        g->drift[k] = mv[k] / g->mass;
    }
    for (int m = 0; m < g->n; m++) r2 = fmax(r2, distance2(g->x[m], g->centre));
    g->size = sqrt(r2);
}

/* Star j, seen from the first one. */
static void see(const struct nb6_sim *sim, nb6_time t, int32_t first, nb6_index j, double x[3], double v[3])
{
    double y[3], w[3];
    nb6_get_predicted(sim, first, t, y, w);
    nb6_get_predicted(sim, j, t, x, v);
    for (int k = 0; k < 3; k++) {
        x[k] -= y[k];
        v[k] -= w[k];
    }
}

static void take(const struct nb6_sim *sim, nb6_time t, nb6_index j, struct group *g)
{
    const int at = g->n++;
    g->star[at] = j;
    g->m[at] = nb6_get_body(sim, j)->mass;
    see(sim, t, g->star[0], j, g->x[at], g->v[at]);
    sum_up(g);
}

static int is_member(const struct group *g, nb6_index j)
{
    for (int m = 0; m < g->n; m++)
        if (g->star[m] == j) return 1;
    return 0;
}

/* Tide of a body at y on a group at its edge, from the nearest member as if that stood where the tide is felt. */
static double tide(const struct group *g, double mass, const double y[3])
{
    double r2 = INFINITY;
    for (int m = 0; m < g->n; m++) r2 = fmin(r2, distance2(g->x[m], y));
    const double part = g->size / sqrt(r2);
    return 2 * mass / g->mass * part * part * part;
}

/* The strongest body outside.   @return -1: none is strong enough */
static int32_t find_strongest(const struct nb6_sim *sim, nb6_time t, const struct group *g)
{
    size_t nnb = 0;
    const nb6_index *list = nb6_get_list(sim, g->star[0], &nnb);
    double largest = GAMMA_GATHER;
    nb6_index strongest = NB6_NOBODY;
    for (size_t k = 0; k < nnb; k++) {
        double y[3], w[3];
        if (is_member(g, list[k])) continue;
        see(sim, t, g->star[0], list[k], y, w);
        const double gamma = tide(g, nb6_get_body(sim, list[k])->mass, y);
        if (!(gamma > largest)) continue;
        largest = gamma;
        strongest = list[k];
    }
    return strongest;
}

/* The distance of stars around the group, as nb6_local_spacing around its centre of mass would be. */
static double spacing_around(const struct nb6_sim *sim, nb6_time t, const struct group *g)
{
    enum { NEAREST = 6 };
    double nearest[NEAREST];
    size_t nnb = 0;
    int found = 0;
    const nb6_index *list = nb6_get_list(sim, g->star[0], &nnb);
    for (size_t k = 0; k < nnb; k++) {
        double y[3], w[3];
        if (is_member(g, list[k])) continue;
        see(sim, t, g->star[0], list[k], y, w);
        const double r2 = distance2(y, g->centre);
        if (found == NEAREST && r2 >= nearest[NEAREST - 1]) continue;
        int at = found < NEAREST ? found++ : NEAREST - 1;
        for (; at > 0 && nearest[at - 1] > r2; at--) nearest[at] = nearest[at - 1];
        nearest[at] = r2;
    }
    return found > 1 ? sqrt(nearest[found - 1]) / cbrt(found) : INFINITY;
}

/* How wide a group of such masses may be, as chains are (nb6_compact_radius). */
static double widest_of(const struct nb6_sim *sim, const struct group *g)
{
    return ROOM * NB6_COMPACT * fmax(1, g->mass / (g->n * sim->mean_mass)) * sim->book.r_min;
}

/* Whether it is small beside the distance of the stars around it, and the galaxy leaves it together. */
static int is_apart(const struct nb6_sim *sim, nb6_time t, const struct group *g)
{
    const double galaxy =
        nb6_external_strongest(&sim->run.external, nb6_time_to_double(t), nb6_get_body(sim, g->star[0])->x0);
    return g->size < ROOM * NB6_COMPACT_SPACING * spacing_around(sim, t, g) &&
           galaxy * g->size * g->size * g->size < GAMMA_GATHER * g->mass;
}

/* Whether the members are bound to each other and fall together. The pericentre of a light body that falls from far is
 * half its semi-latus rectum. */
static int falls_together(const struct group *g)
{
    double energy = 0, virial = 0, widest = 0;
    for (int m = 0; m < g->n; m++) {
        double r2 = 0, v2 = 0, rv = 0;
        for (int k = 0; k < 3; k++) {
            const double x = g->x[m][k] - g->centre[k], v = g->v[m][k] - g->drift[k];
            r2 += x * x;
            v2 += v * v;
            rv += x * v;
        }
        energy += 0.5 * g->m[m] * v2;
        virial += g->m[m] * rv;
        widest = fmax(widest, 0.5 * (r2 * v2 - rv * rv) / g->mass);
        for (int l = 0; l < m; l++) energy -= g->m[m] * g->m[l] / sqrt(distance2(g->x[m], g->x[l]));
    }
    return energy < 0 && virial < NB6_RECEDING * g->mass * sqrt(g->mass * g->size) && widest < PLUNGE * g->size;
}

int nb6_gather_find(const struct nb6_sim *sim, nb6_time t, nb6_index i, nb6_index j, struct nb6_chain_change *gather)
{
    struct group g = {.n = 0};
    const int32_t first = i < j ? i : j;
    int32_t next = i < j ? j : i;
    if (!nb6_chains_enabled(sim)) return 0;
    for (take(sim, t, first, &g); next >= 0; next = find_strongest(sim, t, &g)) {
        if (g.n == CHAIN_MAX || nb6_is_centre(sim, next) || !(nb6_get_body(sim, next)->mass > 0)) return 0;
        take(sim, t, next, &g);
        if (!(g.size < widest_of(sim, &g))) return 0;
    }
    if (g.n < 3 || !falls_together(&g) || !is_apart(sim, t, &g)) return 0;
    *gather = (struct nb6_chain_change){.kind = NB6_CHAIN_GATHER, .i = g.star[0], .j = g.star[1], .n_more = g.n - 2};
    memcpy(gather->more, g.star + 2, (size_t)gather->n_more * sizeof *gather->more);
    return 1;
}
