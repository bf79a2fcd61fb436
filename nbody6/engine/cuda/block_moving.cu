/* The kernel of block steps (cuda/block.cuh) for runs in galaxies and gas. */
#include "nbody6/engine/cuda/block_moving.h"

#include "nbody6/engine/cuda/block.cuh"

cudaError_t nb6_device_prepare_moving(int *per_one)
{
    return prepare_kernel(per_one);
}

cudaError_t nb6_device_run_moving(const struct nb6_dev *now, struct nb6_device_control_block *control_block,
                                  nb6_time t_stop, int64_t max_blocks, int blocks, cudaStream_t stream)
{
    return run_kernel(now, control_block, t_stop, max_blocks, blocks, stream);
}
