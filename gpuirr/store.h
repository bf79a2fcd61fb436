/** Predictors in double precision, for the backends that work in it. Private to GPUIRR. */
#ifndef GPUIRR_STORE_H
#define GPUIRR_STORE_H

#include "backend.h"

/** One body in two cache lines: what its neighbours need to predict it. */
struct gpuirr_record {
    _Alignas(64) struct gpuirr_state s;
    double spare[2];
};
_Static_assert(sizeof(struct gpuirr_record) == 128, "one body, two cache lines");

/** A body at the announced time in one cache line. */
struct gpuirr_predicted {
    _Alignas(64) double x[3];
    double v[3];
    double mass, spare;
};
_Static_assert(sizeof(struct gpuirr_predicted) == 64, "one predicted body, one cache line");

struct gpuirr_store {
    struct gpuirr_record *body;
    struct gpuirr_predicted *pred; /**< NULL for a backend that predicts on the fly only */
};

/** @param[in] with_pred keep predicted bodies as well */
struct gpuirr_store *gpuirr_store_open(size_t n_max, int with_pred);
void gpuirr_store_close(void *store);
void gpuirr_store_set_jp(void *store, size_t i, const struct gpuirr_state *state);

#endif
