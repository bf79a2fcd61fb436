/** Blocks that leave the kernel of small blocks: GPUNB makes their regular forces (gpunb/regf_device.h), and kernels
 *  that follow on the stream correct and commit. */
#ifndef NB6_CUDA_LEAVE_H
#define NB6_CUDA_LEAVE_H

#include "common/nbc.h"
#include "gpunb/device/sums.h"
#include "nbody6/engine/cuda/block.h"
#include "nbody6/engine/stages/state.h"

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

struct nb6_device;

/** Members for whose regular forces GPUNB is asked. */
struct nb6_device_asking {
    struct gpunb_dev_asked *asked; /**< [n] */
    const int32_t *member;         /**< [n] in any order */
    int32_t *again;                /**< [control_block->n_again] out: members whose lists were too long */
    int64_t n;
    int32_t is_again; /**< they were */
};

/** Load the kernels on the present GPU. */
cudaError_t nb6_device_prepare_leave(void);
/** Enqueue: what is asked for; the corrector of these members, after their forces; commit and end of the block. */
cudaError_t nb6_device_ask(const struct nb6_dev *now, struct nb6_device_control_block *control_block,
                           const struct nb6_device_asking *asking, cudaStream_t stream);
cudaError_t nb6_device_correct(struct nb6_device_control_block *control_block, const struct nb6_device_asking *asking,
                               int blocks, cudaStream_t stream);
cudaError_t nb6_device_end_block(struct nb6_device_control_block *control_block, int blocks, cudaStream_t stream);

/** End the block that has left: its end is enqueued, after which the kernel of small blocks may go on.
 *  @param[in,out] control_block  as that kernel has left it, on the host   @return NBC_OK; NBC_DEVICE */
int nb6_device_leave(struct nb6_device *d, struct nb6_device_control_block *control_block, struct nbc_error *err);

#ifdef __cplusplus
}
#endif
#endif
