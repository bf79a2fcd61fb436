/** Regions and groups of targets of a regular force by tree: their bounds, and the walk over the cells around them, by
 * a team of lanes. */
#ifndef GPUNB_DEVICE_REGULAR_WALK_H
#define GPUNB_DEVICE_REGULAR_WALK_H

#include "gpunb/device/regular_steps.h"

enum { REGULAR_STACK = 16 * TREE_TEAM };

/* Boxes and spheres are compared with this margin: the test of pairs is made in float. */
#define REGULAR_APART 1.00001

/* Cells from this part of the reach of a group on act at places that are rounded to floats from its centre: to some
 * 1e-6 of their distance. */
#define REGULAR_ROUNDED 0.0625

/* The unit of an expansion is not below this part of the size of the cell around: a region may be a point. */
#define REGULAR_LEAST_UNIT 0.01

/** Memory of a team that walks for a region. */
struct regular_walk_memory {
    struct regular_bounds bounds;
    int32_t stack[REGULAR_STACK];
};

/** A walk for a region or a group; all lanes have the same. */
struct regular_walk {
    const struct device_regular_tree *t;
    int32_t *stack;
    struct regular_bounds *bounds; /* in memory of the team: lanes have no registers for them */
    double mass, speed, length;    /* units of masses, velocities, and places of groups */
    int32_t first, count;          /* targets */
    const int32_t *list;           /* cells that it begins with */
    int32_t n, next, depth;        /* how many; those met so far; cells on the stack */
    unsigned tests;
};

/** The relation of a cell to the region or group that walks. */
enum regular_kind {
    REGULAR_NOTHING,
    REGULAR_ACTS, /* it acts on all targets by its multipoles */
    REGULAR_KEPT, /* it is left for the parts of the region */
    REGULAR_FAR,  /* its bodies are summed: none of them can be a neighbour; */
    REGULAR_NEAR, /* they may be */
    REGULAR_OPEN
};
struct regular_slot {
    int32_t cell, kind;
};

TREE_FN void regular_begin(struct regular_walk *w, const struct device_regular_tree *t, struct regular_bounds *bounds,
                           int32_t *stack, int32_t first, int32_t count)
{
    w->t = t;
    w->bounds = bounds;
    w->stack = stack;
    w->mass = t->tree.view.cell[0].mass;
    w->speed = regular_speed(t);
    w->length = t->tree.view.cell[0].radius > 0 ? t->tree.view.cell[0].radius : 1;
    w->first = first;
    w->count = count;
    w->next = w->depth = 0;
    w->tests = 0;
    tree_sync(); /* no lane reads the bounds of the group before any more */
}

/* ---- bounds: all lanes write the same numbers, and read them when tree_sync() has ended all writes */

TREE_FN void regular_bound_places(struct regular_walk *w)
{
    const struct regular_target *target = w->t->target + w->first;
    struct regular_bounds *to = w->bounds;
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, reach2 = 0;
    TREE_EACH_ROLLED(i, w->count)
    for (int k = 0; k < 3; k++) {
        low[k] = fmin(low[k], target[i].x[k]);
        high[k] = fmax(high[k], target[i].x[k]);
    }
    for (int k = 0; k < 3; k++) {
        low[k] = tree_lanes_min(low[k]);
        high[k] = tree_lanes_max(high[k]);
        const double centre = 0.5 * low[k] + 0.5 * high[k];
        to->centre[k] = centre;
        to->half[k] = fmax(centre - low[k], high[k] - centre);
    }
    tree_sync();
    TREE_EACH_ROLLED(i, w->count)
    {
        const double r = tree_distance(target[i].x, to->centre);
        reach2 = fmax(reach2, r * r);
    }
    to->reach = sqrt(tree_lanes_max(reach2));
}

TREE_FN void regular_bound_motion(struct regular_walk *w)
{
    const struct regular_target *target = w->t->target + w->first;
    struct regular_bounds *to = w->bounds;
    double sum[3] = {0, 0, 0}, speed = 0, sphere = 0, step = 0;
    TREE_EACH_ROLLED(i, w->count)
    {
        for (int k = 0; k < 3; k++) sum[k] += target[i].v[k];
        sphere = fmax(sphere, (double)target[i].radius);
        step = fmax(step, (double)target[i].step);
    }
    for (int k = 0; k < 3; k++) to->v[k] = tree_lanes_sum(sum[k]) / w->count;
    to->sphere = tree_lanes_max(sphere);
    to->step = tree_lanes_max(step);
    tree_sync();
    TREE_EACH_ROLLED(i, w->count) speed = fmax(speed, tree_distance(target[i].v, to->v));
    to->speed = tree_lanes_max(speed);
}

