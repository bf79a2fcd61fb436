/** Kernels in which each thread, or each warp, has an item: a body, a place, a question. */
#ifndef NB6_CUDA_ITEMS_CUH
#define NB6_CUDA_ITEMS_CUH

#include "nbody6/engine/stages/state.h"

#include <stdint.h>

namespace
{

constexpr int WARP = NB6_DEV_LANES, THREADS = 256, WARPS = THREADS / WARP;

__device__ __forceinline__ int64_t own_item()
{
    return (int64_t)blockIdx.x * THREADS + threadIdx.x;
}

/* Where each warp has an item. */
__device__ __forceinline__ int64_t item_of_warp()
{
    return own_item() / WARP;
}

inline unsigned blocks_for(int64_t items)
{
    return (unsigned)((items + THREADS - 1) / THREADS);
}

inline unsigned blocks_for_warps(int64_t items)
{
    return (unsigned)((items + WARPS - 1) / WARPS);
}

} // namespace

#endif
