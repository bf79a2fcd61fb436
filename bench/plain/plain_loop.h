/** A plain loop over all sources in float, as in a legacy code, vectorised by the compiler: regular forces with the
 *  test of neighbours, which are counted, but without their lists; softened forces. A backend has to beat its rate.
 *  Compiled with -ffast-math, without which the sums would not be vectors. */
#ifndef BENCH_PLAIN_LOOP_H
#define BENCH_PLAIN_LOOP_H

#include <stddef.h>

struct plain_sources {
    size_t n;
    const float *m, *x, *y, *z, *vx, *vy, *vz; /**< [n] */
};

struct plain_target {
    float x[3], v[3], dt, h2;
};

struct plain_sums {
    float acc[3], jerk[3];
    int neighbours;
};

typedef void plain_loop(const struct plain_sources *sources, const struct plain_target *target,
                        struct plain_sums *sums);

/** For the baseline of the platform, for AVX2 with FMA, for AVX-512. */
plain_loop plain_loop_portable, plain_loop_avx2, plain_loop_avx512;

/** Softened forces in the same way: acceleration, and the sum of m/sqrt(r^2 + softening^2) if `want_pot`. */
typedef void plain_softened(const struct plain_sources *sources, const float x[3], float softening2, int want_pot,
                            float sums[4]);
plain_softened plain_softened_portable, plain_softened_avx2, plain_softened_avx512;

#endif
