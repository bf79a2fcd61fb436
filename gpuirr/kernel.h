/* Prediction and force in float with two-float positions: one source for all instruction sets. The including file has
 * included simd_*.h, which defines
 *   SIMD_W           floats in a vector, a divisor of GPUIRR_LIST_GRAIN
 *   vf, vm, vi       vector of floats; mask of its lanes; vector of 32-bit integers
 *   vf_set1, vf_fma (a*b + c), vf_max, vf_store
 *   vf_parts(rows, index, part, out)   part 0..3 of rows index[0..SIMD_W), transposed: out[c] holds number c of each
 *   vf_put_parts(rows, part, in)       the reverse for rows 0..SIMD_W
 *   vf_since(t, low, high)   t less the doubles whose bits have these halves
 *   vf_tail(tails, k, high)  the tail of coordinate k that compact.h describes
 *   vf_powers_of(m, r2, lanes)   1/r^2 and m/r^3 to float precision, 0 in other lanes
 *   vf_total(a)      sum of all lanes, in double, in an order that never changes; vf_largest(a): the largest lane
 *   vm_between(a, low, high)   low <= a <= high, false for NaN; vm_lt(a, b); vm_first(n); vm_and; vm_bits
 *   vf_where(lanes, a, b), vi_where, vi_set1, vi_store
 * Lanes do not mix before they are summed: a body is predicted to the same bits in whatever vector it stands. */
#ifndef GPUIRR_KERNEL_H
#define GPUIRR_KERNEL_H

#include "compact.h"

#include <math.h>
#include <string.h>

enum {
    AHEAD = 32 / SIMD_W, /* vectors of neighbours whose rows are fetched before they are needed */
    LISTS = 4,           /* lists that are fetched before the rows of their neighbours */
    LIST_LINE = 64 / sizeof(int32_t),
    LIST_LINES = 16,     /* of each list: the processor sees by itself that more lines follow */
    FLUSH = 128 / SIMD_W /* vectors between two flushes of the float sums */
};

/* A neighbour of mean mass is strong within a 16th of the largest distance: one of a hundred lists has such a one. */
#define STRONG 256.0

/* Shorter lists are summed in double: few-body problems, where a force is the work of one or two pairs. */
#define SHORT_LIST 8

/* Squares of distances from here to there are summed in float. */
#define MIN_R2 1e-18f
#define MAX_R2 1e12f

/* Bodies at the time of the batch: one in each lane. */
struct bodies {
    vf high[3], low[3], v[3], m;
    vf d2; /* square of the distance that the predictor went */
};

/* The predictor of gpuirr.h, by Horner's rule. All that is predicted by anyone is predicted here, so that it has the
 * same bits whether it was stored or not. */
static inline struct bodies predict_lanes(vf part[4][4], double t)
{
    const vf s = vf_since(t, part[2][3], part[3][3]);
    struct bodies p;
    vf d[3];
    for (int k = 0; k < 3; k++) {
        const vf v = part[2][k], acc2 = part[3][k], jerk6 = part[1][k + 1];
        d[k] = s * vf_fma(s, vf_fma(s, jerk6, acc2), v);
        p.high[k] = part[0][k];
        p.low[k] = vf_tail(part[1][0], k, part[0][k]) + d[k];
        p.v[k] = vf_fma(s, vf_fma(s, vf_set1(3.0f) * jerk6, vf_set1(2.0f) * acc2), v);
    }
    p.m = part[0][3];
    p.d2 = vf_fma(d[2], d[2], vf_fma(d[1], d[1], d[0] * d[0]));
    return p;
}

static inline struct bodies stored_lanes(vf part[3][4])
{
    struct bodies p = {.m = part[0][3], .d2 = part[1][3]};
    for (int k = 0; k < 3; k++) {
        p.high[k] = part[0][k];
        p.low[k] = part[1][k];
        p.v[k] = part[2][k];
    }
    return p;
}

