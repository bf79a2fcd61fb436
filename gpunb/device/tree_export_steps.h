/** Stages of an essential tree (device/tree_export.h) as one thread or one team does them, for GPUs and emulated
 *  devices. */
#ifndef GPUNB_DEVICE_TREE_EXPORT_STEPS_H
#define GPUNB_DEVICE_TREE_EXPORT_STEPS_H

#include "gpunb/device/tree_export.h"
#include "gpunb/device/tree_group.h"

/* ---- groups of targets */

TREE_FN void tree_measure_group(const struct device_tree_walk *job, struct tree_walk_memory *memory, int g,
                                struct essential_measure *to)
{
    struct tree_group_walk w;
    struct essential_measure m;
    const int32_t first = g * job->group, left = job->n_i - first;
    const int count = left < job->group ? left : job->group;
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    double least2 = INFINITY, most2 = 0;
    w.job = job;
    w.memory = memory;
    w.region = NULL;
    tree_bound_group(&w, first, count);
    TREE_EACH_ROLLED(i, count)
    {
        const int32_t t = tree_target_at(job, first + i);
        for (int k = 0; k < 3; k++) {
            const double x = tree_target_x(job, t, k);
            low[k] = fmin(low[k], x);
            high[k] = fmax(high[k], x);
        }
        if (!job->acc_last) continue;
        const double *a = job->acc_last[t], a2 = a[0] * a[0] + a[1] * a[1] + a[2] * a[2];
        least2 = fmin(least2, a2);
        most2 = fmax(most2, a2);
    }
    m.least2 = tree_lanes_min(least2);
    m.most2 = tree_lanes_max(most2);
    for (int k = 0; k < 3; k++) {
        m.low[k] = tree_lanes_min(low[k]);
        m.high[k] = tree_lanes_max(high[k]);
    }
    m.sum = job->acc_last ? tree_sum_of_sizes(&w) : 0;
    if (TREE_OWN_LANE == 0) *to = m;
}

/* ---- cells */

NBC_HD void tree_begin_export(const struct device_tree_export *x)
{
    struct device_tree_exported *s = x->state;
    s->heading.cells = 1;
    s->heading.whole = s->heading.bodies = 0;
    s->begin = 0;
    s->end = 1;
    s->tested = 0;
    x->queue[0] = 0;
}

/* As n_child of a shape, of cells with parts their number; tests are counted.   @param[in] k  in the queue */
NBC_HD int32_t tree_judge_cell(const struct device_tree_export *x, int32_t k, uint64_t *tested)
{
    const struct tree_cell *cell = &x->tree.view.cell[x->queue[k]];
    if (essential_accepts_all(&x->test, cell, x->node, x->boxes, tested)) return TREE_PARTS_ELSEWHERE;
    return cell->count <= x->worth ? 0 : cell->n_child;
}

/* A cell that was opened: its parts with mass, from a place in the queue on.   @param[in] is_written  0: they are
 * counted
 * @return how many */
NBC_HD int32_t tree_export_parts(const struct device_tree_export *x, int32_t k, int64_t at, int is_written)
{
    const struct tree_cell *cell = &x->tree.view.cell[x->queue[k]];
    int32_t n = 0;
    for (int32_t p = cell->child; p < cell->child + cell->n_child; p++) {
        if (!(x->tree.view.cell[p].mass > 0)) continue;
        if (is_written) x->queue[at + n] = p;
        n++;
    }
    return n;
}

