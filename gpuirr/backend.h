/** What a backend of GPUIRR has to provide. Private to the library: users read gpuirr.h.
 *
 *  gpuirr.c checks arguments, keeps lists, time and statistics, and shares active bodies among threads. A backend keeps
 *  the predictors in its own layout and sums the forces on a few bodies. To add one: copy backend_ref.c, and name it in
 *  the list of backends.c. */
#ifndef GPUIRR_BACKEND_H
#define GPUIRR_BACKEND_H

#include "gpuirr/gpuirr.h"

/** Stored lists are padded with copies of their last neighbour to a multiple of this. */
#define GPUIRR_LIST_GRAIN 16

/** Tasks in a batch, at most. */
#define GPUIRR_BATCH 64

/** State of a body at t0, with its total acceleration and jerk, no Taylor factors. */
struct gpuirr_state {
    double x[3], v[3], acc[3], jerk[3], mass, t0;
};

/** Which neighbours act on which body. */
struct gpuirr_task {
    const int32_t *nblist; /**< [nnb] ascending, without i; padded as said above */
    uint32_t nnb;
    int32_t i;
};

/** Tasks that one thread takes at a time. */
struct gpuirr_batch {
    double t;
    int want_nearest;               /**< 0: `nearest` may be left undefined */
    int predicted;                  /**< 1: all neighbours were given to predict() for the time t */
    size_t n;                       /**< up to GPUIRR_BATCH */
    const struct gpuirr_task *task; /**< [n] */
};

/** Sums over one list. */
struct gpuirr_force {
    double acc[3], jerk[3];
    int32_t nearest;     /**< neighbour with the smallest distance, the first of equals; -1: none */
    uint32_t coincident; /**< neighbours at the place of i, which contribute nothing */
};

struct gpuirr_backend {
    const char *name, *description;
    double ns_per_pair;
    /** OPTIONAL. Why this machine cannot run it, NULL when it can. */
    const char *(*missing)(void);

    /** REQUIRED. Storage for n_max bodies that are not set yet (see set_jp), NULL without memory. */
    void *(*open)(size_t n_max);
    /** REQUIRED. Room for n_max bodies instead of n_old, the new ones not set yet; what is stored stays.
     *  @return 0; -1 without memory: bodies [0, n_old) are as they were, and a later call may try again */
    int (*grow)(void **store, size_t n_old, size_t n_max);
    /** REQUIRED. Accepts NULL. */
    void (*close)(void *store);
    /** REQUIRED. Store a checked state. Concurrent calls are for different bodies. A body that was never set gives NaN
     *  in every sum that it enters, which is how a list that names it is found out. */
    void (*set_jp)(void *store, size_t i, const struct gpuirr_state *state);
    /** OPTIONAL. Keep the state of bodies [lo, hi) predicted to t. Concurrent calls are for disjoint ranges. */
    void (*predict)(void *store, size_t lo, size_t hi, double t);
    /** REQUIRED. Forces on the bodies of a batch. The bits of each depend on stored states, list and time only: neither
     *  on batch.predicted, nor on the other tasks. */
    void (*forces)(const void *store, const struct gpuirr_batch *batch, struct gpuirr_force *force);
};

/** Backend number k of the table, best first, NULL past its end. */
const struct gpuirr_backend *gpuirr_backend_ops(int k);

/** Messages number bodies from `base` on: for callers that count from 1. */
void gpuirr_number_from(gpuirr_t *handle, int base);

#endif
