/** Regions of targets of a regular force by tree, by a team of lanes: walks, the expansions of the cells around them
 *  (gpunb/tree/moving.h), and those of the regions around added to these. */
#ifndef GPUNB_DEVICE_REGULAR_REGION_H
#define GPUNB_DEVICE_REGULAR_REGION_H

#include "gpunb/device/regular_field.h"
#include "gpunb/device/regular_walk.h"

NBC_ASSERT_CONSTANT((TREE_MOST_LOCALS - 4) % 4 == 0, "whole loads of four");

/* After regular_field.h */
#include "gpunb/tree/moving_rates.h"

/* ---- expansions */

/** Memory of a team that makes one. */
struct regular_memory {
    double product[TREE_MOST_LOCALS]; /* of the shift to the centre of a region */
    double shifted[TREE_MOST_LOCALS]; /* the expansion of the region around there */
    float of_warp[TREE_WARPS][TREE_MOST_LOCALS];
};

/* Moments of a cell, which are loaded four at a time. */
enum { REGULAR_ROW = TREE_MOST_LOCALS - 4 };
TREE_FN void regular_load_row(const float *from, float row[REGULAR_ROW])
{
    TREE_UNROLL
    for (int k = 0; k < REGULAR_ROW; k += 4) {
        const struct regular_four four = *(const struct regular_four *)(from + k);
        for (int q = 0; q < 4; q++) row[k + q] = four.of[q];
    }
}

/* The cell of a lane, in units of the region. */
struct regular_mover {
    float d[TREE_MOST_LOCALS], power[TREE_MOST_LOCAL + 1], rate_power[TREE_MOST_LOCAL + 1], u[3];
    float moment[REGULAR_ROW], rate[REGULAR_ROW];
};

/* A lane without a cell has one without mass. */
TREE_FN void regular_load(const struct device_regular_tree *t, const struct regular_bounds *bounds, int32_t c,
                          int is_there, const int is_rate, struct regular_mover *to)
{
    const struct tree_node *node = &t->tree.view.node[c];
    const double per_unit = 1 / bounds->unit, per_speed = 1 / regular_speed(t);
    float x[3], r2 = 0;
    for (int k = 0; k < 3; k++) {
        x[k] = (float)((bounds->centre[k] - node->centre[k]) * per_unit);
        to->u[k] = (float)((t->motion[c].v[k] - bounds->v[k]) * per_speed);
        r2 = TERM_FMA(x[k], x[k], r2);
    }
    const float inverse = nbc_inverse_root(r2), ratio = node->radius * (float)per_unit;
    for (int k = 0; k < 3; k++) x[k] *= inverse;
    to->power[0] = is_there ? node->mass * inverse : 0;
    to->rate_power[0] = to->rate_power[1] = to->power[0] * (float)(t->motion[c].speed * per_speed);
    TREE_UNROLL
    for (int n = 1; n <= TREE_MOST_LOCAL; n++) to->power[n] = to->power[n - 1] * ratio;
    TREE_UNROLL
    for (int n = 2; n <= TREE_MOST_LOCAL; n++) to->rate_power[n] = to->rate_power[n - 1] * ratio;
    regular_load_row((const float *)t->tree.view.moment + (size_t)c * (size_t)t->tree.view.moments, to->moment);
    if (is_rate) regular_load_row(t->rate + (size_t)c * (size_t)t->tree.view.moments, to->rate);
    local_derivatives(x, TREE_MOST_LOCAL, to->d);
    local_scale(inverse, TREE_MOST_LOCAL, to->d);
}

/* The sums of all lanes, an expansion. */
TREE_FN void regular_keep(struct regular_memory *m, float sum[TREE_OWN][TREE_MOST_LOCALS], float *to)
{
#ifdef __CUDACC__
    tree_sync();
    TREE_UNROLL
    for (int a = 0; a < TREE_MOST_LOCALS; a++) {
        float all = sum[0][a];
        TREE_UNROLL
        for (int half = TREE_WARP / 2; half > 0; half /= 2) all += __shfl_xor_sync(0xffffffffu, all, half);
        if (threadIdx.x % TREE_WARP == 0) m->of_warp[threadIdx.x % TREE_TEAM / TREE_WARP][a] = all;
    }
    tree_sync();
    TREE_EACH(a, TREE_MOST_LOCALS)
    {
        double all = 0;
        for (int k = 0; k < TREE_WARPS; k++) all += (double)m->of_warp[k][a];
        to[a] = (float)all;
    }
    tree_sync();
#else
    (void)m;
    for (int a = 0; a < TREE_MOST_LOCALS; a++) {
        double all = 0;
        for (int l = 0; l < TREE_OWN; l++) all += (double)sum[l][a];
        to[a] = (float)all;
    }
#endif
}