/* A quarter of a vector of neighbours. */
static inline void fetch_part(const struct gpuirr_compact *store, const int predicted, const int32_t *index, int part)
{
    const float *rows = predicted ? store->pred : store->row;
#pragma GCC unroll 4
    for (int l = part * SIMD_W / 4; l < (part + 1) * SIMD_W / 4; l++)
        __builtin_prefetch(rows + (size_t)(uint32_t)index[l] * GPUIRR_ROW);
}

/* The bodies index[0..SIMD_W), while the rows of bodies next[0..SIMD_W) are fetched: a few at a time, because no more
 * than some ten or twenty lines can be under way at once, and instructions behind the next one would wait. */
static inline struct bodies get_bodies(const struct gpuirr_compact *store, double t, const int predicted,
                                       const int32_t *index, const int32_t *next)
{
    const float *rows = predicted ? store->pred : store->row;
    vf part[4][4];
#pragma GCC unroll 4
    for (int p = 0; p < 4; p++) {
        if (p < 3 || !predicted) vf_parts(rows, index, p, part[p]);
        if (next) fetch_part(store, predicted, next, p);
    }
    return predicted ? stored_lanes(part) : predict_lanes(part, t);
}

/* The same body in all lanes. */
static inline struct bodies get_body(const struct gpuirr_compact *store, double t, const int predicted, int32_t i)
{
    const float *row = (predicted ? store->pred : store->row) + (size_t)i * GPUIRR_ROW;
    vf part[4][4];
    for (int p = 0; p < 4; p++)
        for (int c = 0; c < 4; c++) part[p][c] = vf_set1(row[4 * p + c]);
    return predicted ? stored_lanes(part) : predict_lanes(part, t);
}

static void predict_range(void *memory, size_t lo, size_t hi, double t)
{
    struct gpuirr_compact *store = memory;
    for (size_t first = lo; first < hi; first += SIMD_W) {
        const size_t n = hi - first < SIMD_W ? hi - first : SIMD_W;
        int32_t index[SIMD_W];
        for (size_t l = 0; l < SIMD_W; l++) index[l] = (int32_t)(first + (l < n ? l : n - 1));
        const struct bodies p = get_bodies(store, t, 0, index, NULL);
        const vf part[3][4] = {{p.high[0], p.high[1], p.high[2], p.m},
                               {p.low[0], p.low[1], p.low[2], p.d2},
                               {p.v[0], p.v[1], p.v[2], vf_set1(0.0f)}};
        float *out = store->pred + first * GPUIRR_ROW, rest[SIMD_W * GPUIRR_ROW];
        for (int k = 0; k < 3; k++) vf_put_parts(n < SIMD_W ? rest : out, k, part[k]);
        for (size_t l = 0; n < SIMD_W && l < n; l++)
            memcpy(out + l * GPUIRR_ROW, rest + l * GPUIRR_ROW, 12 * sizeof *out);
    }
}

/* Float sums of each lane, and the smallest squared distance that each lane has met. */
struct lanes {
    vf acc[3], jerk[3];
    vf strong; /* see strength() */
    vf r2_min;
    vi nearest; /* number of the vector in the list */
};

/* Pairs with r^2 <= m_j times this are strong. */
static inline vf strength(vf r2, vf m, vm valid)
{
    const vf zero = vf_set1(0.0f), inside = vf_where(vm_between(r2, zero, vf_set1(MAX_R2)), r2, zero);
    const double mass = vf_total(vf_where(valid, m, zero));
    const double mean = mass / __builtin_popcount(vm_bits(valid));
    return vf_set1(mean > 0 ? (float)((double)vf_largest(vf_where(valid, inside, zero)) / (STRONG * mean)) : 0.0f);
}

/* NA12 eq. 8 and 9, one source in each lane. Returns the lanes that have to be summed in double:
 * - too close or too far for floats;
 * - closer than one of the two has gone since it was stored, because the rounding errors of prediction, a few 2^-25 d,
 *   shall be small beside the distance;
 * - strong: with more than STRONG times the force of a neighbour of mean mass at the edge of the list, as the first
 *   vector of the list shows it. Rounding one such force would drown the small differences between the sums over two
 *   lists that correctors are made of.
 * NaN is in none of the ranges. */
