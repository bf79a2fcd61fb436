/* Prediction and force in float with two-float positions: one source for all instruction sets. The including file has
 * included simd_*.h, which defines
 *   SIMD_W           floats in a vector, a divisor of GPUIRR_LIST_GRAIN
 *   vf, vm, vi       vector of floats; mask of its lanes; vector of 32-bit integers
 *   vf_set1, vf_fma (a*b + c), vf_max, vf_load, vf_store (aligned)
 *   vf_half(rows, index, out)      the first eight numbers of rows index[0..SIMD_W), transposed: out[c] holds number c
 *                                  of each
 *   vf_half_since(rows, index, t, out)   the other eight of `row`: out[0..6), and in out[6] t - t0
 *   vf_part(rows, index, part, out)      the same for numbers 4 part to 4 part + 3
 *   vf_put_part(rows, part, in)    the reverse for rows 0..SIMD_W
 *   vf_low(tails, k, high, d)      d + what the tail of coordinate k (compact.h) adds to it
 *   vf_powers_of(m, r2, lanes)     1/r^2 and m/r^3 to float precision, 0 in other lanes
 *   vf_totals(a, out)  sums of the lanes of eight vectors, in double, in an order that never changes
 *   vf_add_in(lanes, a, b)         a + b in `lanes`, a in the others
 *   vm_at_least(lanes, a, low), vm_at_most, vm_below   the lanes where a >= low, ..., false for NaN
 *   vm_and_not(a, b)   a and not b; vm_or, vm_none, vm_bits; vm_first(n): the first n lanes
 *   vf_where(lanes, a, b), vi_where, vi_set1, vi_store
 * Lanes do not mix before they are summed: a body is predicted to the same bits in whatever vector it stands. */
#ifndef GPUIRR_KERNEL_H
#define GPUIRR_KERNEL_H

#include "gpuirr/compact.h"

#include <math.h>
#include <string.h>

enum {
    AHEAD = 128 / SIMD_W, /* vectors of neighbours whose rows are fetched before they are needed */
    CHUNK = 128, /* neighbours that are summed in float, one in each lane at a time, before a flush to double */
    LISTS = 8,   /* lists that are fetched before the rows of their neighbours */
    LIST_LINE = 64 / sizeof(int32_t),
    LIST_LINES = 16 /* of each list: the processor sees by itself that more lines follow */
};

/* A neighbour is strong if its force is STRONG times that of one of mean mass at the edge of the list, where r^2 is
 * EDGE times its mean, as in a homogeneous sphere. One sum in twelve meets such a neighbour in whole runs. */
#define STRONG 256.0
#define EDGE (5.0 / 3.0)

/* Shorter lists are summed in double: few-body problems, where a force is the work of one or two pairs. */
#define SHORT_LIST 8

/* Squares of distances from here to there are summed in float. */
#define MIN_R2 1e-18f
#define MAX_R2 1e12f

/* Kernels keep sums in registers only where all of this is inlined. Structs are filled number by number: gcc 12 clears
 * what an initialiser leaves out in memory, bytewise. */
#define INLINE static inline __attribute__((always_inline))

/* Bodies at the time of the batch: one in each lane. */
struct bodies {
    vf high[3], low[3], v[3], m;
    vf d2; /* square of the distance that the predictor went */
};

/* The predictor of gpuirr.h, by Horner's rule. All that is predicted by anyone is predicted here, so that it has the
 * same bits whether it was stored or not. first: the numbers 0 to 7 of the row; second: 8 to 13, and t - t0. */
INLINE struct bodies predict_lanes(const vf first[8], const vf second[7])
{
    const vf s = second[6], s2 = s + s, s3_2 = vf_set1(1.5f) * s;
    struct bodies p;
    vf d[3];
    for (int k = 0; k < 3; k++) {
        const vf v = first[4 + k], acc2 = second[k], jerk6 = second[3 + k];
        d[k] = s * vf_fma(s, vf_fma(s, jerk6, acc2), v);
        p.high[k] = first[k];
        p.low[k] = vf_low(first[7], k, first[k], d[k]);
        p.v[k] = vf_fma(s2, vf_fma(s3_2, jerk6, acc2), v);
    }
    p.m = first[3];
    p.d2 = vf_fma(d[2], d[2], vf_fma(d[1], d[1], d[0] * d[0]));
    return p;
}

