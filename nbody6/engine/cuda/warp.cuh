/** Warps and blocks of threads of the device engine.
 *
 *  Code that each block step runs is inlined into the kernel: as separate functions, regular stages are slower
 *  (docs/trials.md). Code for few block steps is not inlined. */
#ifndef NB6_CUDA_WARP_CUH
#define NB6_CUDA_WARP_CUH

#include "gpunb/cuda/warp.cuh"
#include "nbody6/engine/cuda/constant.cuh"
#include "nbody6/engine/stages/state.h"

namespace
{

/* A thread that waits for the host, or for another kernel, checks from time to time whether that has failed.
 * @param[in] has_failed  in host memory */
__device__ __forceinline__ void end_if_failed(const int32_t *has_failed, uint32_t looks)
{
    constexpr uint32_t LOOKS_BETWEEN = 4096;
    if (looks % LOOKS_BETWEEN == 0 && *static_cast<const volatile int32_t *>(has_failed)) __trap();
}

/* Consecutive warps that work on one body. */
struct squad {
    int rank, warps; /* of this warp; number of warps, a power of two */
};

/* The squad of this warp if n bodies share the warps of a block of threads: four warps each at most. */
__device__ __forceinline__ squad squad_for(int32_t n)
{
    const int warps = 4 * n <= WARPS ? 4 : 2 * n <= WARPS ? 2 : 1;
    return {warp_of() % warps, warps};
}

} // namespace

#endif