static inline unsigned add_lanes(const struct bodies *i, const struct bodies *j, vf low_i, vm valid, int want_nearest,
                                 int number, struct lanes *sum)
{
    vf dx[3], dv[3];
    for (int k = 0; k < 3; k++) {
        dx[k] = (j->high[k] - i->high[k]) + (j->low[k] - i->low[k]);
        dv[k] = j->v[k] - i->v[k];
    }
    const vf r2 = vf_fma(dx[2], dx[2], vf_fma(dx[1], dx[1], dx[0] * dx[0]));
    const vf rv = vf_fma(dx[2], dv[2], vf_fma(dx[1], dv[1], dx[0] * dv[0]));
    if (number == 0) sum->strong = strength(r2, j->m, valid);
    const vf low = vf_max(vf_max(low_i, j->d2), j->m * sum->strong);
    const vm in_range = vm_and(vm_between(r2, low, vf_set1(MAX_R2)), valid);
    const struct vf_powers w = vf_powers_of(j->m, r2, in_range);
    const vf alpha = vf_set1(-3.0f) * rv * w.rinv2;
    for (int k = 0; k < 3; k++) {
        sum->acc[k] = vf_fma(w.mr3, dx[k], sum->acc[k]);
        sum->jerk[k] = vf_fma(w.mr3, vf_fma(alpha, dx[k], dv[k]), sum->jerk[k]);
    }
    if (want_nearest) {
        const vm nearer = vm_and(vm_lt(r2, sum->r2_min), in_range);
        sum->r2_min = vf_where(nearer, r2, sum->r2_min);
        sum->nearest = vi_where(nearer, vi_set1(number), sum->nearest);
    }
    return vm_bits(valid) & ~vm_bits(in_range);
}

static inline void flush(struct lanes *sum, struct gpuirr_force *force)
{
    for (int k = 0; k < 3; k++) {
        force->acc[k] += vf_total(sum->acc[k]);
        force->jerk[k] += vf_total(sum->jerk[k]);
        sum->acc[k] = sum->jerk[k] = vf_set1(0.0f);
    }
}

/* The nearest of all lanes and of what was summed in double. */
static int32_t find_nearest(const struct gpuirr_task *task, const struct lanes *sum, const struct gpuirr_exact *exact)
{
    float r2[SIMD_W];
    int32_t vector[SIMD_W], nearest = exact ? exact->nearest : -1;
    double r2_min = exact ? exact->r2_min : INFINITY;
    vf_store(r2, sum->r2_min);
    vi_store(vector, sum->nearest);
    for (int l = 0; l < SIMD_W; l++) {
        if (!((double)r2[l] <= r2_min) || !isfinite(r2[l])) continue;
        int32_t j = task->nblist[(size_t)vector[l] * SIMD_W + (size_t)l];
        if ((double)r2[l] < r2_min || nearest < 0 || j < nearest) nearest = j;
        r2_min = (double)r2[l];
    }
    return nearest;
}

/* Where rows of neighbours are fetched: some vectors ahead of the sums, across the ends of lists. At the end of the
 * batch it stays with the last vector. */
struct fetch {
    size_t task, k; /* the next vector */
    const int32_t *at;
};

static inline void fetch_list(const struct gpuirr_batch *batch, size_t b)
{
    if (b >= batch->n) return;
    const struct gpuirr_task *task = &batch->task[b];
    for (uint32_t k = 0; k < task->nnb && k < LIST_LINES * LIST_LINE; k += LIST_LINE)
        __builtin_prefetch(task->nblist + k);
}

static inline int is_short(const struct gpuirr_task *task)
{
    return task->nnb < SHORT_LIST;
}

static inline void fetch_next(const struct gpuirr_compact *store, const struct gpuirr_batch *batch, struct fetch *fetch)
{
    while (fetch->task < batch->n &&
           (fetch->k >= batch->task[fetch->task].nnb || is_short(&batch->task[fetch->task]))) {
        fetch->task++;
        fetch->k = 0;
        if (fetch->task >= batch->n) break;
        const struct gpuirr_task *task = &batch->task[fetch->task];
        __builtin_prefetch((task->predicted ? store->pred : store->row) + (size_t)task->i * GPUIRR_ROW);
    }
    if (fetch->task >= batch->n) return;
    fetch->at = batch->task[fetch->task].nblist + fetch->k;
    fetch->k += SIMD_W;
}

