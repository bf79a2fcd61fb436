/** Copies of neighbour lists on a GPU between packed and row layout (stages/lists.h), by kernels that run while no
 *  blocks are advanced. */
#ifndef NB6_CUDA_LISTS_H
#define NB6_CUDA_LISTS_H

#include "nbody6/engine/stages/state.h"

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Enqueue: all lists go to the same of both rows of their bodies. */
cudaError_t nb6_device_settle_lists(const struct nb6_dev *dev, int row, cudaStream_t stream);
/** Enqueue: from the first rows to dev->lists, and back, after all other records; bodies get their predictors
 *  (stages/predictor.h) as well. */
cudaError_t nb6_device_pack_lists(const struct nb6_dev *dev, cudaStream_t stream);
cudaError_t nb6_device_unpack_lists(const struct nb6_dev *dev, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
