/* Expansions about the centres of groups of targets (gpunb/tree/local.h), for cells in lanes; included after
 * kernel_tree.h. */
#ifndef GPUNB_CPU_KERNEL_LOCAL_H
#define GPUNB_CPU_KERNEL_LOCAL_H

#include "gpunb/cpu/kernel_tree.h"

#include "gpunb/tree/local.h"

/* Moments of as many cells as there are lanes. */
struct local_cells {
    _Alignas(64) float at[3][SIMD_W], mass[SIMD_W], radius[SIMD_W], moment[TREE_MOST_LOCALS][SIMD_W];
};

/* Lanes without a cell have the last one without mass. */
static inline void take_cells(const struct gpunb_tree_term *term, size_t n, int moments, struct local_cells *cells)
{
    for (size_t l = 0; l < SIMD_W; l++) {
        const struct gpunb_tree_term *cell = &term[l < n ? l : n - 1];
        const float *moment = cell->numbers;
        for (int k = 0; k < 3; k++) cells->at[k][l] = (float)-cell->at[k];
        cells->mass[l] = l < n ? (float)cell->mass : 0;
        cells->radius[l] = (float)cell->radius;
        for (int m = 0; m < moments; m++) cells->moment[m][l] = moment[m];
    }
}

static inline __attribute__((always_inline)) void add_locals_of(const struct gpunb_tree_term *term, size_t n,
                                                                double unit, double softening2, const int top,
                                                                double *local)
{
    const int moments = tree_components_below(top + 1) - tree_components_below(2);
    const vf size = vf_set1((float)unit), per_size = vf_set1((float)(1 / unit));
    vf sum[TREE_MOST_LOCALS];
    for (int m = 0; m < TREE_MOST_LOCALS; m++) sum[m] = vf_set1(0.0f);
    for (size_t c = 0; c < n; c += SIMD_W) {
        struct local_cells cells;
        vf u[3], moment[TREE_MOST_LOCALS], r2 = vf_set1((float)softening2);
        take_cells(term + c, n - c, moments, &cells);
        for (int k = 0; k < 3; k++) {
            u[k] = vf_load(cells.at[k]);
            r2 = vf_fma(u[k], u[k], r2);
        }
        const vf inverse = vf_inverse_root(r2);
        for (int k = 0; k < 3; k++) u[k] = u[k] * inverse;
        for (int m = 0; m < moments; m++) moment[m] = vf_load(cells.moment[m]);
        local_add_cell(moment, u, vf_load(cells.mass) * inverse, size * inverse, vf_load(cells.radius) * per_size, top,
                       TREE_MOST_LOCAL, sum);
    }
    _Alignas(64) float lanes[TREE_LOCAL_ROOM][SIMD_W];
    for (int m = 0; m < TREE_LOCAL_ROOM; m++) vf_store(lanes[m], m < TREE_MOST_LOCALS ? sum[m] : vf_set1(0.0f));
    for (int m = 0; m < TREE_LOCAL_ROOM; m += 8) vf_add_totals(&local[m], lanes[m]);
}

/* Functions for each rank of moments, so that loops over ranks are no loops. */
#define LOCAL_TOP(top)                                                                                                 \
    static __attribute__((noinline)) void add_locals_##top(const struct gpunb_tree_term *term, size_t n, double unit,  \
                                                           double softening2, double *local)                           \
    {                                                                                                                  \
        add_locals_of(term, n, unit, softening2, top, local);                                                          \
    }
LOCAL_TOP(3)
LOCAL_TOP(4)
LOCAL_TOP(5)
LOCAL_TOP(6)
#undef LOCAL_TOP

static void add_locals(const struct gpunb_tree_term *term, size_t n, int order, double unit, double softening2,
                       double *local)
{
    static void (*const of_order[])(const struct gpunb_tree_term *, size_t, double, double,
                                    double *) = {add_locals_3, add_locals_4, add_locals_5, add_locals_6};
    of_order[order < 4 ? order - 1 : 3](term, n, unit, softening2, local);
}

static void add_field(const struct gpunb_tree_targets *targets, double unit, const double *local)
{
    const vf per_size = vf_set1((float)(1 / unit));
    float numbers[TREE_MOST_LOCALS];
    for (int m = 0; m < TREE_MOST_LOCALS; m++) numbers[m] = (float)local[m];
    for (size_t i = 0; i < targets->n; i += SIMD_W) {
        const struct tree_lanes lanes = tree_lanes_at(targets, i);
        vf u[3], acc[3], psi;
        for (int k = 0; k < 3; k++) u[k] = lanes.high[k] * per_size;
        local_sums(numbers, u, TREE_MOST_LOCAL, acc, &psi);
        for (int k = 0; k < 3; k++) add_lanes(targets, k, i, acc[k], 1 / unit);
        if (targets->want_pot) add_lanes(targets, 3, i, psi, 1.0);
    }
}

#endif