INLINE struct bodies stored_lanes(const vf first[8], const vf part[4])
{
    struct bodies p;
    p.m = first[3];
    p.d2 = first[7];
    for (int k = 0; k < 3; k++) {
        p.high[k] = first[k];
        p.low[k] = part[k];
        p.v[k] = first[4 + k];
    }
    return p;
}

/* A quarter of a vector of neighbours. */
INLINE void fetch_part(const float *rows, const int32_t *index, int part)
{
#pragma GCC unroll 4
    for (int l = part * SIMD_W / 4; l < (part + 1) * SIMD_W / 4; l++)
        __builtin_prefetch(rows + (size_t)(uint32_t)index[l] * GPUIRR_ROW);
}

/* The bodies index[0..SIMD_W), while the rows of bodies next[0..SIMD_W) are fetched: a few at a time, because no more
 * than some ten or twenty lines can be under way at once, and instructions behind the next one would wait. */
INLINE struct bodies get_bodies(const float *rows, double t, const int predicted, const int32_t *index,
                                const int32_t *next)
{
    vf first[8], second[7];
    if (next) fetch_part(rows, next, 0);
    vf_half(rows, index, first);
    if (next) fetch_part(rows, next, 1);
    if (predicted)
        vf_part(rows, index, 2, second);
    else
        vf_half_since(rows, index, t, second);
    if (next) fetch_part(rows, next, 2);
    if (next) fetch_part(rows, next, 3);
    return predicted ? stored_lanes(first, second) : predict_lanes(first, second);
}

