/** The expansion about the centre of a region (gpunb/tree/local.h): cells that act on all its targets as a whole wait
 * in a pile, and each lane sums some of them. */
#ifndef GPUNB_DEVICE_TREE_LOCAL_H
#define GPUNB_DEVICE_TREE_LOCAL_H

#include "gpunb/device/tree_piles.h"

#include "gpunb/tree/local.h"

/** The region that an expansion is of. */
struct tree_local_centre {
    const struct tree_view *view;
    struct tree_walk_memory *memory;
    double x[3];
    float reach, per_reach; /**< of its targets from x */
    float softening2, mass; /**< mass: of all bodies */
};

/** The cell of a lane, and the sums of the lane. */
struct tree_local_lane {
    float d[TREE_MOST_LOCALS], sum[TREE_MOST_LOCALS];
    float power[TREE_MOST_LOCAL + 1]; /**< mass/R (radius/reach)^n */
};

/* Derivatives of a lane's cell, and its mass; a lane without a cell has none. */
TREE_FN void tree_begin_local(const struct tree_local_centre *at, int32_t cell, int is_there,
                              struct tree_local_lane *lane)
{
    const struct tree_node *node = &at->view->node[cell];
    float u[3], r2 = at->softening2;
    for (int k = 0; k < 3; k++) {
        u[k] = (float)(at->x[k] - node->centre[k]);
        r2 = TERM_FMA(u[k], u[k], r2);
    }
    const float inverse = nbc_inverse_root(r2);
    for (int k = 0; k < 3; k++) u[k] *= inverse;
    lane->power[0] = is_there ? node->mass * at->mass * inverse : 0;
    TREE_UNROLL
    for (int n = 1; n <= TREE_MOST_LOCAL; n++) lane->power[n] = lane->power[n - 1] * (node->radius * at->per_reach);
    local_derivatives(u, TREE_MOST_LOCAL, lane->d);
    local_scale(at->reach * inverse, TREE_MOST_LOCAL, lane->d);
    local_add_moment(lane->power[0], lane->d, TREE_MOST_LOCAL, 0, 0, 0, lane->sum);
}

/* Moments [first, first + count) of the cells of all lanes, in memory; both are multiples of four. */
TREE_FN void tree_stage_moments(const struct tree_local_centre *at, const int32_t *cell, int n, const int first,
                                const int count)
{
    const int quads = count / 4;
    tree_sync();
    TREE_UNROLL_BY(8)
    for (int q = TREE_OWN_LANE; q < n * quads; q += TREE_WIDTH) {
        const int i = q / quads, part = q % quads * 4;
        *(struct tree_four *)&at->memory->moment[i][part] =
            *(const struct tree_four *)((const float *)at->view->moment + (size_t)cell[i] * (size_t)at->view->moments +
                                        (size_t)(first + part));
    }
    tree_sync();
}

/* As many cells as there are lanes. Moments, of ranks 2 to `top`, come in pieces. */
TREE_FN void tree_add_locals(const struct tree_local_centre *at, const int32_t *cell, int n, const int top,
                             struct tree_local_lane lane[TREE_OWN])
{
    const int all = tree_components_below(top + 1) - tree_components_below(2);
    TREE_UNROLL
    for (int l = 0; l < TREE_OWN; l++) {
        const int number = TREE_LANE_OF(l);
        tree_begin_local(at, cell[number < n ? number : n - 1], number < n, &lane[l]);
    }
    TREE_UNROLL
    for (int first = 0; first < all; first += TREE_LOCAL_FLOATS) {
        const int end = all - first < TREE_LOCAL_FLOATS ? all : first + TREE_LOCAL_FLOATS,
                  count = DEVICE_TREE_ROW(end - first);
        tree_stage_moments(at, cell, n, first, count);
        TREE_UNROLL
        for (int l = 0; l < TREE_OWN; l++) {
            const int number = TREE_LANE_OF(l) < n ? TREE_LANE_OF(l) : n - 1;
            float moment[TREE_LOCAL_FLOATS];
            TREE_UNROLL
            for (int q = 0; q < count; q += 4)
                *(struct tree_four *)&moment[q] = *(const struct tree_four *)&at->memory->moment[number][q];
            local_add_some(moment, first, end, lane[l].d, lane[l].power, TREE_MOST_LOCAL, lane[l].sum);
        }
    }
}

