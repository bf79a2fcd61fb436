/** Addresses and rules that the kernels of a file work on, in constant memory, where functions that are not inlined
 *  have them at hand as well (docs/trials.md). */
#ifndef NB6_CUDA_CONSTANT_CUH
#define NB6_CUDA_CONSTANT_CUH

#include "nbody6/engine/cuda/block.h"
#include "nbody6/engine/stages/state.h"

namespace
{

__constant__ struct nb6_dev dev;

/* Enqueued before a kernel of the same stream. Only one run at a time may use a GPU (cuda/engine.c). */
inline cudaError_t set_dev(const struct nb6_dev *now, cudaStream_t stream)
{
    return cudaMemcpyToSymbolAsync(dev, now, sizeof *now, 0, cudaMemcpyHostToDevice, stream);
}

/* Whether they are those of the run that has launched the kernel. */
__device__ __forceinline__ bool is_own_run(const struct nb6_device_control_block *control_block)
{
    return control_block->run == dev.control;
}

} // namespace

#endif
