/* The arithmetic of one target with a vector of sources, for kernel_cpu.h and kernel_tile.h. The including file has
 * included simd_*.h, which defines
 *   SIMD_W           floats in a vector: 4, 8 or 16
 *   SIMD_BLOCK       targets that share one load of a vector of sources
 *   vf, vm           vector of floats; mask of its lanes
 *   vf_load, vf_store, vf_set1, vf_abs, vf_sqrt, vf_max, vf_fma (a*b + c), vf_fnma (c - a*b)
 *   vf_powers(m, r2, two)    m/r^3, of which mr3_unit(two) is the unit, 3/r^2 and m/r; for two-float forces as
 *                            precise as a float. vf_powers_but(m, r2, skip, two): 0 where skip
 *   vf_add_to(sums, a)       the lanes of a, two by two, added to SIMD_W/2 doubles
 *   vm_either_lt(a, b, t)    a < t or b < t
 *   vm_not_above(a, t)       a <= t, or either is NaN
 *   vm_with_lane(m, lane), vm_bits(m)
 * Nothing here depends on the number of threads. */
#ifndef GPUNB_CPU_KERNEL_PAIR_H
#define GPUNB_CPU_KERNEL_PAIR_H

#include "gpunb/cpu/cpu.h"

enum {
    N_SUMS = 7, /* acc, jerk, pot */
    N_LANES = SIMD_W / 2,
    STRETCH = 2 * SIMD_W, /* cells between two flushes of the float sums: 32 additions for each lane */
};

/* FUNCTION(ARGUMENTS, flags) with two or three flags that are 0 or 1, constants where it is inlined, so that no loop
 * asks for them: a copy for each of their values. In a build with the address sanitizer one copy asks: its lines are
 * the same, and the others would be half of the time that this build takes to compile. */
#if defined(__SANITIZE_ADDRESS__)
#define KERNEL_COPIES 0
#define KERNEL_BY_2(a, b, function, ...) function(__VA_ARGS__, a, b)
#define KERNEL_BY_3(a, b, c, function, ...) function(__VA_ARGS__, a, b, c)
#else
#define KERNEL_COPIES 1
#define KERNEL_CASE(value, function, ...)                                                                              \
    case value:                                                                                                        \
        function(__VA_ARGS__);                                                                                         \
        break;
#define KERNEL_BY_2(a, b, function, ...)                                                                               \
    switch ((a) << 1 | (b)) {                                                                                          \
        KERNEL_CASE(0, function, __VA_ARGS__, 0, 0)                                                                    \
        KERNEL_CASE(1, function, __VA_ARGS__, 0, 1)                                                                    \
        KERNEL_CASE(2, function, __VA_ARGS__, 1, 0)                                                                    \
    default:                                                                                                           \
        function(__VA_ARGS__, 1, 1);                                                                                   \
        break;                                                                                                         \
    }
#define KERNEL_BY_3(a, b, c, function, ...)                                                                            \
    switch ((a) << 2 | (b) << 1 | (c)) {                                                                               \
        KERNEL_CASE(0, function, __VA_ARGS__, 0, 0, 0)                                                                 \
        KERNEL_CASE(1, function, __VA_ARGS__, 0, 0, 1)                                                                 \
        KERNEL_CASE(2, function, __VA_ARGS__, 0, 1, 0)                                                                 \
        KERNEL_CASE(3, function, __VA_ARGS__, 0, 1, 1)                                                                 \
        KERNEL_CASE(4, function, __VA_ARGS__, 1, 0, 0)                                                                 \
        KERNEL_CASE(5, function, __VA_ARGS__, 1, 0, 1)                                                                 \
        KERNEL_CASE(6, function, __VA_ARGS__, 1, 1, 0)                                                                 \
    default:                                                                                                           \
        function(__VA_ARGS__, 1, 1, 1);                                                                                \
        break;                                                                                                         \
    }
#endif

/* Squares of distances up to this are taken as zero: 1/r^3 of such a pair would not fit a float. Added to the limit of
 * the neighbour test, it sends these pairs, and with them the target itself, to the rare path at no cost. */
#define TINY_R2 1e-37f

/* Sums of each lane. */
struct sums {
    vf ax, ay, az, jx, jy, jz, pot;
};

static inline __attribute__((always_inline)) struct sums no_sums(void)
{
    const vf zero = vf_set1(0.0f);
    return (struct sums){zero, zero, zero, zero, zero, zero, zero};
}

