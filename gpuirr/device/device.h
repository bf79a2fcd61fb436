/** Kernels of a kind of device, for the store (device/store.h): on a GPU (cuda/backend_cuda.c), or emulated
 *  (backend_emulated.c). Private to GPUIRR. Memory of the host is what the device
 *  reads and writes too. */
#ifndef GPUIRR_DEVICE_DEVICE_H
#define GPUIRR_DEVICE_DEVICE_H

#include "device/device.h"
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

struct gpuirr_device {
    /** The device on which bodies and lists are.   @return as nbd_open */
    int (*open)(struct nbd_device *device, struct nbc_error *err);
    /** Enqueue: what they read and write is left alone until the stream was waited for.
     *  @return 0; the code of a failure, for NBD_LAUNCH */
    int (*store)(const struct gpuirr_device_store_job *job, struct nbd_stream *stream);
    int (*forces)(const struct gpuirr_device_force_job *job, struct nbd_stream *stream);
};

#ifdef __cplusplus
}
#endif
#endif