/** Bounds but for the scale.   @param[in] cell  around it */
TREE_FN void regular_bound(struct regular_walk *w, int32_t cell)
{
    const double least = REGULAR_LEAST_UNIT * w->t->tree.view.cell[cell].radius;
    regular_bound_places(w);
    regular_bound_motion(w);
    const double unit = fmax(w->bounds->reach, least); /* known since regular_bound_motion() */
    w->bounds->unit = unit > 0 ? unit : 1;
    tree_sync();
}

/* ---- the stack */

/* Lanes take cells from the stack, and from the list if these are too few for all.   @return how many; 0: none is left
 * @param[out] has_room  0: their parts have no room on the stack */
TREE_FN int regular_pop(struct regular_walk *w, struct regular_slot slot[TREE_OWN], int *has_room)
{
    const int room = (REGULAR_STACK - w->depth) / TREE_PARTS, most = room > 0 && room < TREE_TEAM ? room : TREE_TEAM,
              from_stack = w->depth < most ? w->depth : most;
    const int32_t left = room > 0 ? w->n - w->next : 0, from_list = left < most - from_stack ? left : most - from_stack,
                  n = from_stack + from_list;
    *has_room = room > 0;
    tree_sync();
    TREE_UNROLL
    for (int l = 0; l < TREE_OWN; l++) {
        const int lane = TREE_LANE_OF(l);
        slot[l].kind = REGULAR_NOTHING;
        if (lane < n)
            slot[l].cell = lane < from_stack ? w->stack[w->depth - 1 - lane] : w->list[w->next + lane - from_stack];
    }
    w->next += from_list;
    w->depth -= from_stack;
    w->tests += (unsigned)n;
    tree_sync();
    return n;
}

/* The parts of the cells that lanes open go onto the stack. */
TREE_FN void regular_push(struct regular_walk *w, const struct regular_slot slot[TREE_OWN])
{
    const struct tree_node *node = w->t->tree.view.node;
    int32_t before[TREE_OWN];
    TREE_UNROLL
    for (int l = 0; l < TREE_OWN; l++) before[l] = slot[l].kind == REGULAR_OPEN ? node[slot[l].cell].n_child : 0;
    const int32_t all = tree_lanes_before(before);
    TREE_UNROLL
    for (int l = 0; l < TREE_OWN; l++) {
        if (slot[l].kind != REGULAR_OPEN) continue;
        const int32_t child = node[slot[l].cell].child, parts = node[slot[l].cell].n_child;
        for (int32_t p = 0; p < parts; p++) w->stack[w->depth + before[l] + p] = child + parts - 1 - p;
    }
    w->depth += all;
    tree_sync();
}

TREE_FN void regular_count(const struct regular_walk *w, enum device_tree_count which, unsigned more)
{
    if (TREE_OWN_LANE == 0) TREE_ADD_TO(&w->t->counts[which], (unsigned long long)more);
}

/* ---- the scale: as tree_find_scale has it */

TREE_FN double regular_size_of_term(const struct regular_walk *w, const struct tree_node *cell, int *is_open)
{
    double r2 = 0;
    const double cell2 = (double)cell->radius * (double)cell->radius;
    *is_open = 0;
    if (!(cell->mass > 0)) return 0;
    for (int k = 0; k < 3; k++) {
        const double d = cell->centre[k] - w->bounds->centre[k];
        r2 += d * d;
    }
    *is_open = cell->n_child > 0 && !(cell2 < (double)TREE_SCALE_THETA2 * r2);
    r2 += cell2 + w->bounds->reach * w->bounds->reach;
    return (double)cell->mass / r2;
}

/* The sum of the sizes of the terms of all cells, for a mass of 1. */
TREE_FN double regular_sum_of_sizes(struct regular_walk *w)
{
    struct regular_slot slot[TREE_OWN];
    const int32_t *list = w->list;
    const int32_t n_list = w->n;
    double sum = 0;
    int has_room;
    w->list = &w->t->counters->root;
    w->n = 1;
    for (int n = regular_pop(w, slot, &has_room); n > 0; n = regular_pop(w, slot, &has_room)) {
        TREE_UNROLL
        for (int l = 0; l < TREE_OWN; l++) {
            int is_open;
            if (TREE_LANE_OF(l) >= n) continue;
            const struct tree_node cell = w->t->tree.view.node[slot[l].cell];
            const double size = regular_size_of_term(w, &cell, &is_open);
            if (is_open && has_room)
                slot[l].kind = REGULAR_OPEN;
            else
                sum += size;
        }
        regular_push(w, slot);
    }
    w->list = list;
    w->n = n_list;
    w->next = w->depth = 0;
    return tree_lanes_sum(sum);
}

/** @param[in] around  the region around a group, which is small beside what lies around that: it takes the sum of sizes
 *                     of the region, in place of a walk for its own, but none below its accelerations; NULL: its own */
