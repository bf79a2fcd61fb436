/** Copies of members to the image in host memory, where the host examines them. */
#ifndef NB6_CUDA_SHOW_CUH
#define NB6_CUDA_SHOW_CUH

#include "nbody6/engine/cuda/block.h"
#include "nbody6/engine/cuda/warp.cuh"

namespace
{

/* Copy the record that others read of a body, by half a warp. */
__device__ __forceinline__ void show_body(const struct nb6_device_home &home, int32_t i)
{
    constexpr int HALF = WARP / 2;
    static_assert(sizeof(struct nb6_body) == HALF * sizeof(double), "a number for each lane");
    const int lane = lane_of() % HALF;
    reinterpret_cast<double *>(home.body + i)[lane] = reinterpret_cast<const double *>(dev.body + i)[lane];
    if (lane == 0) home.level[i] = dev.star[i].level_irr; /* dev.level may be that of a block that is discarded */
    constexpr int OF_SYSTEM = sizeof(struct nb6_dev_system) / sizeof(double);
    static_assert(OF_SYSTEM <= HALF, "a number for each lane");
    if (i < dev.first_centre || lane >= OF_SYSTEM) return;
    reinterpret_cast<double *>(home.system + (i - dev.first_centre))[lane] =
        reinterpret_cast<const double *>(dev.system + (i - dev.first_centre))[lane];
}

/* Copy a member, by some warps. */
__device__ __forceinline__ void show_member(const struct nb6_device_home &home, int32_t i, int warp, int warps)
{
    constexpr int OF_STAR = sizeof(struct nb6_star) / sizeof(double);
    static_assert(sizeof(struct nb6_star) % sizeof(double) == 0, "whole numbers");
    const int lane = lane_of(), half = lane / (WARP / 2), shown = dev.shown[i];
    const int32_t nnb = dev.star[i].nnb, *list = nb6_dev_list(&dev, i);
    for (int k = lane; warp == 0 && k < OF_STAR; k += WARP)
        reinterpret_cast<double *>(home.star + i)[k] = reinterpret_cast<const double *>(dev.star + i)[k];
    for (int32_t k = warp * WARP + lane; k < nnb; k += warps * WARP) home.row[(int64_t)i * dev.row_room + k] = list[k];
    if (warp == 0 && lane == 0) home.shown[i] = (int8_t)shown;
    if (warp == 0 && half == 0) show_body(home, i);
    if (shown != NB6_DEV_WITH_OTHERS) return;
    for (int32_t k = 2 * warp + half; k < nnb; k += 2 * warps) show_body(home, list[k]);
}

/* Copy members, by a block of threads, and list them in the mailbox.   @param[in] member [n] */
__device__ __forceinline__ void show_members(const struct nb6_device_home &home, const int32_t *member, int32_t n)
{
    const int warps = max(WARPS / max(n, 1), 1); /* of a member */
    for (int32_t k = warp_of() / warps; k < n; k += WARPS / warps)
        show_member(home, member[k], warp_of() % warps, warps);
    for (int32_t k = threadIdx.x; k < n; k += THREADS) home.member[k] = member[k];
}

} // namespace

#endif
