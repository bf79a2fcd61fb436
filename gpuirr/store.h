/** Predictors in double precision, and the force between two bodies in it: used by `ref`, and by the SIMD backends
 *  for the few pairs that float arithmetic cannot resolve. Private to GPUIRR. */
#ifndef GPUIRR_STORE_H
#define GPUIRR_STORE_H

#include "gpuirr/backend.h"

/** One body in two cache lines. */
struct gpuirr_record {
    _Alignas(64) struct gpuirr_state s;
    double spare[2];
};
_Static_assert(sizeof(struct gpuirr_record) == 128, "one body, two cache lines");

/** [n_max] records: the n_old <= n_max of `old`, which is freed, then some without a time, which gives NaN in all that
 *  they enter. NULL without memory: `old` is kept. `old` may be NULL for n_old = 0; nbc_free. */
struct gpuirr_record *gpuirr_records_grow(struct gpuirr_record *old, size_t n_old, size_t n_max);

/** Sums on one body in double precision, on the way through its list. */
struct gpuirr_exact {
    double x[3], v[3];  /**< of the body, at the time */
    double from_origin; /**< its distance */
    double acc[3], jerk[3], noise;
    double r2_min; /**< INFINITY: no neighbour yet */
    int32_t nearest;
    uint32_t coincident;
};

/** The body itself, predicted to t; sums are zero. */
void gpuirr_exact_begin(const struct gpuirr_record *body, double t, struct gpuirr_exact *sum);
/** Add the force of body j, which has record `body`: NA12 eq. 8 and 9. */
void gpuirr_exact_add(const struct gpuirr_record *body, int32_t j, double t, struct gpuirr_exact *sum);

#endif
