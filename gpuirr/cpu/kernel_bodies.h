/* Bodies in vectors, one in each lane: their rows, fetched before they are needed, and their prediction. Part of
 * kernel.h, which says what the including file has to define. */
#ifndef GPUIRR_CPU_KERNEL_BODIES_H
#define GPUIRR_CPU_KERNEL_BODIES_H

#include "gpuirr/cpu/compact.h"
#include "gpuirr/pair.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { AHEAD = 48 / SIMD_W }; /* vectors of neighbours whose rows are fetched before they are needed */

/* Kernels keep sums in registers only where all of this is inlined. Structs are filled number by number: gcc 12 clears
 * what an initialiser leaves out in memory, bytewise. */
#define INLINE static inline __attribute__((always_inline))

/* ---- prediction */

/* Bodies at the time of the batch. */
struct bodies {
    vf high[3], low[3], v[3], m;
    vf d2; /* square of the distance that the predictor went */
};

INLINE const float *row_at(const float *rows, int32_t i)
{
    return rows + (size_t)(uint32_t)i * GPUIRR_ROW;
}

/* Half of the rows of a vector of bodies. */
INLINE void fetch_half(const float *rows, const int32_t *index, int half)
{
#pragma GCC unroll 8
    for (int l = half * SIMD_W / 2; l < (half + 1) * SIMD_W / 2; l++) __builtin_prefetch(row_at(rows, index[l]));
}

/* The predictor of gpuirr.h, by Horner's rule. All predictions are made here, so that they have the same bits
 * whether stored or not. The half with the time is read first: all else depends on it. */
INLINE struct bodies predict_lanes(const float *const *row, double t)
{
    struct bodies p;
    vf first[8], second[7], d[3];
    vf_half_since(row, t, second);
    vf_half(row, first);
    const vf s = second[6], s2 = s + s, s3_2 = vf_set1(1.5f) * s;
    for (int k = 0; k < 3; k++) {
        const vf v = first[4 + k], acc2 = second[k], jerk6 = second[3 + k];
        d[k] = s * vf_fma(s, vf_fma(s, jerk6, acc2), v);
        p.v[k] = vf_fma(s2, vf_fma(s3_2, jerk6, acc2), v);
    }
    for (int k = 0; k < 3; k++) {
        p.high[k] = first[k];
        p.low[k] = vf_low(first[7], k, first[k], d[k]);
    }
    p.m = first[3];
    p.d2 = vf_fma(d[2], d[2], vf_fma(d[1], d[1], d[0] * d[0]));
    return p;
}

INLINE struct bodies stored_lanes(const float *const *row)
{
    struct bodies p;
    vf first[8], low[4];
    vf_half(row, first);
    vf_part(row, 2, low);
    p.m = first[3];
    p.d2 = first[7];
    for (int k = 0; k < 3; k++) {
        p.high[k] = first[k];
        p.low[k] = low[k];
        p.v[k] = first[4 + k];
    }
    return p;
}

/* The bodies index[0..SIMD_W). */
INLINE struct bodies get_bodies(const float *rows, double t, const int predicted, const int32_t *index)
{
    const float *row[SIMD_W];
#pragma GCC unroll 16
    for (int l = 0; l < SIMD_W; l++) row[l] = row_at(rows, index[l]);
    return predicted ? stored_lanes(row) : predict_lanes(row, t);
}

/* Walks through a batch, a vector of neighbours at a time, across the ends of lists. At the end of the batch it stays
 * with the last one. */
struct cursor {
    size_t next; /* task */
    const int32_t *at;
    uint32_t left; /* neighbours of the list from `at` on */
};

static inline int is_for_double(const struct gpuirr_batch *batch, const struct gpuirr_task *task)
{
    return task->nnb < GPUIRR_SHORT_LIST || batch->in_double;
}

INLINE void advance(struct cursor *cursor, const struct gpuirr_batch *batch)
{
    if (cursor->left > SIMD_W) {
        cursor->at += SIMD_W;
        cursor->left -= SIMD_W;
        return;
    }
    while (cursor->next < batch->n) {
        const struct gpuirr_task *task = &batch->task[cursor->next++];
        if (is_for_double(batch, task)) continue;
        cursor->at = task->nblist;
        cursor->left = task->nnb;
        return;
    }
}

