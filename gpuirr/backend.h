/** Interface of the backends of GPUIRR. Private to the library: users read gpuirr.h.
 *
 *  gpuirr.c checks arguments, keeps lists, time and statistics; forces.c shares active bodies among threads. A backend
 *  keeps the predictors in its own layout and sums the forces on a few bodies, or, if it is a device, on all that are
 *  active. To add one: copy backend_ref.c, and name it in backends.def. */
#ifndef GPUIRR_BACKEND_H
#define GPUIRR_BACKEND_H

#include "gpuirr/cuda_irregular.h"
#include "gpuirr/gpuirr.h"

/** Stored lists are padded with copies of their last neighbour to a multiple of this. */
#define GPUIRR_LIST_GRAIN 16

/** Tasks in a batch, at most. */
#define GPUIRR_BATCH 64

/** State of a body at t0, with its total acceleration and jerk, no Taylor factors. */
struct gpuirr_state {
    double x[3], v[3], acc[3], jerk[3], mass, t0;
};

/** A task: a body and the list of neighbours that act on it. */
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
    int in_double;                  /**< 1: all lists are to be summed in double */
    size_t n;                       /**< up to GPUIRR_BATCH */
    const struct gpuirr_task *task; /**< [n] */
    double *noise;                  /**< [n] rounding errors of the accelerations, written; NULL: not wanted */
};

struct gpuirr_list;

/** All active bodies of a call. */
struct gpuirr_block {
    double t;
    int in_double; /**< as in a batch */
    size_t n;
    const int32_t *act;             /**< [n], any of them more than once */
    const struct gpuirr_list *list; /**< of all bodies (lists.h) */
};

struct gpuirr_backend {
    const char *name, *description;
    double ns_per_pair;
    /** OPTIONAL. Why this machine cannot run it, NULL when it can. */
    const char *(*missing)(void);

    /** REQUIRED. Storage for n_max bodies that are not set yet (see set_jp). NULL without memory, or for the reason
     * that err, which is never NULL, has been filled with. */
    void *(*open)(size_t n_max, struct nbc_error *err);
    /** REQUIRED. Enlarge to n_max bodies instead of n_old, the new ones not set yet; stored bodies stay.
     *  @return 0; -1 without memory: bodies [0, n_old) are as they were, and a later call may try again */
    int (*grow)(void **store, size_t n_old, size_t n_max);
    /** REQUIRED. Accepts NULL. */
    void (*close)(void *store);
    /** REQUIRED. Store a checked state. Concurrent calls are for different bodies. A body that was never set gives
     *  NaN in every sum that it enters, by which a list with such a body is detected. */
    void (*set_jp)(void *store, size_t i, const struct gpuirr_state *state);
    /** OPTIONAL. Keep the state of bodies [lo, hi) predicted to t. Concurrent calls are for disjoint ranges. */
    void (*predict)(void *store, size_t lo, size_t hi, double t);
    /** REQUIRED if there is no `block`. Forces on the bodies of a batch. The bits of each depend on stored states, list
     *  and time only: neither on batch.predicted, nor on the other tasks. */
    void (*forces)(const void *store, const struct gpuirr_batch *batch, struct gpuirr_force *force);

    /* OPTIONAL, of devices: */

    /** A time was announced: bodies that were set may be sent. */
    void (*announce)(void *store);
    /** The list of body i has changed. Concurrent calls are for different bodies. */
    void (*list_changed)(void *store, size_t i);
    /** Forces on all active bodies, instead of `forces`; the same rule about their bits.
     *  @param[out] force, noise  [block->n] valid until the next call
     *  @return NBC_OK; NBC_NO_MEMORY; NBC_DEVICE */
    int (*block)(void *store, const struct gpuirr_block *block, const struct gpuirr_force **force, const double **noise,
                 struct nbc_error *err);
    /** Where it computes, as text; NULL: on the processor. */
    const char *(*place)(const void *store);
};

/** Backend number k of the table, best first, NULL past its end. */
const struct gpuirr_backend *gpuirr_backend_ops(int k);

/** Where the handle computes, as text. */
const char *gpuirr_place(const gpuirr_t *handle);

/** Messages number bodies from `base` on: for callers that count from 1. */
void gpuirr_number_from(gpuirr_t *handle, int base);

#endif
