/* Sums of the lists of a tree: targets are in lanes, and all of them meet one cell, or body, after the other. Needs
 * from simd_*.h what kernel_softened.h does. */
#ifndef GPUNB_CPU_KERNEL_TREE_H
#define GPUNB_CPU_KERNEL_TREE_H

#include "gpunb/cpu/kernel_softened.h"
#include "gpunb/tree/method.h"

#define TERM_REAL vf
#define TERM_FMA(a, b, c) vf_fma(a, b, c)
#define TERM_SET(number) vf_set1(number)
#define TERM_NUMBER float
#define TERM_FUNCTION static inline __attribute__((always_inline))
#include "gpunb/tree/term.h"

/* Coordinates of some targets from the centre of their group, as two floats. */
struct tree_lanes {
    vf high[3], low[3];
};

static inline __attribute__((always_inline)) struct tree_lanes tree_lanes_at(const struct gpunb_tree_targets *t,
                                                                             size_t i)
{
    struct tree_lanes lanes;
    _Alignas(64) float high[SIMD_W], low[SIMD_W];
    for (int k = 0; k < 3; k++) {
        for (int l = 0; l < SIMD_W; l++) gpunb_split(t->x[k][i + (size_t)l], &high[l], &low[l]);
        lanes.high[k] = vf_load(high);
        lanes.low[k] = vf_load(low);
    }
    return lanes;
}

static inline void add_lanes(const struct gpunb_tree_targets *t, int sum, size_t i, vf value, double unit)
{
    double *to = t->sum[sum] + i;
    _Alignas(64) float lane[SIMD_W];
    vf_store(lane, value);
    for (int l = 0; l < SIMD_W; l++) to[l] += (double)lane[l] * unit;
}

/* ---- cells */

/* A cell in floats, as all targets read it. */
struct tree_cell_floats {
    float at[3], mass, radius;
    const float *coefficient;
};

static inline __attribute__((always_inline)) void add_cells(const struct gpunb_tree_targets *targets, size_t i,
                                                            const struct tree_cell_floats *cell, size_t n,
                                                            const int order, const int want_pot)
{
    const vf softening2 = vf_set1((float)targets->softening2), zero = vf_set1(0.0f);
    const struct tree_lanes lanes = tree_lanes_at(targets, i);
    vf acc[3] = {zero, zero, zero}, pot = zero;
    for (size_t c = 0; c < n; c++) {
        vf x[3], u[3], g[3], radial, psi;
        for (int k = 0; k < 3; k++) x[k] = lanes.high[k] - vf_set1(cell[c].at[k]);
        const vf r2 = vf_fma(x[2], x[2], vf_fma(x[1], x[1], vf_fma(x[0], x[0], softening2)));
        const vf inverse = vf_inverse_root(r2), mr = vf_set1(cell[c].mass) * inverse, mr2 = mr * inverse;
        for (int k = 0; k < 3; k++) u[k] = x[k] * inverse;
        term_sums(cell[c].coefficient, u, vf_set1(cell[c].radius) * inverse, order, want_pot, g, &radial, &psi);
        for (int k = 0; k < 3; k++) acc[k] = vf_fma(mr2, vf_fnma(radial, u[k], g[k]), acc[k]);
        if (want_pot) pot = vf_fma(mr, psi, pot);
    }
    for (int k = 0; k < 3; k++) add_lanes(targets, k, i, acc[k], 1.0);
    if (want_pot) add_lanes(targets, 3, i, pot, 1.0);
}

static inline __attribute__((always_inline)) void add_cells_to_all(const struct gpunb_tree_targets *targets,
                                                                   const struct tree_cell_floats *cell, size_t n,
                                                                   const int order)
{
    for (size_t i = 0; i < targets->n; i += SIMD_W)
        if (targets->want_pot)
            add_cells(targets, i, cell, n, order, 1);
        else
            add_cells(targets, i, cell, n, order, 0);
}

#if KERNEL_COPIES
/* A function for each order, so that loops over ranks are no loops. */
#define TREE_ORDER(order)                                                                                              \
    static __attribute__((noinline)) void add_terms_##order(const struct gpunb_tree_targets *targets,                  \
                                                            const struct tree_cell_floats *cell, size_t n)             \
    {                                                                                                                  \
        add_cells_to_all(targets, cell, n, order);                                                                     \
    }
TREE_ORDER(1)
TREE_ORDER(2)
TREE_ORDER(3)
TREE_ORDER(4)
TREE_ORDER(5)
TREE_ORDER(6)
TREE_ORDER(7)
TREE_ORDER(8)
#undef TREE_ORDER
static void (*const add_terms_of[])(const struct gpunb_tree_targets *, const struct tree_cell_floats *, size_t) = {
    add_terms_1, add_terms_2, add_terms_3, add_terms_4, add_terms_5, add_terms_6, add_terms_7, add_terms_8};
#endif

