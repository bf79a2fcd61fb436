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
    int32_t reason;     /**< enum nb6_stop_reason, once it has stopped */
    int32_t is_known;   /**< who ends its regular step is known before the irregular stage */
    int32_t n_reg;      /**< that many do */
    int32_t n_look;     /**< members of the last block that may be part of an encounter */
    int32_t too_long;   /**< a list does not fit its row */
    uint32_t arrived;   /**< blocks of threads, at all barriers so far */
    int64_t unsound;    /**< 2^32 body + slot of the first member with a NaN; INT64_MAX: none */
    int64_t pending[2]; /**< targets without a list, in this round and the next */
};

/** Levels are read 16 at a time: so many bytes more than there are bodies. */
enum { NB6_DEVICE_LEVEL_PADDING = 16 };
/** Up to so many targets share sources; more have lanes of their own. */
enum { NB6_DEVICE_FEW = 40 };
/** Counts of a block of threads in a sort: of so many digits. */
enum { NB6_DEVICE_DIGITS = 256 };

/** What the kernel wants of a device. */
struct nb6_device_size {
    int blocks;      /**< of threads; 0: the device cannot make them wait for each other */
    size_t partials; /**< numbers in dev->partial */
};

/** @param[out] size  of the kernel on a device */
cudaError_t nb6_device_size_of(int device, struct nb6_device_size *size);
/** Enqueue the kernel: blocks up to and including t_stop, at most max_blocks.
 *  @param[in,out] word  of the device, all zero but `unsound` */
cudaError_t nb6_device_run(const struct nb6_dev *dev, struct nb6_device_word *word, nb6_time t_stop, int64_t max_blocks,
                           int blocks, cudaStream_t stream);

/** Enqueue a kernel that puts all lists into the first row of each star. */
cudaError_t nb6_device_settle_rows(const struct nb6_dev *dev, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