/* Up to TREE_TEAM cells of the level, from the first on; the heading counts what they have. */
TREE_FN void tree_open_some(const struct device_tree_export *x, int32_t first, int32_t end,
                            struct essential_heading *heading)
{
    int32_t parts[TREE_OWN], whole[TREE_OWN], bodies[TREE_OWN];
    TREE_UNROLL
    for (int l = 0; l < TREE_OWN; l++) {
        const int32_t k = first + TREE_LANE_OF(l);
        parts[l] = whole[l] = bodies[l] = 0;
        if (k >= end) continue;
        const int32_t n = x->shape[k].n_child;
        whole[l] = n == TREE_PARTS_ELSEWHERE;
        bodies[l] = n == 0 ? x->shape[k].count : 0;
        parts[l] = n > 0 ? tree_export_parts(x, k, 0, 0) : 0;
    }
    const int32_t all_parts = tree_lanes_before(parts), all_whole = tree_lanes_before(whole),
                  all_bodies = tree_lanes_before(bodies);
    TREE_UNROLL
    for (int l = 0; l < TREE_OWN; l++) {
        const int32_t k = first + TREE_LANE_OF(l);
        if (k >= end) continue;
        const int32_t n = x->shape[k].n_child;
        if (n == TREE_PARTS_ELSEWHERE)
            x->at[k] = (int32_t)heading->whole + whole[l];
        else
            x->at[k] = (int32_t)heading->bodies + bodies[l];
        if (n > 0) x->shape[k].n_child = tree_export_parts(x, k, heading->cells + parts[l], 1);
    }
    heading->cells += all_parts;
    heading->whole += all_whole;
    heading->bodies += all_bodies;
}

/* A level whose cells were tested; the next one is what it has opened. */
TREE_FN void tree_open_level(const struct device_tree_export *x)
{
    struct essential_heading heading = x->state->heading;
    const int32_t begin = x->state->begin, end = x->state->end;
    for (int32_t first = begin; first < end; first += TREE_TEAM) tree_open_some(x, first, end, &heading);
    tree_sync();
    if (TREE_OWN_LANE > 0) return;
    x->state->heading = heading;
    x->state->begin = end;
    x->state->end = (int32_t)heading.cells;
}

/* ---- what is sent */

NBC_HD void tree_write_whole(const struct device_tree_export *x, int32_t c, char *to)
{
    const struct tree_cell *cell = &x->tree.view.cell[c];
    struct essential_cell *sent = (struct essential_cell *)(void *)to;
    float *moment = (float *)(void *)(sent + 1);
    const float *from = (const float *)x->tree.view.moment + (size_t)c * (size_t)x->tree.view.moments;
    const int floats = (x->cell_bytes - (int)sizeof *sent) / (int)sizeof(float);
    for (int k = 0; k < 3; k++) {
        sent->low[k] = cell->low[k];
        sent->high[k] = cell->high[k];
        sent->centre[k] = cell->centre[k];
    }
    sent->mass = cell->mass;
    sent->radius = cell->radius;
    sent->rest = cell->rest;
    sent->count = cell->count;
    sent->has_targets = 0;
    for (int m = 0; m < floats; m++) moment[m] = m < x->moments ? from[m] : 0;
}

/* Cell k of the queue, and what it has. */
NBC_HD void tree_write_exported(const struct device_tree_export *x, int32_t k)
{
    const struct essential_heading *h = &x->state->heading;
    const struct tree_cell *cell = &x->tree.view.cell[x->queue[k]];
    struct essential_shape *shape = (struct essential_shape *)(void *)(x->to + sizeof *h);
    char *whole = (char *)(shape + h->cells);
    struct essential_body *body = (struct essential_body *)(void *)(whole + h->whole * x->cell_bytes) + x->at[k];
    if (k == 0) *(struct essential_heading *)(void *)x->to = *h;
    shape[k] = x->shape[k];
    if (shape[k].n_child == TREE_PARTS_ELSEWHERE)
        tree_write_whole(x, x->queue[k], whole + (size_t)x->at[k] * (size_t)x->cell_bytes);
    for (int32_t j = 0; j < cell->count && shape[k].n_child == 0; j++) {
        for (int i = 0; i < 3; i++) body[j].x[i] = x->tree.view.x[cell->first + j][i];
        body[j].mass = x->tree.view.mass[cell->first + j];
    }
}

#endif
