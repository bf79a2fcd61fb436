/* Prediction and force in float with two-float positions: one source for all instruction sets. The including file has
 * included simd_*.h, which defines
 *   SIMD_W           floats in a vector, a divisor of GPUIRR_LIST_GRAIN
 *   vf, vm, vi       vector of floats; mask of its lanes; vector of 32-bit integers
 *   vf_set1, vf_fma (a*b + c), vf_max, vf_load, vf_store (aligned)
 *   vf_part(row, part, out)        numbers 4 part to 4 part + 3 of the SIMD_W rows, transposed: out[c] holds the c-th
 *   vf_half(row, out)              the same for numbers 0 to 7
 *   vf_half_since(row, t, out)     numbers 8 to 13 of `row` (compact.h), and in out[6] t - t0
 *   vf_put_part(rows, part, in)    the reverse for rows 0..SIMD_W
 *   vf_low(tails, k, high, d)      d + what the tail of coordinate k (compact.h) adds to it
 *   vf_powers_of(m, r2)            1/r^2 and m/r^3 to float precision
 *   vf_nan_below(a, low)           a, NaN where it is not at least `low`
 *   vf_in(lanes, a)                a in `lanes`, 0 in the others
 *   vf_sum_two(a, b, a_sum, b_sum) sums of the lanes of two vectors, in float
 *   vf_totals(a, out)              sums of the lanes of six vectors, in double
 *   vm_at_most(a, high), vm_below  the lanes where a <= high, a < high, false for NaN
 *   vm_and, vm_and_not (a and not b), vm_bits; vm_from(n): the lanes from n on
 *   vf_where(lanes, a, b), vi_where, vi_set1, vi_store
 * All sums are in an order that never changes. Lanes do not mix before they are summed: a body is predicted to the same
 * bits in whatever vector it stands. */
#ifndef GPUIRR_CPU_KERNEL_H
#define GPUIRR_CPU_KERNEL_H

#include "gpuirr/cpu/kernel_bodies.h"
#include "gpuirr/cpu/kernel_pairs.h"

#include <math.h>

enum {
    LISTS = 8, /* lists that are fetched before the rows of their neighbours */
    LIST_LINE = 64 / sizeof(int32_t),
    LIST_LINES = 16, /* of each list: the processor sees by itself that more lines follow */
    GROUP = 8        /* lists that are finished together: that takes many steps, each of which waits for the one before,
                        but those of different lists do not wait for each other */
};

/* A batch on its way. */
struct work {
    const struct gpuirr_compact *store;
    const struct gpuirr_batch *batch;
    struct active active;
    struct cursor fetch;
    struct pairs pairs;
    struct list_sums sums[GROUP];
};

static inline void fetch_list(const struct gpuirr_task *task)
{
    for (uint32_t k = 0; k < task->nnb && k < LIST_LINES * LIST_LINE; k += LIST_LINE)
        __builtin_prefetch(task->nblist + k);
}

/* Rows of others are fetched meanwhile, a few at a time, because no more than some ten or twenty lines can be under way
 * at once, and instructions behind the next one would wait.
 * @return the lanes of the last vector that are behind the n neighbours */
INLINE vm find_pairs(struct work *work, const struct target *i, uint32_t n, const int32_t *nb, const int predicted)
{
    const float *rows = predicted ? work->store->pred : work->store->row;
    uint32_t k = 0;
    do {
        advance(&work->fetch, work->batch);
        fetch_half(rows, work->fetch.at, 0);
        const struct bodies j = get_bodies(rows, work->batch->t, predicted, nb + k);
        fetch_half(rows, work->fetch.at, 1);
        put_pairs(i, &j, k, &work->pairs);
        k += SIMD_W;
    } while (k < n);
    float *last = work->pairs.m + k - SIMD_W;
    const vm behind = vm_from(n + SIMD_W - k);
    vf_store(last, vf_load(last) - vf_in(behind, vf_load(last)));
    return behind;
}

/* `predicted` and `want_nearest` are constants wherever this is inlined. All pairs of a chunk are found before the
 * first force is summed: the steps of one vector wait for each other, and a processor that sees some hundred
 * instructions ahead finds more to do at a time in two short loops than in a long one. */
INLINE void sum_list(struct work *work, size_t b, const int predicted, const int want_nearest, struct list_sums *sums)
{
    const struct gpuirr_task *task = &work->batch->task[b];
    const struct target i = target_of(&work->active, b);
    struct nearest nearest;
    if (want_nearest) {
        nearest.r2 = vf_set1(INFINITY);
        nearest.vector = vi_set1(0);
    }
    sums->has_exact = 0;
    for (uint32_t from = 0; from < task->nnb; from += CHUNK) {
        const uint32_t n = task->nnb - from < CHUNK ? task->nnb - from : CHUNK;
        if (from) flush(sums, from == CHUNK);
        const vm behind = find_pairs(work, &i, n, task->nblist + from, predicted);
        for (uint32_t k = 0; want_nearest && k < n; k += SIMD_W)
            find_nearer(&work->pairs, k, (int)((from + k) / SIMD_W), &nearest);
        struct lanes lanes;
        if (__builtin_expect(!sum_pairs(&work->pairs, n, behind, &lanes), 0))
            sum_pairs_with_care(work->store, task->i, work->batch->t, &work->pairs, n, task->nblist + from, &lanes,
                                sums);
        for (int k = 0; k < 6; k++) sums->sum[k] = lanes.sum[k];
        if (from) lanes.magnitude += sums->magnitude;
        sums->magnitude = lanes.magnitude;
    }
    if (want_nearest) sums->nearest = nearest;
}

INLINE void sum_batch(const struct gpuirr_compact *store, const struct gpuirr_batch *batch, const int predicted,
                      const int want_nearest, struct gpuirr_force *force)
{
    struct work work;
    work.store = store;
    work.batch = batch;
    for (size_t b = 0; b < LISTS && b < batch->n; b++) fetch_list(&batch->task[b]);
    fetch_active(store, batch, 0);
    begin_fetching(&work.fetch, predicted ? store->pred : store->row, batch);
    for (size_t first = 0; first < batch->n; first += GROUP) {
        const size_t end = first + GROUP < batch->n ? first + GROUP : batch->n;
        for (size_t b = first; b < end; b++) {
            if (b % SIMD_W == 0) {
                get_active(store, batch, b, &work.active);
                fetch_active(store, batch, b + SIMD_W);
            }
            if (b + LISTS < batch->n) fetch_list(&batch->task[b + LISTS]);
            if (!is_for_double(batch, &batch->task[b]))
                sum_list(&work, b, predicted, want_nearest, &work.sums[b - first]);
        }
        for (size_t b = first; b < end; b++) {
            const struct gpuirr_task *task = &batch->task[b];
            const struct list_sums *sums = &work.sums[b - first];
            double noise = 0;
            if (is_for_double(batch, task) || !total_of_list(task, sums, want_nearest, &force[b]))
                noise = gpuirr_compact_list_exact(store, task, batch->t, &force[b]);
            else if (batch->noise)
                noise = noise_of_list(sums);
            if (batch->noise) batch->noise[b] = noise;
        }
    }
}

static void forces(const void *store, const struct gpuirr_batch *batch, struct gpuirr_force *force)
{
    if (batch->predicted && batch->want_nearest)
        sum_batch(store, batch, 1, 1, force);
    else if (batch->predicted)
        sum_batch(store, batch, 1, 0, force);
    else if (batch->want_nearest)
        sum_batch(store, batch, 0, 1, force);
    else
        sum_batch(store, batch, 0, 0, force);
}

#endif
