/** Helper GPUs compute a part of the sums of large blocks (cuda/sums.cuh). A kernel on each of them waits for orders
 *  from the GPU that advances blocks. It copies tiles and targets to its own memory, and writes sums and neighbours
 *  where the first GPU reads them; both have access to each other's memory. */
#ifndef NB6_CUDA_HELPERS_H
#define NB6_CUDA_HELPERS_H

#include "common/nbc.h"
#include "device/device.h"
#include "nbody6/engine/stages/state.h"

#include <cuda_runtime_api.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Most helpers; stars from which some blocks have work for them. */
enum { NB6_DEVICE_HELPERS = 7, NB6_DEVICE_HELPERS_WORTH = 20000 };

/** Kinds of orders: end of the kernel; sorted sums of a round; sums of pairs of targets of a large block; remaining
 *  sums of a large block in a round. */
enum nb6_device_order_kind { NB6_DEVICE_END, NB6_DEVICE_SUMS, NB6_DEVICE_MUTUAL, NB6_DEVICE_LEFT };

/** The work of an order. */
struct nb6_device_task {
    int32_t kind; /**< enum nb6_device_order_kind */
    int32_t has_new_tiles;
    int64_t n;                                 /**< targets of the round; how their sums are cut (cuda/cut.cuh): */
    int64_t groups, gpus, slices, each, first; /**< `each` and `first` for large blocks, `slices` for others */
};

/** An order, in memory of the helper. The kernel that advances blocks writes all else first, and `given` last. */
struct nb6_device_order {
    uint32_t given; /**< orders so far */
    struct nb6_device_task task;
    int64_t share; /**< index of the helper's share */
};

/** State of all helpers in the kernel that advances blocks. */
struct nb6_device_help {
    struct nb6_device_order *order[NB6_DEVICE_HELPERS];
    int32_t n; /**< helpers */
    uint32_t given;
    uint32_t done[NB6_DEVICE_HELPERS]; /**< orders done, written by the helpers */
};

/** Arguments of the kernel of a helper. */
struct nb6_device_helper_view {
    const struct nb6_dev_tile *tile;
    const struct nb6_dev_target *target;
    const struct nb6_dev_source *seen;
    int64_t *mutual;
    const struct nb6_device_order *order;
    uint32_t *arrived; /**< zero at start; arrivals at barriers of the helper */
    uint32_t *taken;   /**< units of work taken by its warps */
    uint32_t *done;
    const int32_t *has_failed; /**< in host memory; not 0: the kernel ends with an error */
    uint32_t given;            /**< orders given before this kernel */
};

/** Enqueue the kernel of a helper on the present GPU.
 *  @param[in] now  that of the GPU that advances blocks, except tiles, targets, their places and mutual sums
 *  @param[in] blocks  of threads */
cudaError_t nb6_device_help(const struct nb6_dev *now, const struct nb6_device_helper_view *view, int blocks,
                            cudaStream_t stream);

/** A helper GPU: its memory, and its number. */
struct nb6_device_helper {
    struct nbd_device device;
    struct nbd_stream *stream;
    struct nb6_device_order *order;
    uint32_t *arrived; /* two numbers; the second one is `taken` */
    struct nb6_dev_tile *tile;
    struct nb6_dev_target *target;
    struct nb6_dev_source *seen;
    int64_t *mutual;
};

/** All of them. */
struct nb6_device_helpers {
    int n, blocks;                 /**< blocks of threads on each helper, as on the GPU that advances blocks */
    const struct nbd_device *main; /**< the GPU that advances blocks */
    uint32_t given;                /**< orders so far */
    struct nb6_device_helper helper[NB6_DEVICE_HELPERS];
};

/** Take as helpers all GPUs of the same kind as the one that advances blocks that have access to its memory, as it
 *  has to theirs. */
void nb6_device_helpers_open(struct nb6_device_helpers *h, const struct nbd_device *main, int blocks, int n,
                             const int *gpu);
/** Allocate for so many tiles, targets of a round and mutual sums, after nb6_device_helpers_free. */
int nb6_device_helpers_allocate(struct nb6_device_helpers *h, size_t tiles, size_t targets, size_t mutual,
                                struct nbc_error *err);
/** Description of the helpers for the kernel that advances blocks.   @param[out] help  of a kernel that has not begun
 */
void nb6_device_helpers_tell(const struct nb6_device_helpers *h, struct nb6_device_help *help);
/** Enqueue their kernels, after that of the blocks.
 *  @param[in] dev, help  of that kernel, on its device   @param[in] has_failed  see nb6_device_helper_view */
int nb6_device_helpers_begin(const struct nb6_device_helpers *h, const struct nb6_dev *dev,
                             struct nb6_device_help *help, const int32_t *has_failed, struct nbc_error *err);
/** Wait for the end of their kernels, after that of the blocks.
 *  @param[in] help  at the end of that kernel   @return status of the first helper that failed */
int nb6_device_helpers_end(struct nb6_device_helpers *h, const struct nb6_device_help *help, struct nbc_error *err);
/** Status of the first helper that has failed so far. */
int nb6_device_helpers_state(const struct nb6_device_helpers *h, struct nbc_error *err);
/** Free their memory. */
void nb6_device_helpers_free(struct nb6_device_helpers *h);
/** Free all else: there are no helpers then. */
void nb6_device_helpers_close(struct nb6_device_helpers *h);

#ifdef __cplusplus
}
#endif
#endif