INLINE void begin_fetching(struct cursor *cursor, const float *rows, const struct gpuirr_batch *batch)
{
    static const int32_t none[SIMD_W]; /* for batches in double alone */
    cursor->next = 0;
    cursor->at = none;
    cursor->left = 0;
    for (int v = 0; v < AHEAD; v++) {
        advance(cursor, batch);
        for (int half = 0; half < 2; half++) fetch_half(rows, cursor->at, half);
    }
}

/* ---- bodies that are predicted for their own sake */

static void predict_range(void *memory, size_t lo, size_t hi, double t)
{
    struct gpuirr_compact *store = memory;
    for (size_t first = lo; first < hi; first += SIMD_W) {
        const size_t n = hi - first < SIMD_W ? hi - first : SIMD_W;
        int32_t index[SIMD_W];
        for (size_t l = 0; l < SIMD_W; l++) index[l] = (int32_t)(first + (l < n ? l : n - 1));
        const struct bodies p = get_bodies(store->row, t, 0, index);
        const vf part[3][4] = {{p.high[0], p.high[1], p.high[2], p.m},
                               {p.v[0], p.v[1], p.v[2], p.d2},
                               {p.low[0], p.low[1], p.low[2], vf_set1(0.0f)}};
        _Alignas(64) float rest[SIMD_W * GPUIRR_ROW];
        float *out = store->pred + first * GPUIRR_ROW;
        for (int k = 0; k < 3; k++) vf_put_part(n < SIMD_W ? rest : out, k, part[k]);
        for (size_t l = 0; n < SIMD_W && l < n; l++)
            memcpy(out + l * GPUIRR_ROW, rest + l * GPUIRR_ROW, 12 * sizeof *out);
    }
}

/* The active bodies of a batch at its time. r2_min: closer pairs are not for floats. */
struct active {
    _Alignas(64) float high[3][GPUIRR_BATCH], low[3][GPUIRR_BATCH], v[3][GPUIRR_BATCH], r2_min[GPUIRR_BATCH];
};

/* Those of the tasks first and following: as many as a vector holds. */
static void get_active(const struct gpuirr_compact *store, const struct gpuirr_batch *batch, size_t first,
                       struct active *active)
{
    int32_t index[SIMD_W];
    for (size_t l = 0; l < SIMD_W; l++) index[l] = batch->task[first + l < batch->n ? first + l : batch->n - 1].i;
    const struct bodies p = get_bodies(store->row, batch->t, 0, index);
    for (int k = 0; k < 3; k++) {
        vf_store(active->high[k] + first, p.high[k]);
        vf_store(active->low[k] + first, p.low[k]);
        vf_store(active->v[k] + first, p.v[k]);
    }
    /* Stored positions are right to 2^-33 |x|: closer pairs than 2^-11 |x| are not resolved to float precision. */
    const vf x2 = vf_fma(p.high[2], p.high[2], vf_fma(p.high[1], p.high[1], p.high[0] * p.high[0]));
    vf_store(active->r2_min + first, vf_max(vf_max(vf_set1(GPUIRR_MIN_R2), p.d2), x2 * vf_set1(0x1p-22f)));
}

static inline void fetch_active(const struct gpuirr_compact *store, const struct gpuirr_batch *batch, size_t first)
{
    for (size_t b = first; b < first + SIMD_W && b < batch->n; b++)
        __builtin_prefetch(row_at(store->row, batch->task[b].i));
}

/* One active body in all lanes. */
struct target {
    vf high[3], low[3], v[3], r2_min;
};

INLINE struct target target_of(const struct active *active, size_t a)
{
    struct target i;
    i.r2_min = vf_set1(active->r2_min[a]);
    for (int k = 0; k < 3; k++) {
        i.high[k] = vf_set1(active->high[k][a]);
        i.low[k] = vf_set1(active->low[k][a]);
        i.v[k] = vf_set1(active->v[k][a]);
    }
    return i;
}

#endif