/* `predicted` and `want_nearest` are constants wherever this is inlined. */
static inline __attribute__((always_inline)) void sum_list(const struct gpuirr_compact *store,
                                                           const struct gpuirr_batch *batch, size_t b,
                                                           const int predicted, const int want_nearest,
                                                           struct fetch *fetch, struct gpuirr_force *force)
{
    const struct gpuirr_task *task = &batch->task[b];
    if (is_short(task)) {
        gpuirr_compact_list_exact(store, task, batch->t, force);
        return;
    }
    const struct bodies pi = get_body(store, batch->t, predicted, task->i);
    /* Stored positions are right to 2^-34 |x|: closer pairs than 2^-12 |x| are not resolved to float precision. */
    const vf x2 = vf_fma(pi.high[2], pi.high[2], vf_fma(pi.high[1], pi.high[1], pi.high[0] * pi.high[0]));
    const vf low_i = vf_max(vf_max(vf_set1(MIN_R2), pi.d2), x2 * vf_set1(0x1p-24f));
    const vf zero = vf_set1(0.0f);
    struct lanes sum = {.r2_min = vf_set1(INFINITY), .nearest = vi_set1(0)};
    struct gpuirr_exact exact;
    int begun = 0, vectors = 0;
    for (int k = 0; k < 3; k++) sum.acc[k] = sum.jerk[k] = zero;
    *force = (struct gpuirr_force){.nearest = -1};
    for (uint32_t k = 0; k < task->nnb; k += SIMD_W, vectors++) {
        const uint32_t left = task->nnb - k;
        fetch_next(store, batch, fetch);
        const struct bodies pj = get_bodies(store, batch->t, predicted, task->nblist + k, fetch->at);
        const unsigned rest = add_lanes(&pi, &pj, low_i, vm_first(left), want_nearest, vectors, &sum);
        if (__builtin_expect(rest != 0, 0))
            gpuirr_compact_add_exact(store, task->i, task->nblist + k, rest, batch->t, &begun, &exact);
        if (vectors % FLUSH == FLUSH - 1) flush(&sum, force);
    }
    flush(&sum, force);
    double zeros = 0;
    for (int k = 0; k < 3; k++) zeros += 0 * force->acc[k] + 0 * force->jerk[k];
    if (__builtin_expect(zeros != 0, 0)) { /* NaN */
        gpuirr_compact_list_exact(store, task, batch->t, force);
        return;
    }
    for (int k = 0; k < 3 && begun; k++) {
        force->acc[k] += exact.acc[k];
        force->jerk[k] += exact.jerk[k];
    }
    if (begun) force->coincident = exact.coincident;
    if (want_nearest) force->nearest = find_nearest(task, &sum, begun ? &exact : NULL);
}

static void forces(const void *memory, const struct gpuirr_batch *batch, struct gpuirr_force *force)
{
    const struct gpuirr_compact *store = memory;
    struct fetch fetch = {0, 0, NULL};
    for (size_t b = 0; b < LISTS; b++) fetch_list(batch, b);
    for (int v = 0; v < AHEAD && batch->n > 0; v++) {
        fetch_next(store, batch, &fetch);
        for (int p = 0; fetch.at && p < 4; p++) fetch_part(store, batch->task[0].predicted, fetch.at, p);
    }
    for (size_t b = 0; b < batch->n; b++) {
        fetch_list(batch, b + LISTS);
        switch (batch->task[b].predicted << 1 | batch->want_nearest) {
        case 0:
            sum_list(store, batch, b, 0, 0, &fetch, &force[b]);
            break;
        case 1:
            sum_list(store, batch, b, 0, 1, &fetch, &force[b]);
            break;
        case 2:
            sum_list(store, batch, b, 1, 0, &fetch, &force[b]);
            break;
        default:
            sum_list(store, batch, b, 1, 1, &fetch, &force[b]);
            break;
        }
    }
}

#endif
