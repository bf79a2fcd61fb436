/** Other GPUs, which make a part of the sums of large blocks (cuda/sums.cuh). A kernel on each of them waits for the
 *  orders of the one that makes blocks; it copies tiles and targets to its own memory, and writes sums and neighbours
 *  where that one reads them: both see the memory of each other. */
#ifndef NB6_CUDA_HELPERS_H
#define NB6_CUDA_HELPERS_H

#include "nbody6/engine/stages/state.h"

#include <cuda_runtime_api.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** So many at most; stars from which any block has work for them. */
enum { NB6_DEVICE_HELPERS = 7, NB6_DEVICE_HELPERS_WORTH = 20000 };

/** Kinds of orders: that was all; sorted sums of a round; sums of pairs of targets of a large block, and what is left
 * of it in a round. */
enum nb6_device_order_kind { NB6_DEVICE_END, NB6_DEVICE_SUMS, NB6_DEVICE_MUTUAL, NB6_DEVICE_LEFT };

/** What a helper has to do. */
struct nb6_device_task {
    int32_t kind; /**< enum nb6_device_order_kind */
    int32_t has_new_tiles;
    int64_t n;                                 /**< targets of the round; how their sums are cut (cuda/cut.cuh): */
    int64_t groups, gpus, slices, each, first; /**< the last two of a large block, `slices` of others */
};

/** An order, in its memory. The kernel that makes blocks writes all else first, and `given` last. */
struct nb6_device_order {
    uint32_t given; /**< orders so far */
    struct nb6_device_task task;
    int64_t share; /**< of which it makes this share */
};

/** Orders that the kernel has given, and what has come of them. */
struct nb6_device_help {
    struct nb6_device_order *order[NB6_DEVICE_HELPERS];
    int32_t n; /**< helpers */
    uint32_t given;
    uint32_t done[NB6_DEVICE_HELPERS]; /**< written by them */
};

/** What a helper reads and writes. */
struct nb6_device_helper_view {
    const struct nb6_dev_tile *tile;
    const struct nb6_dev_target *target;
    const struct nb6_dev_source *seen;
    int64_t *mutual;
    const struct nb6_device_order *order;
    uint32_t *arrived; /**< zero; at barriers of the helper */
    uint32_t *taken;   /**< units of work that its warps have taken */
    uint32_t *done;
    const int32_t *has_failed; /**< memory of the host; not 0: the kernel ends in an error */
    uint32_t given;            /**< orders before the first one */
};

/** Enqueue the kernel of a helper on the present GPU.
 *  @param[in] now  that of the GPU that makes blocks, but for tiles, targets, where they are and mutual sums
 *  @param[in] blocks  of threads */
cudaError_t nb6_device_help(const struct nb6_dev *now, const struct nb6_device_helper_view *view, int blocks,
                            cudaStream_t stream);

/** A GPU that helps: its memory, and its number. */
struct nb6_device_helper {
    int gpu;
    cudaStream_t stream;
    struct nb6_device_order *order;
    uint32_t *arrived; /* two numbers: the other one is `taken` */
    struct nb6_dev_tile *tile;
    struct nb6_dev_target *target;
    struct nb6_dev_source *seen;
    int64_t *mutual;
};

/** All of them. */
struct nb6_device_helpers {
    int n, blocks;  /**< of threads, on each; on the one that makes blocks as well */
    int main;       /**< that one */
    uint32_t given; /**< orders so far */
    struct nb6_device_helper helper[NB6_DEVICE_HELPERS];
};

/** Take GPUs as helpers: all that are like the one that makes blocks and see its memory, as it sees theirs. */
void nb6_device_helpers_open(struct nb6_device_helpers *h, int main, int blocks, int n, const int *gpu);
/** Room for so many tiles, targets of a round and mutual sums, where nb6_device_helpers_free has left none. */
cudaError_t nb6_device_helpers_allocate(struct nb6_device_helpers *h, size_t tiles, size_t targets, size_t mutual);
/** What the kernel that makes blocks knows of them.   @param[out] help  of a kernel that has not begun */
void nb6_device_helpers_tell(const struct nb6_device_helpers *h, struct nb6_device_help *help);
/** Enqueue their kernels, when that of the blocks is enqueued.
 *  @param[in] dev, help  of that, on its device   @param[in] has_failed  see nb6_device_helper_view */
cudaError_t nb6_device_helpers_begin(const struct nb6_device_helpers *h, const struct nb6_dev *dev,
                                     struct nb6_device_help *help, const int32_t *has_failed);
/** Their kernels have ended, after that of the blocks.
 *  @param[in] help  as it was at its end   @return what they failed in */
cudaError_t nb6_device_helpers_end(struct nb6_device_helpers *h, const struct nb6_device_help *help);
/** What one of them has failed in so far. */
cudaError_t nb6_device_helpers_state(const struct nb6_device_helpers *h);
/** Give their memory back. */
void nb6_device_helpers_free(struct nb6_device_helpers *h);
/** And all else: there are none. */
void nb6_device_helpers_close(struct nb6_device_helpers *h);

#ifdef __cplusplus
}
#endif
#endif
