/* The order of targets along the curve. */
#include "gpunb/cuda/kernels.h"
#include "gpunb/curve.h"

namespace
{

/* Ranking: a warp compares one target with all; so many of them are in a block. */
constexpr int WARP = 32, RANKED = 16, BLOCK = WARP * RANKED;

__global__ void target_keys(const struct device_targets targets, const struct gpunb_map map, uint32_t *keys,
                            int32_t *places)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= targets.n) return;
    keys[i] = gpunb_curve_key(targets.x[i], &map);
    places[i] = i;
}

/* order[number of targets with a smaller key, or the same and a smaller number] = target. Each block works out all
 * keys, which takes less time than another launch. */
__global__ void __launch_bounds__(BLOCK)
    rank_targets(const struct device_targets targets, const struct gpunb_map map, int32_t *order)
{
    __shared__ uint32_t keys[DEVICE_RANK_MAX];
    const int n = targets.n;
    for (int i = threadIdx.x; i < n; i += BLOCK) keys[i] = gpunb_curve_key(targets.x[i], &map);
    __syncthreads();
    const int i = blockIdx.x * RANKED + threadIdx.x / WARP, lane = threadIdx.x % WARP;
    if (i >= n) return;
    const uint32_t own = keys[i];
    int rank = 0;
#pragma unroll 8
    for (int k = lane; k < n; k += WARP) rank += keys[k] < own || (keys[k] == own && k < i);
    for (int k = WARP / 2; k > 0; k /= 2) rank += __shfl_xor_sync(~0u, rank, k);
    if (lane == 0) order[rank] = i;
}

} // namespace

cudaError_t gpunb_cuda_target_keys(const struct device_targets *targets, const struct gpunb_map *map, uint32_t *keys,
                                   int32_t *places, cudaStream_t stream)
{
    target_keys<<<(targets->n + WARP - 1) / WARP, WARP, 0, stream>>>(*targets, *map, keys, places);
    return cudaGetLastError();
}

cudaError_t gpunb_cuda_rank(const struct device_targets *targets, const struct gpunb_map *map, int32_t *order,
                            cudaStream_t stream)
{
    rank_targets<<<(targets->n + RANKED - 1) / RANKED, BLOCK, 0, stream>>>(*targets, *map, order);
    return cudaGetLastError();
}