/* Where sources are relative to a target. */
struct relative {
    vf dx, dy, dz, dvx, dvy, dvz;
};

static inline __attribute__((always_inline)) vf square_of_distance(const struct relative *d)
{
    return vf_fma(d->dz, d->dz, vf_fma(d->dy, d->dy, d->dx * d->dx));
}

/* NA12 eq. 10, 11 */
static inline __attribute__((always_inline)) void add_pairs(struct sums *sums, const struct relative *d,
                                                            const struct vf_powers *w, const int want_pot)
{
    const vf alpha = vf_fma(d->dz, d->dvz, vf_fma(d->dy, d->dvy, d->dx * d->dvx)) * w->rinv2_3;
    sums->ax = vf_fma(w->mr3, d->dx, sums->ax);
    sums->ay = vf_fma(w->mr3, d->dy, sums->ay);
    sums->az = vf_fma(w->mr3, d->dz, sums->az);
    sums->jx = vf_fma(w->mr3, vf_fnma(alpha, d->dx, d->dvx), sums->jx);
    sums->jy = vf_fma(w->mr3, vf_fnma(alpha, d->dy, d->dvy), sums->jy);
    sums->jz = vf_fma(w->mr3, vf_fnma(alpha, d->dz, d->dvz), sums->jz);
    if (want_pot) sums->pot = sums->pot + w->mr;
}

/* Sources at `at` of a cell, as the test of neighbours and close pairs need them. */
static inline __attribute__((always_inline)) struct relative
relative_to(const struct gpunb_target *t, const struct gpunb_cell *cell, int at, const int two)
{
    struct relative d = {.dx = vf_load(cell->xh + at) - vf_set1(t->xh[0]),
                         .dy = vf_load(cell->yh + at) - vf_set1(t->xh[1]),
                         .dz = vf_load(cell->zh + at) - vf_set1(t->xh[2]),
                         .dvx = vf_load(cell->vx + at) - vf_set1(t->v[0]),
                         .dvy = vf_load(cell->vy + at) - vf_set1(t->v[1]),
                         .dvz = vf_load(cell->vz + at) - vf_set1(t->v[2])};
    if (two) {
        d.dx = d.dx + (vf_load(cell->xl + at) - vf_set1(t->xl[0]));
        d.dy = d.dy + (vf_load(cell->yl + at) - vf_set1(t->xl[1]));
        d.dz = d.dz + (vf_load(cell->zl + at) - vf_set1(t->xl[2]));
    }
    return d;
}

/* NA12 eq. 4, and pairs at no distance */
static inline __attribute__((always_inline)) vm inside_sphere(const struct gpunb_target *t, const struct relative *d,
                                                              vf r2, vf m, const int weighted)
{
    const vf dt = vf_set1(t->dt), px = vf_fma(dt, d->dvx, d->dx), py = vf_fma(dt, d->dvy, d->dy),
             pz = vf_fma(dt, d->dvz, d->dz), p2 = vf_fma(pz, pz, vf_fma(py, py, px * px));
    const vf limit = weighted ? vf_fma(m, vf_set1(t->h2), vf_set1(TINY_R2)) : vf_set1(t->h2 + TINY_R2);
    return vm_either_lt(r2, p2, limit);
}

static inline __attribute__((always_inline)) void flush(double lanes[N_SUMS][N_LANES], const struct sums *sums,
                                                        const int want_pot)
{
    vf_add_to(lanes[0], sums->ax);
    vf_add_to(lanes[1], sums->ay);
    vf_add_to(lanes[2], sums->az);
    vf_add_to(lanes[3], sums->jx);
    vf_add_to(lanes[4], sums->jy);
    vf_add_to(lanes[5], sums->jz);
    if (want_pot) vf_add_to(lanes[6], sums->pot);
}

static void lanes_to_sum(double lanes[N_SUMS][N_LANES], int two, struct gpunb_sum *sum)
{
    double all[N_SUMS];
    for (int q = 0; q < N_SUMS; q++) {
        for (int half = N_LANES / 2; half > 0; half /= 2)
            for (int l = 0; l < half; l++) lanes[q][l] += lanes[q][l + half];
        all[q] = q < 6 ? lanes[q][0] * mr3_unit(two) : lanes[q][0];
    }
    memcpy(sum->acc, all, sizeof sum->acc);
    memcpy(sum->jerk, all + 3, sizeof sum->jerk);
    sum->pot = all[6];
}

#endif
