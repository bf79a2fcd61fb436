#include "nbody6/fewbody/nodes.h"

#include "common/nbc.h"
#include "nbody6/fewbody/kind.h"
#include "nbody6/fewbody/parts.h"
#include "nbody6/state/bodies.h"
#include "nbody6/state/body.h"
#include "nbody6/state/members.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/state/view.h"
#include "regularization/hierarchy.h"

#include <math.h>
#include <string.h>

_Static_assert((int)CHAIN_MAX <= (int)HIERARCHY_MAX, "room in struct hierarchy");

/* A pair is seen as one body if its apocentre is at most this part of the distance: its inner motion does not decide
 * whether others approach or recede. */
static const double SMALL_PAIR = 0.25;

static double distance2(const double a[3], const double b[3])
{
    double r2 = 0;
    for (int k = 0; k < 3; k++) r2 += (a[k] - b[k]) * (a[k] - b[k]);
    return r2;
}

/* Append the stars of a body. */
static int add_stars(const struct nb6_sim *sim, nb6_index body, nb6_time t, const double x[3], const double v[3],
                     struct nb6_nodes *nodes)
{
    const struct nb6_motion motion = nb6_subsystems_motion(&sim->subsystems);
    struct nb6_parts parts;
    double y[3], w[3];
    int status = NBC_OK;
    nb6_get_predicted(sim, body, t, y, w);
    if (nb6_is_centre(sim, body))
        status =
            nb6_parts_of_slot(&sim->subsystems, &motion, nb6_slot_of(sim, body), nb6_relative_time(sim, t), &parts);
    else
        nb6_parts_of_point(&parts);
    if (status) return status;
    if (nodes->n + parts.n > CHAIN_MAX) return NBC_BAD_ARGUMENT;
    for (int m = 0; m < parts.n; m++) {
        struct nb6_node *star = &nodes->node[nodes->n++];
        *star = (struct nb6_node){.mass = nb6_get_body(sim, body)->mass * parts.mass[m], .parent = -1};
        for (int k = 0; k < 3; k++) {
            star->x[k] = (y[k] - x[k]) + parts.x[m][k];
            star->v[k] = (w[k] - v[k]) + parts.v[m][k];
        }
    }
    return NBC_OK;
}

static void add_pair(struct nb6_nodes *nodes, const struct hierarchy_pair *pair)
{
    struct nb6_node *a = &nodes->node[pair->first], *b = &nodes->node[pair->second], *sum = &nodes->node[nodes->count];
    *sum = (struct nb6_node){.mass = pair->mass, .apocentre = pair->orbit.a * (1 + pair->orbit.e), .parent = -1};
    for (int k = 0; k < 3; k++) {
        sum->x[k] = (a->mass * a->x[k] + b->mass * b->x[k]) / pair->mass;
        sum->v[k] = (a->mass * a->v[k] + b->mass * b->v[k]) / pair->mass;
    }
    a->parent = b->parent = nodes->count++;
}

int nb6_nodes_find(const struct nb6_sim *sim, int n_body, const nb6_index body[], nb6_time t, const double x[3],
                   const double v[3], struct nb6_nodes *nodes)
{
    double mass[CHAIN_MAX], place[CHAIN_MAX][3], velocity[CHAIN_MAX][3];
    struct hierarchy h;
    nodes->n = nodes->count = 0;
    for (int b = 0; b < n_body; b++) {
        int status = add_stars(sim, body[b], t, x, v, nodes);
        if (status) return status;
    }
    for (int m = 0; m < nodes->n; m++) {
        mass[m] = nodes->node[m].mass;
        memcpy(place[m], nodes->node[m].x, sizeof place[m]);
        memcpy(velocity[m], nodes->node[m].v, sizeof velocity[m]);
    }
    int status = hierarchy_find(nodes->n, mass, (const double(*)[3])place, (const double(*)[3])velocity, &h);
    if (status) return status;
    nodes->count = nodes->n;
    for (int k = 0; k < h.pairs; k++) add_pair(nodes, &h.pair[k]);
    return NBC_OK;
}

double nb6_nodes_size(const struct nb6_nodes *nodes)
{
    double mass = 0, x[3] = {0, 0, 0}, r2 = 0;
    for (int m = 0; m < nodes->n; m++) {
        mass += nodes->node[m].mass;
        for (int k = 0; k < 3; k++) x[k] += nodes->node[m].mass * nodes->node[m].x[k];
    }
    for (int k = 0; k < 3; k++) x[k] /= mass;
    for (int m = 0; m < nodes->n; m++) r2 = fmax(r2, distance2(nodes->node[m].x, x));
    return sqrt(r2);
}

int nb6_nodes_nearest(const struct nb6_nodes *nodes, const double x[3])
{
    int nearest = 0;
    for (int m = 1; m < nodes->n; m++)
        if (distance2(nodes->node[m].x, x) < distance2(nodes->node[nearest].x, x)) nearest = m;
    return nearest;
}

int nb6_nodes_seen(const struct nb6_nodes *nodes, int star, double distance)
{
    int at = star;
    for (int up = nodes->node[star].parent; up >= 0; up = nodes->node[up].parent)
        if (nodes->node[up].apocentre <= SMALL_PAIR * distance) at = up;
    return at;
}
