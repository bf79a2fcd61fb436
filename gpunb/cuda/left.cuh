/** Remaining sums on the targets of a round, from all sources not summed in pairs (gpunb/cuda/mutual.cuh): slices of
 *  tiles (gpunb/cuda/sorted.cuh), in which a warp leaves out those that are. */
#ifndef GPUNB_CUDA_LEFT_CUH
#define GPUNB_CUDA_LEFT_CUH

#include "gpunb/cuda/lists.cuh"
#include "gpunb/cuda/mutual.cuh"
#include "gpunb/cuda/sorted.cuh"
#include "gpunb/device/regular.h"

namespace
{

/* Tiles that are summed with a group of GPUNB_DEV_GROUP targets in pairs. */
struct tiles_apart {
    const job_of_sums &c;
    int32_t group;
    __device__ __forceinline__ bool operator()(int32_t chunk) const
    {
        return is_apart(c, group, chunk);
    }
};

/* The slice of a warp, among those of all groups of a round of n targets and of all GPUs.   @return group -1: none */
__device__ __forceinline__ group_slice slice_of_warp(const job_of_sums &c, int64_t first, int64_t n, int64_t warp)
{
    const int64_t groups = (n + PAIR_TARGETS - 1) / PAIR_TARGETS;
    const struct gpunb_dev_slices *slices = c.sums.slices + first / PAIR_TARGETS;
    group_slice found = {-1, 0, 0, 0};
    for (int64_t begin = 0; begin < groups; begin += WARP) {
        const int64_t own = begin + lane_of();
        const struct gpunb_dev_slices s = own < groups ? slices[own] : gpunb_dev_slices{0, 0};
        const int64_t slice = warp - s.first;
        const uint32_t is_own = __ballot_sync(ALL, slice >= 0 && slice < s.number);
        if (is_own == 0) continue;
        const int lane = __ffs((int)is_own) - 1;
        found = {(int32_t)(begin + lane), __shfl_sync(ALL, (int32_t)slice, lane), __shfl_sync(ALL, s.number, lane),
                 (int64_t)__shfl_sync(ALL, s.first, lane) * PAIR_TARGETS};
    }
    return found;
}

/* All slices of the k-th GPU, by all its threads, one for each warp. */
template <bool WEIGHTED>
__device__ __forceinline__ void sum_left(const job_of_sums &c, int64_t first, int64_t n, int64_t k, tile_memory &memory)
{
    const group_slice own = slice_of_warp(c, first, n, k * warps_of_all() + warp_of_all());
    if (own.group < 0) return;
    const tiles_apart left_out = {c, (int32_t)((first + own.group * PAIR_TARGETS) / GPUNB_DEV_GROUP)};
    sum_slice<WEIGHTED>(c.sums, own, (int32_t)n, left_out, memory);
}

/* Slices of the sources on target m of the round that begins at `first`: each group has a number of them in
 * proportion to its remaining work. */
__device__ __forceinline__ slices_of slices_on(const job_of_sums &c, int64_t first, int64_t m)
{
    const struct gpunb_dev_slices own = c.sums.slices[(first + m) / PAIR_TARGETS];
    return {(int64_t)own.first * PAIR_TARGETS + m % PAIR_TARGETS * own.number, own.number};
}

} // namespace

#endif
