/** Irregular forces of bodies that lie in the memory of a GPU: for programs that keep them there. Nothing is copied
 * from or to the host, and no call waits: all is enqueued on the stream of the caller, on the device that is current.
 * The forces are those of gpuirr_firr_vec (gpuirr.h) by the backend `cuda`, whose kernel this is; numbers are not
 * checked, and what is not finite gives what is not finite. The same call gives the same bits, whatever else is in the
 * block. */
#ifndef GPUIRR_CUDA_IRREGULAR_H
#define GPUIRR_CUDA_IRREGULAR_H

#include "common/hd.h"
#include "common/nbc.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The predictor of a body: state at t0, with its total acceleration and jerk (no Taylor factors). */
struct gpuirr_device_body {
    NBC_ALIGNED(64) double x[3];
    double v[3], acc[3], jerk[3], mass, t0;
    double spare[2]; /**< not read */
};

/** A body whose force is wanted, and where its list is. */
struct gpuirr_device_task {
    NBC_ALIGNED(16) int32_t body;
    int32_t nnb;   /**< length of the list */
    int64_t start; /**< its place in `list`, 0 or more */
};

/** Sums over one list (NA12 eq. 8, 9). */
struct gpuirr_force {
    double acc[3], jerk[3];
    int32_t nearest;     /**< neighbour with the smallest distance, the first of equals; -1: none */
    uint32_t coincident; /**< neighbours at the place of the body, which contribute nothing */
};

/** Forces on a block of bodies. All pointers are those of device memory. */
struct gpuirr_forces_device {
    double t;                              /**< time to which bodies are predicted */
    const struct gpuirr_device_body *body; /**< all that are active or neighbours, by their numbers */
    const int32_t *list;                   /**< neighbour lists, each ascending and without the body itself */
    size_t n;                              /**< forces wanted */
    const struct gpuirr_device_task *task; /**< [n] */
    struct gpuirr_force *force;            /**< [n] overwritten */
};

/** Enqueue the forces on a block. @param[in] stream  a cudaStream_t; NULL: the default one
 *  @return NBC_OK; NBC_UNAVAILABLE (built without CUDA); NBC_BAD_ARGUMENT (a pointer that is NULL, n above 2^31 - 1);
 *          NBC_DEVICE (the launch failed) */
int gpuirr_forces_device(const struct gpuirr_forces_device *job, void *stream, struct nbc_error *err);

#ifdef __cplusplus
}
#endif
#endif
