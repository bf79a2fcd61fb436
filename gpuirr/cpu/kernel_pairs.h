/* Pairs of one active body with its neighbours, a neighbour in each lane, and the sums over them. Part of kernel.h,
 * which says what the including file has to define. */
#ifndef GPUIRR_CPU_KERNEL_PAIRS_H
#define GPUIRR_CPU_KERNEL_PAIRS_H

#include "gpuirr/cpu/kernel_bodies.h"

#include <math.h>

/* Neighbours that are summed in float, one in each lane at a time, before a flush to double. Strong neighbours
 * (pair.h) are determined for each chunk; one sum in twelve has one in whole runs. */
enum { CHUNK = 128 };

/* A chunk of a list: position and velocity relative to the active body, mass, distance. r2 is NaN for pairs that are
 * not for floats:
 * - too close for them;
 * - closer than one of the two has gone since it was stored, because the rounding errors of prediction, a few 2^-25 d,
 *   shall be small beside the distance.
 * The lanes behind the last neighbour hold it again, without its mass. */
struct pairs {
    _Alignas(64) float dx[3][CHUNK], dv[3][CHUNK], m[CHUNK], r2[CHUNK];
};

INLINE void put_pairs(const struct target *i, const struct bodies *j, uint32_t k, struct pairs *pairs)
{
    vf dx[3];
    for (int d = 0; d < 3; d++) vf_store(pairs->dv[d] + k, j->v[d] - i->v[d]);
    for (int d = 0; d < 3; d++) {
        dx[d] = (j->high[d] - i->high[d]) + (j->low[d] - i->low[d]);
        vf_store(pairs->dx[d] + k, dx[d]);
    }
    const vf r2 = vf_fma(dx[2], dx[2], vf_fma(dx[1], dx[1], dx[0] * dx[0]));
    vf_store(pairs->m + k, j->m);
    vf_store(pairs->r2 + k, vf_nan_below(r2, vf_max(i->r2_min, j->d2)));
}

/* Float sums of each lane over a chunk. */
struct lanes {
    vf sum[6];               /* acceleration and jerk */
    vf m, r2;                /* mass and r^2 */
    vf strongest, magnitude; /* the largest m/r^2; their sum */
};

INLINE void clear_lanes(struct lanes *lanes)
{
    const vf zero = vf_set1(0.0f);
    for (int k = 0; k < 6; k++) lanes->sum[k] = zero;
    lanes->m = lanes->r2 = lanes->strongest = lanes->magnitude = zero;
}

/* NA12 eq. 8 and 9. */
INLINE void add_pairs(const struct pairs *pairs, uint32_t k, vf m, vf r2, struct lanes *lanes)
{
    vf dx[3], dv[3];
    const struct vf_powers w = vf_powers_of(m, r2);
    for (int d = 0; d < 3; d++) {
        dx[d] = vf_load(pairs->dx[d] + k);
        dv[d] = vf_load(pairs->dv[d] + k);
    }
    const vf rv = vf_fma(dx[2], dv[2], vf_fma(dx[1], dv[1], dx[0] * dv[0]));
    const vf alpha = vf_set1(-3.0f) * rv * w.rinv2;
    for (int d = 0; d < 3; d++) {
        lanes->sum[d] = vf_fma(w.mr3, dx[d], lanes->sum[d]);
        lanes->sum[3 + d] = vf_fma(w.mr3, vf_fma(alpha, dx[d], dv[d]), lanes->sum[3 + d]);
    }
    lanes->m += m;
    lanes->r2 += r2;
    const vf magnitude = m * w.rinv2;
    lanes->strongest = vf_max(lanes->strongest, magnitude);
    lanes->magnitude += magnitude;
}

/* The nearest of each lane so far, and the number of its vector in the list. */
struct nearest {
    vf r2;
    vi vector;
};

INLINE void find_nearer(const struct pairs *pairs, uint32_t k, int number, struct nearest *nearest)
{
    const vf r2 = vf_load(pairs->r2 + k);
    const vm nearer = vm_below(r2, nearest->r2);
    nearest->r2 = vf_where(nearer, r2, nearest->r2);
    nearest->vector = vi_where(nearer, vi_set1(number), nearest->vector);
}

/* Sums over n pairs in float, for all of them. In the last vector the lanes `behind` are behind the list.
 * @return 1: all pairs fit floats, and no neighbour is strong. NaN is in no range. */
INLINE int sum_pairs(const struct pairs *pairs, uint32_t n, vm behind, struct lanes *lanes)
{
    uint32_t k = 0;
    clear_lanes(lanes);
    do {
        add_pairs(pairs, k, vf_load(pairs->m + k), vf_load(pairs->r2 + k), lanes);
        k += SIMD_W;
    } while (k < n);
    float m, r2;
    vf_sum_two(lanes->m, lanes->r2 - vf_in(behind, vf_load(pairs->r2 + k - SIMD_W)), &m, &r2);
    const vm strong = vm_below(vf_set1(GPUIRR_STRONG / GPUIRR_EDGE * m), lanes->strongest * vf_set1(r2));
    return r2 < GPUIRR_MAX_R2 && !vm_bits(strong);
}

/* ---- lists */

