#include "nbody6/engine/cuda/lists.h"

#include "nbody6/engine/stages/lists.h"

namespace
{

constexpr int WARP = NB6_DEV_LANES, THREADS = 256, WARPS = THREADS / WARP;

/* One warp copies one list. */
__device__ __forceinline__ int64_t own_body()
{
    return ((int64_t)blockIdx.x * THREADS + threadIdx.x) / WARP;
}

unsigned blocks_for(const struct nb6_dev *dev)
{
    return (unsigned)((dev->n + WARPS - 1) / WARPS);
}

/* A warp looks at as many bodies as it has lanes, few of which have their lists in the other row, as a rule. */
__global__ void settle(const __grid_constant__ struct nb6_dev dev, int row)
{
    const int64_t own = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    const int lane = threadIdx.x % WARP;
    const bool moves = own < dev.n && dev.row_now[own] != row;
    for (unsigned left = __ballot_sync(0xffffffffu, moves); left; left &= left - 1)
        nb6_dev_settle_list(&dev, (int32_t)(own - lane + __ffs((int)left) - 1), row, lane, WARP);
    __syncwarp();
    if (moves) dev.row_now[own] = (int8_t)row;
}

__global__ void pack(const __grid_constant__ struct nb6_dev dev)
{
    if (own_body() < dev.n) nb6_dev_pack_list(&dev, (int32_t)own_body(), threadIdx.x % WARP, WARP);
}

__global__ void unpack(const __grid_constant__ struct nb6_dev dev)
{
    const int32_t i = (int32_t)own_body();
    const int lane = threadIdx.x % WARP;
    if (i >= dev.n) return;
    nb6_dev_unpack_list(&dev, i, lane, WARP);
    if (lane == 0) dev.predictor[i] = nb6_predictor_at(&dev.body[i], dev.level[i], dev.control->ti_now);
}

} // namespace

cudaError_t nb6_device_settle_lists(const struct nb6_dev *dev, int row, cudaStream_t stream)
{
    settle<<<(unsigned)((dev->n + THREADS - 1) / THREADS), THREADS, 0, stream>>>(*dev, row);
    return cudaGetLastError();
}

cudaError_t nb6_device_pack_lists(const struct nb6_dev *dev, cudaStream_t stream)
{
    pack<<<blocks_for(dev), THREADS, 0, stream>>>(*dev);
    return cudaGetLastError();
}

cudaError_t nb6_device_unpack_lists(const struct nb6_dev *dev, cudaStream_t stream)
{
    unpack<<<blocks_for(dev), THREADS, 0, stream>>>(*dev);
    return cudaGetLastError();
}