TREE_FN void regular_find_scale(struct regular_walk *w, const struct regular_region *around)
{
    const struct regular_target *target = w->t->target + w->first;
    struct regular_bounds *to = w->bounds;
    double least = INFINITY, most = 0;
    to->scale = 0;
    to->sum = 0;
    to->spread2 = w->t->rule.region_theta2;
    if (!w->t->has_sizes) return;
    TREE_EACH_ROLLED(i, w->count)
    {
        least = fmin(least, target[i].size);
        most = fmax(most, target[i].size);
    }
    least = tree_lanes_min(least) / w->mass;
    most = tree_lanes_max(most) / w->mass;
    const double sum = fmax(around ? around->bounds.sum : regular_sum_of_sizes(w), most),
                 scale = fmax(least, TREE_LEAST_SHARE * sum);
    to->sum = sum;
    to->scale = (float)(scale * scale / sum);
    to->spread2 = tree_most_spread2(&w->t->rule, (float)(scale / sum));
}

/* ---- cells */

/* Whether no body of a cell can be a neighbour of a target, or at its place, now or at the end of its step. */
TREE_FN int regular_is_apart(const struct regular_walk *w, int32_t c)
{
    const struct tree_cell *cell = &w->t->tree.view.cell[c];
    const struct tree_motion *motion = &w->t->motion[c];
    const struct regular_bounds *own = w->bounds;
    double d2 = 0;
    for (int k = 0; k < 3; k++) {
        const double below = cell->low[k] - own->centre[k], above = own->centre[k] - cell->high[k];
        const double d = (below > above ? below : above) - own->half[k];
        d2 += d > 0 ? d * d : 0;
    }
    const double reach = own->step * (tree_distance(motion->v, own->v) + motion->speed + own->speed);
    const double sphere = w->t->weighted ? own->sphere * sqrt(motion->heaviest) : own->sphere;
    const double limit = fmax((sphere + reach) * REGULAR_APART, REGULAR_ROUNDED * own->reach);
    return d2 > limit * limit && d2 > (double)GPUNB_DEV_TINY_R2;
}

TREE_FN int regular_acts(const struct regular_walk *w, const struct tree_node *cell, int32_t c)
{
    double r2 = 0;
    for (int k = 0; k < 3; k++) {
        const double d = cell->centre[k] - w->bounds->centre[k];
        r2 += d * d;
    }
    return tree_accepts_region(&w->t->rule, cell->mass, cell->radius, &cell->rest, cell->count, (float)r2,
                               (float)w->bounds->unit, w->bounds->spread2, w->bounds->scale) &&
           w->t->motion[c].heaviest <= w->t->heavy * w->mass;
}

/* For a region. */
TREE_FN int regular_kind_of(const struct regular_walk *w, int32_t c, int has_room)
{
    const struct tree_node cell = w->t->tree.view.node[c];
    const int is_empty = !(cell.mass > 0);
    if ((is_empty || regular_acts(w, &cell, c)) && regular_is_apart(w, c))
        return is_empty ? REGULAR_NOTHING : REGULAR_ACTS;
    return cell.n_child == 0 || (double)cell.radius < w->bounds->reach || !has_room ? REGULAR_KEPT : REGULAR_OPEN;
}

/* Whether the multipoles of a cell are enough for a group. */
TREE_FN int regular_is_enough(const struct regular_walk *w, const struct tree_node *cell, int32_t c)
{
    double r2 = 0;
    for (int k = 0; k < 3; k++) {
        const double d = fabs(cell->centre[k] - w->bounds->centre[k]) - w->bounds->half[k];
        r2 += d > 0 ? d * d : 0;
    }
    return tree_accepts(&w->t->term_rule, cell->mass, cell->radius, &cell->rest, cell->count, (float)r2,
                        w->bounds->scale) &&
           w->t->motion[c].heaviest <= w->t->heavy * w->mass;
}

/* For a group. Whether a cell is apart is asked where it matters: its box and its motion are two loads more. */
TREE_FN int regular_kind_for_group(const struct regular_walk *w, int32_t c, int has_room)
{
    const struct tree_node cell = w->t->tree.view.node[c];
    const int is_empty = !(cell.mass > 0), is_enough = is_empty || regular_is_enough(w, &cell, c),
              can_open = cell.n_child > 0 && has_room;
    if (!is_enough && can_open) return REGULAR_OPEN;
    if (!regular_is_apart(w, c)) return can_open ? REGULAR_OPEN : REGULAR_NEAR;
    if (is_enough && is_empty) return REGULAR_NOTHING;
    return is_enough && cell.count > REGULAR_WORTH ? REGULAR_ACTS : REGULAR_FAR;
}

#endif
