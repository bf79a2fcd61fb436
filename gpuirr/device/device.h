/** Interface of a device for its store (device/store.h): of a GPU (cuda/backend_cuda.c), or of the processor in its
 *  place (backend_emulated.c). Private to GPUIRR. Memory of the host is memory that the device can read and write
 *  too.
 *
 *  `store` and `forces` only enqueue, in order; their input and output is left alone until `wait` has returned. */
#ifndef GPUIRR_DEVICE_DEVICE_H
#define GPUIRR_DEVICE_DEVICE_H

#include "gpuirr/cuda_irregular.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A body that was set, as it is sent. */
struct gpuirr_device_change {
    NBC_ALIGNED(64) double x[3];
    double v[3], acc[3], jerk[3], mass, t0;
    int64_t body; /**< its number */
    double spare;
};

NBC_ASSERT_CONSTANT(sizeof(struct gpuirr_device_change) == sizeof(struct gpuirr_device_body), "records are copied");

/** Copy changed bodies to their places. */
struct gpuirr_device_store_job {
    const struct gpuirr_device_change *change; /**< [n], memory of the host */
    size_t n;
    struct gpuirr_device_body *body;
};

/** A new list begins with its place in the pool, in as many numbers. */
enum { GPUIRR_FRESH_HEAD = (int)(sizeof(int64_t) / sizeof(int32_t)) };

/** Forces on a block. A task with start < 0 has a list that is not in the pool yet: it comes from fresh + ~start,
 * behind its head, and is written to the pool before it is summed. Tasks that share a list write the same. */
struct gpuirr_device_force_job {
    double t;
    const struct gpuirr_device_body *body;
    int32_t *pool;
    const int32_t *fresh; /**< memory of the host, each head aligned as required */
    size_t n;
    const struct gpuirr_device_task *task; /**< [n], memory of the host or of the device */
    struct gpuirr_force *force;            /**< [n], likewise */
    double *noise;                         /**< [n], likewise: rounding errors of accelerations; NULL: not wanted */
    int in_double;                         /**< 1: all pairs are summed in double */
};

/** Functions that return a status fill err when it is not NBC_OK. */
struct gpuirr_device {
    /** @param[out] context  argument of the other functions; to be closed after a failure, too, unless it is NULL */
    int (*open)(void **context, struct nbc_error *err);
    void (*close)(void *context);
    /** "device 0 (NVIDIA H200)", "the processor" */
    const char *(*name)(const void *context);
    int (*reserve)(void *context, int on_host, size_t bytes, void **memory, struct nbc_error *err);
    /** Accepts NULL. The device has no work left that needs it. */
    void (*release)(void *context, int on_host, void *memory);
    /** Every byte of memory of the device becomes 0xff: bodies that were never set. */
    int (*unset)(void *context, void *memory, size_t bytes, struct nbc_error *err);
    /** From memory of the device to memory of the device. */
    int (*copy)(void *context, void *to, const void *from, size_t bytes, struct nbc_error *err);
    int (*store)(void *context, const struct gpuirr_device_store_job *job, struct nbc_error *err);
    int (*forces)(void *context, const struct gpuirr_device_force_job *job, struct nbc_error *err);
    int (*wait)(void *context, struct nbc_error *err);
};

#ifdef __cplusplus
}
#endif
#endif
