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

__global__ void settle(const __grid_constant__ struct nb6_dev dev, int row)
{
    const int64_t i = own_body();
    const int lane = threadIdx.x % WARP;
    if (i >= dev.n) return;
    nb6_dev_settle_list(&dev, (int32_t)i, row, lane, WARP);
    __syncwarp();
    if (lane == 0) dev.row_now[i] = (int8_t)row;
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
    settle<<<blocks_for(dev), THREADS, 0, stream>>>(*dev, row);
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
