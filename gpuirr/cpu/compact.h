/** The layout of the SIMD backends: data of each neighbour for their kernels, in float. Private to GPUIRR.
 *
 *  A neighbour costs one cache line, of `row`, or of `pred` after pred_all: beyond the second-level cache the number
 *  of lines determines the time of a force. Pairs that float arithmetic cannot resolve are summed from `body`, in
 *  double. */
#ifndef GPUIRR_CPU_COMPACT_H
#define GPUIRR_CPU_COMPACT_H

#include "gpuirr/store.h"

/** Floats in a row, in two halves that the kernels transpose:
 *  row:  x, y, z, m, vx, vy, vz, tails | ax/2, ay/2, az/2, jx/6, jy/6, jz/6, t0
 *  pred: x, y, z, m, vx, vy, vz, d^2   | x, y, z low, 0, unused
 *  tails: the low parts of x, y, z. The float x lies one to two units in its last place, ulp(x), nearer to zero than
 *  the coordinate = x + m ulp(x), where m in [1, 2) is the float with the sign and the exponent of x whose 23 bits
 *  behind the point are those of x, except for the highest ones: 11 of x, 12 of y and 9 of z, which are those of x,
 *  y, z and `tails` together (exclusive or). In tails, y is lowest, then x, then z; the bits of z behind its highest
 *  nine are combined with these bits of tails as well. Coordinates are accurate to 2^-33 abs(x). To decode one takes
 *  a shift, a selection of bits, an exclusive or and a multiplication, or less.
 *  t0 is a double in the place of two floats.
 *  d: distance from the stored position to the predicted one = high + low. */
#define GPUIRR_ROW 16

struct gpuirr_compact {
    float *row, *pred; /**< [n_max][GPUIRR_ROW], aligned to cache lines */
    struct gpuirr_record *body;
};

void *gpuirr_compact_open(size_t n_max, struct nbc_error *err);
int gpuirr_compact_grow(void **store, size_t n_old, size_t n_max);
void gpuirr_compact_close(void *store);
/** A body whose numbers a float cannot hold with all their digits gets a NaN for a row: all its pairs are summed in
 *  double. */
void gpuirr_compact_set_jp(void *store, size_t i, const struct gpuirr_state *state);

/** Add to `sum` the forces of those neighbours nb[l] for which bit l is set. `*begun`: 0 before the first such call for
 *  a list. */
void gpuirr_compact_add_exact(const struct gpuirr_compact *store, int32_t i, const int32_t *nb, unsigned bits, double t,
                              int *begun, struct gpuirr_exact *sum);
/** The whole list in double.   @return rounding error of the acceleration */
double gpuirr_compact_list_exact(const struct gpuirr_compact *store, const struct gpuirr_task *task, double t,
                                 struct gpuirr_force *force);

/** The part of a descriptor that all SIMD backends share. */
#define GPUIRR_COMPACT_OPS                                                                                             \
    .open = gpuirr_compact_open, .grow = gpuirr_compact_grow, .close = gpuirr_compact_close,                           \
    .set_jp = gpuirr_compact_set_jp

#endif