/* The cells that act on a region, as an expansion or as its rate. */
TREE_FN void regular_sum_cells(const struct device_regular_tree *t, struct regular_memory *m, int32_t number,
                               const int is_rate)
{
    struct regular_region *region = &t->region[number];
    const int32_t *acting = t->acting + (size_t)number * REGULAR_LEFT;
    const int n = region->n_acting;
    float sum[TREE_OWN][TREE_MOST_LOCALS];
    TREE_UNROLL
    for (int l = 0; l < TREE_OWN; l++) {
        TREE_UNROLL
        for (int a = 0; a < TREE_MOST_LOCALS; a++) sum[l][a] = 0;
    }
    TREE_UNROLL_BY(1)
    for (int first = 0; first < n; first += TREE_TEAM) {
        TREE_UNROLL
        for (int l = 0; l < TREE_OWN; l++) {
            const int at = first + TREE_LANE_OF(l);
            struct regular_mover mover;
            if (TREE_WIDTH == 1 && at >= n) continue;
            regular_load(t, &region->bounds, acting[at < n ? at : n - 1], at < n, is_rate, &mover);
            if (is_rate) {
                moving_add_rates(mover.moment, mover.rate, mover.u, mover.power, mover.rate_power, mover.d,
                                 TREE_MOST_LOCAL, sum[l]);
            } else {
                local_add_moment(mover.power[0], mover.d, TREE_MOST_LOCAL, 0, 0, 0, sum[l]);
                local_add_some(mover.moment, 0, tree_components_below(TREE_MOST_LOCAL + 1) - tree_components_below(2),
                               mover.d, mover.power, TREE_MOST_LOCAL, sum[l]);
            }
        }
    }
    regular_keep(m, sum, is_rate ? region->rate : region->local);
}

/* Two functions, each of which is straight code. */
TREE_FN_APART void regular_sum_fields(const struct device_regular_tree *t, struct regular_memory *m, int32_t number)
{
    regular_sum_cells(t, m, number, 0);
}
TREE_FN_APART void regular_sum_rates(const struct device_regular_tree *t, struct regular_memory *m, int32_t number)
{
    regular_sum_cells(t, m, number, 1);
}

/** The expansion of the cells that act on a region, by a team. */
TREE_FN void regular_expand(const struct device_regular_tree *t, struct regular_memory *m, int32_t number)
{
    regular_sum_fields(t, m, number);
    regular_sum_rates(t, m, number);
}

/** The expansion of the region around is added: moving_shift, by components. */
TREE_FN void regular_add_around(const struct device_regular_tree *t, struct regular_memory *m, int32_t number)
{
    const struct tree_tables *tables = t->tree.tables;
    struct regular_region *region = &t->region[number];
    if (region->around == REGULAR_NONE) return;
    const struct regular_region *around = &t->region[region->around];
    const struct regular_bounds *own = &region->bounds, *old = &around->bounds;
    const double ratio = own->unit / old->unit;
    double u[3], v[3], rate[(TREE_MOST_LOCALS + TREE_WIDTH - 1) / TREE_WIDTH];
    for (int k = 0; k < 3; k++) {
        u[k] = (own->centre[k] - old->centre[k]) / old->unit;
        v[k] = (own->v[k] - old->v[k]) / regular_speed(t);
    }
    tree_powers(tables, u, TREE_MOST_LOCAL, m->product);
    TREE_EACH(a, TREE_MOST_LOCALS) m->product[a] *= tables->inverse[a];
    tree_sync();
    int own_at = 0;
    TREE_EACH(a, TREE_MOST_LOCALS)
    {
        const int b = tables->b[a], c = tables->c[a],
                  most = tree_components_below(TREE_MOST_LOCAL - tables->rank[a] + 1);
        double sum = 0, sum_rate = 0;
        for (int p = 0; p < most; p++) {
            const int at = tree_components_below(tables->rank[a] + tables->rank[p]) +
                           tree_place(b + tables->b[p], c + tables->c[p]);
            sum += m->product[p] * (double)around->local[at];
            sum_rate += m->product[p] * (double)around->rate[at];
        }
        m->shifted[a] = sum;
        rate[own_at++] = sum_rate;
    }
    tree_sync();
    own_at = 0;
    TREE_EACH(a, TREE_MOST_LOCALS)
    {
        const int rank = tables->rank[a], b = tables->b[a], c = tables->c[a];
        const double *next = m->shifted + tree_components_below(rank + 1);
        double power = ratio, turned = rate[own_at++];
        if (rank < TREE_MOST_LOCAL)
            turned +=
                v[0] * next[tree_place(b, c)] + v[1] * next[tree_place(b + 1, c)] + v[2] * next[tree_place(b, c + 1)];
        for (int k = 0; k < rank; k++) power *= ratio;
        region->local[a] = (float)((double)region->local[a] + m->shifted[a] * power);
        region->rate[a] = (float)((double)region->rate[a] + turned * power * ratio);
    }
    tree_sync();
}

