/* The kernel of block steps (cuda/block.cuh) for runs without a field, or with a linear one. */
#define NB6_LINEAR_FIELDS_ALONE
#include "nbody6/engine/cuda/block.cuh"
#include "nbody6/engine/cuda/block_moving.h"
#include "nbody6/galaxy/field_family.h"

cudaError_t nb6_device_size_of(int device, struct nb6_device_size *size)
{
    int multiprocessors = 0, cooperative = 0, per_one = 0, per_one_moving = 0;
    *size = {};
    cudaError_t code = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    if (code == cudaSuccess) code = cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, device);
    if (code == cudaSuccess) code = prepare_kernel(&per_one);
    if (code == cudaSuccess) code = nb6_device_prepare_moving(&per_one_moving);
    if (code == cudaSuccess) code = nb6_device_prepare_leave();
    if (code != cudaSuccess || !cooperative || per_one == 0 || per_one_moving == 0) return code;
    size->blocks = multiprocessors;
    /* One slice for each warp, with two targets for each of its lanes, or with a few targets. */
    static_assert(PAIR_TARGETS > NB6_DEVICE_FEW && WARPS == GPUNB_DEV_WARPS, "partial sums have their room");
    return code;
}

cudaError_t nb6_device_run(const struct nb6_dev *now, struct nb6_device_control_block *control_block, nb6_time t_stop,
                           int64_t max_blocks, int blocks, cudaStream_t stream)
{
    const bool is_moving = nb6_field_family(now->rules.field.kind) == NB6_FIELD_MOVING;
    return is_moving ? nb6_device_run_moving(now, control_block, t_stop, max_blocks, blocks, stream)
                     : run_kernel(now, control_block, t_stop, max_blocks, blocks, stream);
}
