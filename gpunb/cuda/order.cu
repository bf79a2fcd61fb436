/* Orders along the curve: keys of positions, sorts that the host enqueues, and the ranks of a few targets. Kernels that
 * stay resident sort in gpunb/cuda/sort.cuh. */
#include "gpunb/cuda/kernels.h"
#include "gpunb/cuda/warp.cuh"

#include <cub/device/device_radix_sort.cuh>

namespace
{

constexpr int KEYS = 128; /* of a block */
/* Ranking: a warp compares one target with all; so many of them are in a block. */
constexpr int RANKED = 16, BLOCK = WARP * RANKED;

__global__ void __launch_bounds__(KEYS)
    make_keys(const struct device_positions from, const struct gpunb_map map, uint32_t *keys, int32_t *places)
{
    const int k = (int)(blockIdx.x * KEYS + threadIdx.x);
    if (k >= from.n) return;
    keys[k] = gpunb_curve_key(gpunb_device_position(&from, k), &map);
    places[k] = from.first + k;
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
    const int i = blockIdx.x * RANKED + warp_of(), lane = lane_of();
    if (i >= n) return;
    const uint32_t own = keys[i];
    int rank = 0;
#pragma unroll 8
    for (int k = lane; k < n; k += WARP) rank += keys[k] < own || (keys[k] == own && k < i);
    rank = sum_of_lanes(rank);
    if (lane == 0) order[rank] = i;
}

} // namespace

cudaError_t gpunb_cuda_keys(const struct device_positions *positions, const struct gpunb_map *map, uint32_t *keys,
                            int32_t *places, cudaStream_t stream)
{
    make_keys<<<(positions->n + KEYS - 1) / KEYS, KEYS, 0, stream>>>(*positions, *map, keys, places);
    return cudaGetLastError();
}

cudaError_t gpunb_cuda_sort(void *scratch, size_t *bytes, const uint32_t *keys, uint32_t *sorted_keys,
                            const int32_t *places, int32_t *sorted_places, int n, cudaStream_t stream)
{
    return cub::DeviceRadixSort::SortPairs(scratch, *bytes, keys, sorted_keys, places, sorted_places, n, 0,
                                           GPUNB_CURVE_KEY_BITS, stream);
}

cudaError_t gpunb_cuda_sort64(void *scratch, size_t *bytes, const uint64_t *keys, uint64_t *sorted_keys,
                              const int32_t *places, int32_t *sorted_places, int n, int bits, cudaStream_t stream)
{
    return cub::DeviceRadixSort::SortPairs(scratch, *bytes, keys, sorted_keys, places, sorted_places, n, 0, bits,
                                           stream);
}

cudaError_t gpunb_cuda_rank(const struct device_targets *targets, const struct gpunb_map *map, int32_t *order,
                            cudaStream_t stream)
{
    rank_targets<<<(targets->n + RANKED - 1) / RANKED, BLOCK, 0, stream>>>(*targets, *map, order);
    return cudaGetLastError();
}
