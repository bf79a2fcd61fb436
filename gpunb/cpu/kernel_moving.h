/* Expansions of moving cells (gpunb/tree/moving.h), for cells in lanes; included after kernel_local.h. */
#ifndef GPUNB_CPU_KERNEL_MOVING_H
#define GPUNB_CPU_KERNEL_MOVING_H

#include "gpunb/cpu/kernel_local.h"

#include "gpunb/tree/moving.h"

enum { MOVING_MOMENTS = TREE_MOST_LOCALS - 4 };

/* As many cells as there are lanes. */
struct moving_cells {
    _Alignas(64) float at[3][SIMD_W], v[3][SIMD_W], mass[SIMD_W], radius[SIMD_W], speed[SIMD_W];
    _Alignas(64) float moment[MOVING_MOMENTS][SIMD_W], rate[MOVING_MOMENTS][SIMD_W];
};

/* Lanes without a cell have the last one without mass. */
static inline void take_movers(const struct gpunb_tree_mover *mover, size_t n, struct moving_cells *cells)
{
    for (size_t l = 0; l < SIMD_W; l++) {
        const struct gpunb_tree_mover *cell = &mover[l < n ? l : n - 1];
        const float *moment = cell->moments, *rate = cell->rates;
        for (int k = 0; k < 3; k++) {
            cells->at[k][l] = (float)-cell->at[k];
            cells->v[k][l] = (float)cell->v[k];
        }
        cells->mass[l] = l < n ? (float)cell->mass : 0;
        cells->radius[l] = (float)cell->radius;
        cells->speed[l] = (float)cell->speed;
        for (int m = 0; m < MOVING_MOMENTS; m++) {
            cells->moment[m][l] = moment[m];
            cells->rate[m][l] = rate[m];
        }
    }
}

static __attribute__((noinline)) void add_moving_lanes(const struct moving_cells *cells, float unit, vf *local,
                                                       vf *local_rate)
{
    vf x[3], v[3], r2 = vf_set1(0.0f), moment[MOVING_MOMENTS], rate[MOVING_MOMENTS];
    for (int k = 0; k < 3; k++) {
        x[k] = vf_load(cells->at[k]);
        v[k] = vf_load(cells->v[k]);
        r2 = vf_fma(x[k], x[k], r2);
    }
    const vf inverse = vf_inverse_root(r2);
    for (int k = 0; k < 3; k++) x[k] = x[k] * inverse;
    for (int m = 0; m < MOVING_MOMENTS; m++) {
        moment[m] = vf_load(cells->moment[m]);
        rate[m] = vf_load(cells->rate[m]);
    }
    moving_add_cell(moment, rate, x, v, vf_load(cells->mass) * inverse, vf_set1(unit) * inverse,
                    vf_load(cells->radius) * vf_set1(1 / unit), vf_load(cells->speed), TREE_MOST_LOCAL, local,
                    local_rate);
}

static void add_moving(const struct gpunb_tree_mover *mover, size_t n, double unit, struct gpunb_tree_field *field)
{
    vf local[TREE_LOCAL_ROOM], rate[TREE_LOCAL_ROOM];
    for (int m = 0; m < TREE_LOCAL_ROOM; m++) local[m] = rate[m] = vf_set1(0.0f);
    for (size_t c = 0; c < n; c += SIMD_W) {
        struct moving_cells cells;
        take_movers(mover + c, n - c, &cells);
        add_moving_lanes(&cells, (float)unit, local, rate);
    }
    _Alignas(64) float lanes[8][SIMD_W];
    for (int m = 0; m < TREE_LOCAL_ROOM; m += 8) {
        for (int k = 0; k < 8; k++) vf_store(lanes[k], local[m + k]);
        vf_add_totals(&field->local[m], lanes[0]);
        for (int k = 0; k < 8; k++) vf_store(lanes[k], rate[m + k]);
        vf_add_totals(&field->rate[m], lanes[0]);
    }
}

#endif
