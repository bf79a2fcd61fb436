/** Blocks of single stars on a GPU: one kernel that stays there for many of them. */
#ifndef NB6_DEVICE_BLOCK_H
#define NB6_DEVICE_BLOCK_H

#include "nbody6/state/body.h"
#include "nbody6/step/dev_state.h"

#include <cuda_runtime_api.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What the blocks of a kernel tell each other, and the host at the end. */
struct nb6_device_word {
    int32_t reason;      /**< enum nb6_stop_reason, once it has stopped */
    int32_t is_alone;    /**< the first thread block has made the irregular stage of this block */
    int32_t any_regular; /**< a member ends its regular step */
    int32_t too_long;    /**< a list does not fit its row */
    int64_t unsound;     /**< slot of the first member with a NaN; INT64_MAX: none */
    int64_t pending[2];  /**< targets without a list, in this round and the next */
};

/** Levels are read 16 at a time: so many bytes more than there are bodies. */
enum { NB6_DEVICE_LEVEL_PADDING = 16 };

/** Thread blocks that the device holds at a time.   @param[out] blocks  0: it cannot make them wait for each other */
cudaError_t nb6_device_blocks(int device, int *blocks);
/** Enqueue the kernel: blocks up to and including t_stop, at most max_blocks.
 *  @param[in,out] word  of the device, all zero but `unsound` */
cudaError_t nb6_device_run(const struct nb6_dev *dev, struct nb6_device_word *word, nb6_time t_stop, int64_t max_blocks,
                           int blocks, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