/* The sums of all lanes onto the expansion. */
TREE_FN void tree_keep_locals(struct tree_walk_memory *memory, const struct tree_local_lane lane[TREE_OWN])
{
#ifdef __CUDACC__
    tree_sync();
    TREE_UNROLL
    for (int m = 0; m < TREE_MOST_LOCALS; m++) {
        float sum = lane[0].sum[m];
        TREE_UNROLL
        for (int half = TREE_WARP / 2; half > 0; half /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, half);
        if (threadIdx.x % TREE_WARP == 0) memory->of_warp[threadIdx.x / TREE_WARP][m] = sum;
    }
    tree_sync();
    TREE_EACH(m, TREE_MOST_LOCALS)
    for (int k = 0; k < TREE_WARPS; k++) memory->local_sum[m] += (double)memory->of_warp[k][m];
#else
    for (int l = 0; l < TREE_OWN; l++)
        for (int m = 0; m < TREE_MOST_LOCALS; m++) memory->local_sum[m] += (double)lane[l].sum[m];
#endif
    tree_sync();
}

/* The cells that wait, with moments to rank `top`, onto the expansion. */
TREE_FN void tree_sum_cells(const struct tree_local_centre *at, int n, const int top)
{
    const int32_t *cell = at->memory->cell;
    struct tree_local_lane lane[TREE_OWN];
    TREE_UNROLL
    for (int l = 0; l < TREE_OWN; l++) {
        TREE_UNROLL
        for (int m = 0; m < TREE_MOST_LOCALS; m++) lane[l].sum[m] = 0;
    }
    TREE_UNROLL_BY(1)
    for (int first = 0; first < n; first += TREE_TEAM)
        tree_add_locals(at, cell + first, n - first < TREE_TEAM ? n - first : TREE_TEAM, top, lane);
    tree_keep_locals(at->memory, lane);
}

/* A function for each rank of moments, whose loops over ranks are straight code. */
#define TREE_LOCAL_TOP(top)                                                                                            \
    TREE_FN_APART void tree_sum_cells_##top(struct tree_local_centre at, int n)                                        \
    {                                                                                                                  \
        tree_sum_cells(&at, n, top);                                                                                   \
    }
TREE_LOCAL_TOP(3)
TREE_LOCAL_TOP(4)
TREE_LOCAL_TOP(5)
TREE_LOCAL_TOP(6)
#undef TREE_LOCAL_TOP

TREE_FN void tree_sum_cells_of(const struct tree_local_centre *at, int n, const int order)
{
    tree_sync();
    if (order == 1)
        tree_sum_cells_3(*at, n);
    else if (order == 2)
        tree_sum_cells_4(*at, n);
    else if (order == 3)
        tree_sum_cells_5(*at, n);
    else
        tree_sum_cells_6(*at, n);
}

/** The field of the region's expansion at the targets of a group, by the first lane of each. */
TREE_FN void tree_add_field(const struct tree_group_walk *w, const struct tree_targets *t, const int want_pot)
{
    const struct device_tree_region *region = w->region;
    float shift[3];
    tree_sync();
    TREE_EACH(m, TREE_MOST_LOCALS) w->memory->local[m] = region->local[m];
    for (int k = 0; k < 3; k++) shift[k] = (float)(w->centre[k] - region->centre[k]);
    tree_sync();
    TREE_UNROLL
    for (int l = 0; l < TREE_OWN; l++) {
        float u[3], sum[TREE_WALK_SUMS];
        if (TREE_LANE_OF(l) >= w->row) continue;
        for (int k = 0; k < 3; k++) u[k] = (t->x[l][k] + shift[k]) * region->per_reach;
        local_sums(w->memory->local, u, TREE_MOST_LOCAL, sum, &sum[3]);
        for (int k = 0; k < 3; k++) sum[k] *= region->per_reach;
        tree_keep(w, l, sum, want_pot);
    }
    tree_sync();
}

#endif