static void predict_range(void *memory, size_t lo, size_t hi, double t)
{
    struct gpuirr_compact *store = memory;
    for (size_t first = lo; first < hi; first += SIMD_W) {
        const size_t n = hi - first < SIMD_W ? hi - first : SIMD_W;
        int32_t index[SIMD_W];
        for (size_t l = 0; l < SIMD_W; l++) index[l] = (int32_t)(first + (l < n ? l : n - 1));
        const struct bodies p = get_bodies(store->row, t, 0, index, NULL);
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
    const struct bodies p = get_bodies(store->row, batch->t, 0, index, NULL);
    for (int k = 0; k < 3; k++) {
        vf_store(active->high[k] + first, p.high[k]);
        vf_store(active->low[k] + first, p.low[k]);
        vf_store(active->v[k] + first, p.v[k]);
    }
    /* Stored positions are right to 2^-33 |x|: closer pairs than 2^-11 |x| are not resolved to float precision. */
    const vf x2 = vf_fma(p.high[2], p.high[2], vf_fma(p.high[1], p.high[1], p.high[0] * p.high[0]));
    vf_store(active->r2_min + first, vf_max(vf_max(vf_set1(MIN_R2), p.d2), x2 * vf_set1(0x1p-22f)));
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

/* Float sums of each lane: acceleration, jerk, mass and r^2; the largest m/r^2 and the smallest r^2 so far. */
struct lanes {
    vf sum[8];
    vf strongest, r2_min;
    vi nearest; /* number of the vector in the list */
};

INLINE struct lanes no_sums(void)
{
    const vf zero = vf_set1(0.0f);
    struct lanes lanes;
    lanes.strongest = zero;
    lanes.r2_min = vf_set1(INFINITY);
    lanes.nearest = vi_set1(0);
    for (int k = 0; k < 8; k++) lanes.sum[k] = zero;
    return lanes;
}

/* NA12 eq. 8 and 9, one source in each lane. Returns the lanes that were added. The others have to be summed in double:
 * - too close or too far for floats;
 * - closer than one of the two has gone since it was stored, because the rounding errors of prediction, a few 2^-25 d,
 *   shall be small beside the distance;
 * - strong: m weak > r^2. Rounding one such force would drown the small differences between the sums over two lists
 * that correctors are made of. Without care nobody is strong: `strongest` and the sum of r^2 tell afterwards whether
 * the list needs care. NaN is in none of the ranges. */
INLINE vm add_lanes(const struct target *i, const struct bodies *j, vm valid, const int care, vf weak,
                    const int want_nearest, int number, struct lanes *lanes)
{
    vf dx[3], dv[3];
    for (int k = 0; k < 3; k++) {
        dx[k] = (j->high[k] - i->high[k]) + (j->low[k] - i->low[k]);
        dv[k] = j->v[k] - i->v[k];
    }
    const vf r2 = vf_fma(dx[2], dx[2], vf_fma(dx[1], dx[1], dx[0] * dx[0]));
    const vf rv = vf_fma(dx[2], dv[2], vf_fma(dx[1], dv[1], dx[0] * dv[0]));
    vm in_range = vm_at_least(valid, r2, vf_max(i->r2_min, j->d2));
    if (care) in_range = vm_at_least(vm_at_most(in_range, r2, vf_set1(MAX_R2)), r2, j->m * weak);
    const struct vf_powers w = vf_powers_of(j->m, r2, in_range);
    const vf alpha = vf_set1(-3.0f) * rv * w.rinv2;
    for (int k = 0; k < 3; k++) {
        lanes->sum[k] = vf_fma(w.mr3, dx[k], lanes->sum[k]);
        lanes->sum[3 + k] = vf_fma(w.mr3, vf_fma(alpha, dx[k], dv[k]), lanes->sum[3 + k]);
    }
    lanes->sum[6] = vf_add_in(in_range, lanes->sum[6], j->m);
    lanes->sum[7] = vf_add_in(in_range, lanes->sum[7], r2);
    lanes->strongest = vf_max(lanes->strongest, j->m * w.rinv2);
    if (want_nearest) {
        const vm nearer = vm_below(in_range, r2, lanes->r2_min);
        lanes->r2_min = vf_where(nearer, r2, lanes->r2_min);
        lanes->nearest = vi_where(nearer, vi_set1(number), lanes->nearest);
    }
    return in_range;
}

INLINE void flush(struct lanes *lanes, double total[8])
{
    double part[8];
    vf_totals(lanes->sum, part);
    for (int k = 0; k < 8; k++) {
        total[k] += part[k];
        lanes->sum[k] = vf_set1(0.0f);
    }
}

/* Sums of floats, so that a sum of them is finite in double. */
static inline int not_finite(const double total[6])
{
    return 0 * (((total[0] + total[1]) + (total[2] + total[3])) + (total[4] + total[5])) != 0;
}

/* The nearest of all lanes and of what was summed in double. */
static int32_t find_nearest(const struct gpuirr_task *task, const struct lanes *lanes, const struct gpuirr_exact *exact)
{
    _Alignas(64) float r2[SIMD_W];
    int32_t vector[SIMD_W], nearest = exact ? exact->nearest : -1;
    double r2_min = exact ? exact->r2_min : INFINITY;
    vf_store(r2, lanes->r2_min);
    vi_store(vector, lanes->nearest);
    for (int l = 0; l < SIMD_W; l++) {
        if (!((double)r2[l] <= r2_min) || !isfinite(r2[l])) continue;
        int32_t j = task->nblist[(size_t)vector[l] * SIMD_W + (size_t)l];
        if ((double)r2[l] < r2_min || nearest < 0 || j < nearest) nearest = j;
        r2_min = (double)r2[l];
    }
    return nearest;
}

/* Walks through a batch, a vector of neighbours at a time, across the ends of lists. At the end of the batch it stays
 * with the last one. */
struct cursor {
    size_t next; /* task */
    const int32_t *at, *end;
};

static inline int is_short(const struct gpuirr_task *task)
{
    return task->nnb < SHORT_LIST;
}

INLINE void advance(struct cursor *cursor, const struct gpuirr_batch *batch)
{
    if (cursor->end - cursor->at > SIMD_W) {
        cursor->at += SIMD_W;
        return;
    }
    while (cursor->next < batch->n) {
        const struct gpuirr_task *task = &batch->task[cursor->next++];
        if (is_short(task)) continue;
        cursor->at = task->nblist;
        cursor->end = task->nblist + task->nnb;
        return;
    }
}

static inline void fetch_list(const struct gpuirr_task *task)
{
    for (uint32_t k = 0; k < task->nnb && k < LIST_LINES * LIST_LINE; k += LIST_LINE)
        __builtin_prefetch(task->nblist + k);
}

/* A list that has pairs which are not for floats. */
INLINE void sum_list_with_care(const struct gpuirr_compact *store, const struct gpuirr_batch *batch,
                               const struct gpuirr_task *task, const struct active *active, size_t a,
                               const int predicted, const int want_nearest, double weak, struct gpuirr_force *force)
{
    const float *rows = predicted ? store->pred : store->row;
    const struct target i = target_of(active, a);
    struct lanes lanes = no_sums();
    struct gpuirr_exact exact;
    double total[8] = {0};
    int begun = 0, vectors = 0;
    for (int half = 0; half < 2; half++) __builtin_prefetch((const char *)&store->body[task->i] + 64 * half);
    for (uint32_t k = 0; k < task->nnb; k += SIMD_W, vectors++) {
        const struct bodies j = get_bodies(rows, batch->t, predicted, task->nblist + k, NULL);
        const vm valid = vm_first(task->nnb - k);
        const vm added = add_lanes(&i, &j, valid, 1, vf_set1((float)weak), want_nearest, vectors, &lanes);
        const unsigned rest = vm_bits(vm_and_not(valid, added));
        if (rest) gpuirr_compact_add_exact(store, task->i, task->nblist + k, rest, batch->t, &begun, &exact);
        if (k % CHUNK == CHUNK - SIMD_W) flush(&lanes, total);
    }
    flush(&lanes, total);
    if (not_finite(total)) {
        gpuirr_compact_list_exact(store, task, batch->t, force);
        return;
    }
    for (int k = 0; k < 3; k++) {
        force->acc[k] = total[k] + (begun ? exact.acc[k] : 0);
        force->jerk[k] = total[3 + k] + (begun ? exact.jerk[k] : 0);
    }
    force->coincident = begun ? exact.coincident : 0;
    force->nearest = want_nearest ? find_nearest(task, &lanes, begun ? &exact : NULL) : -1;
}

static void sum_unpredicted_with_care(const struct gpuirr_compact *store, const struct gpuirr_batch *batch,
                                      const struct gpuirr_task *task, const struct active *active, size_t a,
                                      double weak, struct gpuirr_force *force)
{
    if (batch->want_nearest)
        sum_list_with_care(store, batch, task, active, a, 0, 1, weak, force);
    else
        sum_list_with_care(store, batch, task, active, a, 0, 0, weak, force);
}

static void sum_predicted_with_care(const struct gpuirr_compact *store, const struct gpuirr_batch *batch,
                                    const struct gpuirr_task *task, const struct active *active, size_t a, double weak,
                                    struct gpuirr_force *force)
{
    if (batch->want_nearest)
        sum_list_with_care(store, batch, task, active, a, 1, 1, weak, force);
    else
        sum_list_with_care(store, batch, task, active, a, 1, 0, weak, force);
}

/* Bodies at the time of the batch, in the order of a list. */
struct sources {
    _Alignas(64) float high[3][CHUNK], low[3][CHUNK], v[3][CHUNK], m[CHUNK], d2[CHUNK];
};

INLINE void put_bodies(const struct bodies *j, uint32_t k, struct sources *sources)
{
    for (int d = 0; d < 3; d++) {
        vf_store(sources->high[d] + k, j->high[d]);
        vf_store(sources->low[d] + k, j->low[d]);
        vf_store(sources->v[d] + k, j->v[d]);
    }
    vf_store(sources->m + k, j->m);
    vf_store(sources->d2 + k, j->d2);
}

INLINE struct bodies bodies_at(const struct sources *sources, uint32_t k)
{
    struct bodies j;
    for (int d = 0; d < 3; d++) {
        j.high[d] = vf_load(sources->high[d] + k);
        j.low[d] = vf_load(sources->low[d] + k);
        j.v[d] = vf_load(sources->v[d] + k);
    }
    j.m = vf_load(sources->m + k);
    j.d2 = vf_load(sources->d2 + k);
    return j;
}

/* What was summed in floats over one list. Finishing that takes many steps, each of which waits for the one before:
 * it is done for GROUP lists one after another, which do not wait for each other. */
enum { GROUP = 8 };
struct unfinished {
    struct lanes lanes;
    vm left_out;
    double total[8]; /* flushed before, of lists that are longer than CHUNK */
};

/* `predicted` and `want_nearest` are constants wherever this is inlined. Neighbours are predicted before the first of
 * their forces is summed: the steps of one vector wait for each other, and a processor that sees some hundred
 * instructions ahead finds more to do at a time in two short loops than in a long one. */
INLINE void sum_list(const struct gpuirr_compact *store, const struct gpuirr_batch *batch, size_t b,
                     const struct active *active, const int predicted, const int want_nearest, struct cursor *fetch,
                     struct sources *sources, struct unfinished *sums)
{
    const float *rows = predicted ? store->pred : store->row;
    const struct gpuirr_task *task = &batch->task[b];
    const struct target i = target_of(active, b);
    struct lanes lanes = no_sums();
    vm left_out = vm_none();
    for (int k = 0; task->nnb > CHUNK && k < 8; k++) sums->total[k] = 0;
    for (uint32_t from = 0; from < task->nnb; from += CHUNK) {
        const uint32_t n = task->nnb - from < CHUNK ? task->nnb - from : CHUNK;
        const int32_t *nb = task->nblist + from;
        if (from) flush(&lanes, sums->total);
        for (uint32_t k = 0; !predicted && k < n; k += SIMD_W) {
            advance(fetch, batch);
            const struct bodies j = get_bodies(rows, batch->t, 0, nb + k, fetch->at);
            put_bodies(&j, k, sources);
        }
        for (uint32_t k = 0; k < n; k += SIMD_W) {
            struct bodies j;
            if (predicted) {
                advance(fetch, batch);
                j = get_bodies(rows, batch->t, 1, nb + k, fetch->at);
            } else {
                j = bodies_at(sources, k);
            }
            const vm valid = vm_first(n - k);
            const vm added =
                add_lanes(&i, &j, valid, 0, vf_set1(0.0f), want_nearest, (int)((from + k) / SIMD_W), &lanes);
            left_out = vm_or(left_out, vm_and_not(valid, added));
        }
    }
    sums->lanes = lanes;
    sums->left_out = left_out;
}

INLINE void finish_list(const struct gpuirr_compact *store, const struct gpuirr_batch *batch, size_t b,
                        const struct active *active, const int predicted, const int want_nearest,
                        struct unfinished *sums, struct gpuirr_force *force)
{
    const struct gpuirr_task *task = &batch->task[b];
    const vf strongest = sums->lanes.strongest;
    double total[8];
    vf_totals(sums->lanes.sum, total);
    for (int k = 0; task->nnb > CHUNK && k < 8; k++) total[k] += sums->total[k];
    const vm strong =
        vm_below(vm_first(SIMD_W), vf_set1((float)(STRONG / EDGE * total[6])), strongest * vf_set1((float)total[7]));
    if (__builtin_expect(vm_bits(vm_or(sums->left_out, strong)) || !(total[7] < MAX_R2) || not_finite(total), 0)) {
        const double weak = total[6] > 0 ? total[7] / (STRONG / EDGE * total[6]) : 0;
        (predicted ? sum_predicted_with_care : sum_unpredicted_with_care)(store, batch, task, active, b, weak, force);
        return;
    }
    for (int k = 0; k < 3; k++) {
        force->acc[k] = total[k];
        force->jerk[k] = total[3 + k];
    }
    force->coincident = 0;
    force->nearest = want_nearest ? find_nearest(task, &sums->lanes, NULL) : -1;
}

static inline void fetch_active(const struct gpuirr_compact *store, const struct gpuirr_batch *batch, size_t first)
{
    for (size_t b = first; b < first + SIMD_W && b < batch->n; b++)
        __builtin_prefetch(store->row + (size_t)batch->task[b].i * GPUIRR_ROW);
}

INLINE void sum_batch(const struct gpuirr_compact *store, const struct gpuirr_batch *batch, const int predicted,
                      const int want_nearest, struct gpuirr_force *force)
{
    const float *rows = predicted ? store->pred : store->row;
    struct cursor fetch = {0, NULL, NULL};
    struct active active;
    struct unfinished sums[GROUP];
    struct sources sources;
    for (size_t b = 0; b < LISTS && b < batch->n; b++) fetch_list(&batch->task[b]);
    fetch_active(store, batch, 0);
    for (int v = 0; v < AHEAD; v++) {
        advance(&fetch, batch);
        for (int p = 0; fetch.at && p < 4; p++) fetch_part(rows, fetch.at, p);
    }
    for (size_t first = 0; first < batch->n; first += GROUP) {
        const size_t end = first + GROUP < batch->n ? first + GROUP : batch->n;
        for (size_t b = first; b < end; b++) {
            if (b % SIMD_W == 0) {
                get_active(store, batch, b, &active);
                fetch_active(store, batch, b + SIMD_W);
            }
            if (b + LISTS < batch->n) fetch_list(&batch->task[b + LISTS]);
            if (!is_short(&batch->task[b]))
                sum_list(store, batch, b, &active, predicted, want_nearest, &fetch, &sources, &sums[b - first]);
        }
        for (size_t b = first; b < end; b++) {
            if (is_short(&batch->task[b]))
                gpuirr_compact_list_exact(store, &batch->task[b], batch->t, &force[b]);
            else
                finish_list(store, batch, b, &active, predicted, want_nearest, &sums[b - first], &force[b]);
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