/* ---- walks */

/* Cells that act on all targets go to one list, those that are kept to another; if the first has no room, they are kept
 * as well.   @return 0: there is no room on the second */
TREE_FN int regular_take_cells(struct regular_slot slot[TREE_OWN], int32_t *acting, int32_t *n_acting, int32_t *kept,
                               int32_t *n_kept)
{
    int32_t before[TREE_OWN], keeping[TREE_OWN];
    TREE_UNROLL
    for (int l = 0; l < TREE_OWN; l++) before[l] = slot[l].kind == REGULAR_ACTS;
    const int32_t all_acting = tree_lanes_before(before), has_room = *n_acting + all_acting <= REGULAR_LEFT;
    TREE_UNROLL
    for (int l = 0; l < TREE_OWN; l++) {
        if (slot[l].kind == REGULAR_ACTS && !has_room) slot[l].kind = REGULAR_KEPT;
        keeping[l] = slot[l].kind == REGULAR_KEPT;
    }
    const int32_t all_kept = tree_lanes_before(keeping);
    if (*n_kept + all_kept > REGULAR_LEFT) return 0;
    TREE_UNROLL
    for (int l = 0; l < TREE_OWN; l++) {
        if (slot[l].kind == REGULAR_ACTS) acting[*n_acting + before[l]] = slot[l].cell;
        if (slot[l].kind == REGULAR_KEPT) kept[*n_kept + keeping[l]] = slot[l].cell;
    }
    if (has_room) *n_acting += all_acting;
    *n_kept += all_kept;
    return 1;
}

/** The bounds and the lists of a region, by a team. */
TREE_FN void regular_walk_region(const struct device_regular_tree *t, struct regular_walk_memory *m, int32_t number)
{
    const int32_t c = t->region_cell[number];
    const struct tree_cell *cell = &t->tree.view.cell[c];
    const int32_t first = regular_target_at(t, cell->first), end = regular_target_at(t, cell->first + cell->count);
    struct regular_region *region = &t->region[number];
    struct regular_walk w;
    struct regular_slot slot[TREE_OWN];
    int has_room, fits = 1;
    int32_t n_kept = 0, n_acting = 0;
    regular_begin(&w, t, &m->bounds, m->stack, first, end - first);
    const struct regular_region *around = regular_region_around(t, t->parent[c], &w.list, &w.n);
    regular_bound(&w, c);
    regular_find_scale(&w, 0);
    for (int n = regular_pop(&w, slot, &has_room); n > 0 && fits; n = regular_pop(&w, slot, &has_room)) {
        TREE_UNROLL
        for (int l = 0; l < TREE_OWN; l++)
            if (TREE_LANE_OF(l) < n) slot[l].kind = regular_kind_of(&w, slot[l].cell, has_room);
        regular_push(&w, slot);
        fits = regular_take_cells(slot, t->acting + (size_t)number * REGULAR_LEFT, &n_acting,
                                  t->left + (size_t)number * REGULAR_LEFT, &n_kept);
    }
    regular_count(&w, DEVICE_TREE_TESTS, w.tests);
    regular_count(&w, DEVICE_TREE_LOCAL_TERMS, fits ? (unsigned)n_acting : 0);
    if (TREE_OWN_LANE > 0) return;
    region->bounds = *w.bounds;
    region->n = fits ? n_kept : REGULAR_NONE;
    region->n_acting = fits ? n_acting : 0;
    region->around = around ? (int32_t)(around - t->region) : REGULAR_NONE;
}

#endif