static void add_terms(const struct gpunb_tree_targets *targets, int order, const struct gpunb_tree_term *term, size_t n)
{
    struct tree_cell_floats cell[TREE_TERMS];
    for (size_t c = 0; c < n; c++) {
        for (int k = 0; k < 3; k++) cell[c].at[k] = (float)term[c].at[k];
        cell[c].mass = (float)term[c].mass;
        cell[c].radius = (float)term[c].radius;
        cell[c].coefficient = term[c].numbers;
    }
#if KERNEL_COPIES
    add_terms_of[order - 1](targets, cell, n);
#else
    add_cells_to_all(targets, cell, n, order);
#endif
}

/* ---- bodies */

struct tree_body_floats {
    float high[3], low[3], mass;
};

/* Sums of floats are added to those in double after so many bodies. */
enum { TREE_STRETCH = 64 };

/* Bodies [j, end) on `blocks` vectors of targets. `own`: of each target, minus j, as floats. */
static inline __attribute__((always_inline)) void add_stretch(const struct tree_lanes *lanes, const vf *own,
                                                              const struct tree_body_floats *body, size_t n,
                                                              vf softening2, const int is_near, const int want_pot,
                                                              const int blocks, struct softened_sums *total)
{
    struct softened_sums sums[SOFTENED_BLOCK];
    const vf zero = vf_set1(0.0f);
    for (int b = 0; b < blocks; b++) sums[b] = (struct softened_sums){zero, zero, zero, zero};
    for (size_t j = 0; j < n; j++) {
        const vf mass = vf_set1(body[j].mass);
#pragma GCC unroll 4
        for (int b = 0; b < blocks; b++) {
            vf d[3];
            for (int k = 0; k < 3; k++) {
                d[k] = lanes[b].high[k] - vf_set1(body[j].high[k]);
                if (is_near) d[k] = d[k] + (lanes[b].low[k] - vf_set1(body[j].low[k]));
            }
            const vf others =
                own ? vf_unless(vm_not_above(vf_abs(own[b] - vf_set1((float)j)), vf_set1(0.5f)), mass) : mass;
            add_softened(d[0], d[1], d[2], others, softening2, want_pot, &sums[b]);
        }
    }
    for (int b = 0; b < blocks; b++) total[b] = sums[b];
}

static inline __attribute__((always_inline)) void add_bodies_to(const struct gpunb_tree_targets *targets, size_t i,
                                                                const struct gpunb_tree_bodies *bodies,
                                                                const struct tree_body_floats *body, const int is_near,
                                                                const int want_pot, const int blocks)
{
    const vf softening2 = vf_set1((float)targets->softening2);
    struct tree_lanes lanes[SOFTENED_BLOCK];
    for (int b = 0; b < blocks; b++) lanes[b] = tree_lanes_at(targets, i + (size_t)(b * SIMD_W));
    for (size_t j = 0; j < bodies->n; j += TREE_STRETCH) {
        const size_t left = bodies->n - j, n = left < TREE_STRETCH ? left : TREE_STRETCH;
        struct softened_sums sums[SOFTENED_BLOCK];
        if (want_pot && bodies->own) {
            vf own[SOFTENED_BLOCK];
            for (int b = 0; b < blocks; b++) {
                _Alignas(64) float lane[SIMD_W];
                for (int l = 0; l < SIMD_W; l++)
                    lane[l] = (float)(bodies->own[i + (size_t)(b * SIMD_W + l)] - bodies->first - (int32_t)j);
                own[b] = vf_load(lane);
            }
            add_stretch(lanes, own, body + j, n, softening2, is_near, 1, blocks, sums);
        } else
            add_stretch(lanes, NULL, body + j, n, softening2, is_near, want_pot, blocks, sums);
        for (int b = 0; b < blocks; b++) {
            const size_t at = i + (size_t)(b * SIMD_W);
            add_lanes(targets, 0, at, sums[b].x, softened_unit(0));
            add_lanes(targets, 1, at, sums[b].y, softened_unit(0));
            add_lanes(targets, 2, at, sums[b].z, softened_unit(0));
            if (want_pot) add_lanes(targets, 3, at, sums[b].pot, softened_unit(1));
        }
    }
}

static inline __attribute__((always_inline)) void add_bodies_to_all(const struct gpunb_tree_targets *targets,
                                                                    const struct gpunb_tree_bodies *bodies,
                                                                    const struct tree_body_floats *body,
                                                                    const int is_near, const int want_pot)
{
    size_t i = 0;
    for (; i + SOFTENED_BLOCK * SIMD_W <= targets->n; i += SOFTENED_BLOCK * SIMD_W)
        add_bodies_to(targets, i, bodies, body, is_near, want_pot, SOFTENED_BLOCK);
    for (; i < targets->n; i += SIMD_W) add_bodies_to(targets, i, bodies, body, is_near, want_pot, 1);
}

static void add_bodies(const struct gpunb_tree_targets *targets, const struct gpunb_tree_bodies *bodies)
{
    struct tree_body_floats body[TREE_BODIES];
    for (size_t j = 0; j < bodies->n; j++) {
        for (int k = 0; k < 3; k++) gpunb_split(bodies->x[k][j], &body[j].high[k], &body[j].low[k]);
        body[j].mass = (float)bodies->mass[j];
    }
    KERNEL_BY_2(bodies->is_near, targets->want_pot, add_bodies_to_all, targets, bodies, body);
}

#endif