/* Sums over a list so far. */
struct list_sums {
    vf sum[6];    /* of the last chunk */
    vf magnitude; /* of all chunks: m/r^2 of pairs in float */
    struct nearest nearest;
    double total[6]; /* of those before; undefined before the second */
    int has_exact;   /* 0: `exact` is undefined */
    struct gpuirr_exact exact;
};

/* m weak > r2 for strong neighbours of a chunk: by the means over those that are for floats. */
INLINE float find_weak(const struct pairs *pairs, uint32_t n)
{
    vf m_sum = vf_set1(0.0f), r2_sum = m_sum;
    float m, r2;
    for (uint32_t k = 0; k < n; k += SIMD_W) {
        const vf r2_k = vf_load(pairs->r2 + k);
        const vm in_range = vm_and_not(vm_at_most(r2_k, vf_set1(GPUIRR_MAX_R2)), vm_from(n - k));
        m_sum += vf_in(in_range, vf_load(pairs->m + k));
        r2_sum += vf_in(in_range, r2_k);
    }
    vf_sum_two(m_sum, r2_sum, &m, &r2);
    return m > 0 ? r2 / (GPUIRR_STRONG / GPUIRR_EDGE * m) : 0;
}

/* Sums over n pairs with the neighbours nb, in double for those that are too close or too far for floats, and for
 * strong ones. Rounding one strong force would drown the small differences between the sums over two lists that
 * correctors are made of. */
static void sum_pairs_with_care(const struct gpuirr_compact *store, int32_t i, double t, const struct pairs *pairs,
                                uint32_t n, const int32_t *nb, struct lanes *lanes, struct list_sums *sums)
{
    const vf weak = vf_set1(find_weak(pairs, n));
    for (int half = 0; half < 2; half++) __builtin_prefetch((const char *)&store->body[i] + 64 * half);
    clear_lanes(lanes);
    for (uint32_t k = 0; k < n; k += SIMD_W) {
        const vf m = vf_load(pairs->m + k), r2 = vf_load(pairs->r2 + k);
        const vm added = vm_and(vm_at_most(r2, vf_set1(GPUIRR_MAX_R2)), vm_at_most(m * weak, r2));
        const unsigned rest = ~(vm_bits(added) | vm_bits(vm_from(n - k))) & ((1u << SIMD_W) - 1);
        add_pairs(pairs, k, vf_in(added, m), vf_where(added, r2, vf_set1(1.0f)), lanes);
        if (rest) gpuirr_compact_add_exact(store, i, nb + k, rest, t, &sums->has_exact, &sums->exact);
    }
}

/* Add the float sums to those in double, and clear them. */
static void flush(struct list_sums *sums, int is_first)
{
    double part[6];
    vf_totals(sums->sum, part);
    for (int k = 0; k < 6; k++) sums->total[k] = is_first ? part[k] : sums->total[k] + part[k];
}

/* Sums of floats, so that a sum of them is finite in double. */
static inline int not_finite(const double total[6])
{
    return 0 * (((total[0] + total[1]) + (total[2] + total[3])) + (total[4] + total[5])) != 0;
}

/* The nearest of all lanes and of the neighbours in double. Strong neighbours are among both. */
static int32_t find_nearest(const struct gpuirr_task *task, const struct list_sums *sums)
{
    _Alignas(64) float r2[SIMD_W];
    int32_t vector[SIMD_W], nearest = sums->has_exact ? sums->exact.nearest : -1;
    double r2_min = sums->has_exact ? sums->exact.r2_min : INFINITY;
    vf_store(r2, sums->nearest.r2);
    vi_store(vector, sums->nearest.vector);
    for (int l = 0; l < SIMD_W; l++) {
        if (!((double)r2[l] <= r2_min) || !isfinite(r2[l])) continue;
        int32_t j = task->nblist[(size_t)vector[l] * SIMD_W + (size_t)l];
        if ((double)r2[l] < r2_min || nearest < 0 || j < nearest) nearest = j;
        r2_min = (double)r2[l];
    }
    return nearest;
}

/* The whole list: all sums in double.   @return 0: the float sums have overflowed */
INLINE int total_of_list(const struct gpuirr_task *task, const struct list_sums *sums, const int want_nearest,
                         struct gpuirr_force *force)
{
    double total[6];
    vf_totals(sums->sum, total);
    if (task->nnb > CHUNK)
        for (int k = 0; k < 6; k++) total[k] += sums->total[k];
    if (__builtin_expect(not_finite(total), 0)) return 0;
    if (sums->has_exact)
        for (int k = 0; k < 6; k++) total[k] += k < 3 ? sums->exact.acc[k] : sums->exact.jerk[k - 3];
    for (int k = 0; k < 3; k++) {
        force->acc[k] = total[k];
        force->jerk[k] = total[3 + k];
    }
    force->coincident = sums->has_exact ? sums->exact.coincident : 0;
    force->nearest = want_nearest ? find_nearest(task, sums) : -1;
    return 1;
}

/* Rounding error of the acceleration of such a total. */
INLINE double noise_of_list(const struct list_sums *sums)
{
    float magnitude, same; /* there is no sum of one vector */
    vf_sum_two(sums->magnitude, sums->magnitude, &magnitude, &same);
    return (double)(GPUIRR_NOISE_FLOAT * fabsf(magnitude)) + (sums->has_exact ? sums->exact.noise : 0);
}

#endif
