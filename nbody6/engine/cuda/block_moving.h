/** The kernel of block steps for fields of galaxies and gas (cuda/block.h). */
#ifndef NB6_CUDA_BLOCK_MOVING_H
#define NB6_CUDA_BLOCK_MOVING_H

#include "nbody6/engine/cuda/block.h"

/** @param[out] per_one  blocks of threads that a multiprocessor can hold; 0: none */
cudaError_t nb6_device_prepare_moving(int *per_one);
/** nb6_device_run in such a field. */
cudaError_t nb6_device_run_moving(const struct nb6_dev *now, struct nb6_device_control_block *control_block,
                                  nb6_time t_stop, int64_t max_blocks, int blocks, cudaStream_t stream);

#endif
