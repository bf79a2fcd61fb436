/** What a backend of GPUIRR has to provide. Private to the library: users read gpuirr.h.
 *
 *  gpuirr.c checks arguments, keeps lists, time and statistics, and shares active bodies among threads. A backend keeps
 *  the predictors in its own layout and sums the force on one body. To add one: copy backend_ref.c, and name its
 * descriptor in the table of backends.c. */
#ifndef GPUIRR_BACKEND_H
#define GPUIRR_BACKEND_H

#include "gpuirr.h"

/** State of a body at t0, with its total acceleration and jerk, no Taylor factors. */
struct gpuirr_state {
    double x[3], v[3], acc[3], jerk[3], mass, t0;
};

/** Which neighbours act on which body at which time. */
struct gpuirr_task {
    double t;
    int predicted; /**< 1: the body and all its neighbours were given to predict() for this t */
    int32_t i;
    size_t nnb;
    const int32_t *nblist; /**< [nnb] ascending, without i */
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
    /** REQUIRED. Accepts NULL. */
    void (*close)(void *store);
    /** REQUIRED. Store a checked state. Concurrent calls are for different bodies. A body that was never set gives NaN
     *  in every sum that it enters, which is how a list that names it is found out. */
    void (*set_jp)(void *store, size_t i, const struct gpuirr_state *state);
    /** OPTIONAL. Keep the state of bodies [lo, hi) predicted to t. Concurrent calls are for disjoint ranges. */
    void (*predict)(void *store, size_t lo, size_t hi, double t);
    /** REQUIRED. Force on one body. Its bits depend on stored states, list and time only: not on task.predicted. */
    void (*force)(const void *store, const struct gpuirr_task *task, struct gpuirr_force *force);
};

/** Backend number k of the table, best first, NULL past its end. */
const struct gpuirr_backend *gpuirr_backend_ops(int k);

/** Messages number bodies from `base` on: for callers that count from 1. */
void gpuirr_number_from(gpuirr_t *handle, int base);

extern const struct gpuirr_backend gpuirr_backend_portable, gpuirr_backend_ref;

#endif
