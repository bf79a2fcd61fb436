/** Warps and blocks of threads of the device engine. */
#ifndef NB6_DEVICE_WARP_CUH
#define NB6_DEVICE_WARP_CUH

#include "nbody6/step/dev_state.h"

namespace
{

constexpr int THREADS = 512, WARP = NB6_DEV_LANES, WARPS = THREADS / WARP;
constexpr unsigned ALL = 0xffffffffu;

__device__ __forceinline__ int lane_of()
{
    return threadIdx.x % WARP;
}

__device__ __forceinline__ int warp_of()
{
    return threadIdx.x / WARP;
}

__device__ __forceinline__ uint32_t lowest_of_lanes(uint32_t own)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_min_sync(ALL, own);
#else
    for (int half = WARP / 2; half > 0; half /= 2) own = min(own, __shfl_xor_sync(ALL, own, half));
    return own;
#endif
}

__device__ __forceinline__ float highest_of_lanes(float own)
{
#pragma unroll
    for (int half = WARP / 2; half > 0; half /= 2) own = fmaxf(own, __shfl_xor_sync(ALL, own, half));
    return own;
}

/* Sums of all lanes by halves, as the emulation makes them; lane 0 has the result. */
__device__ __forceinline__ void add_lanes(struct nb6_dev_sum &sum)
{
#pragma unroll
    for (int half = WARP / 2; half > 0; half /= 2)
#pragma unroll
        for (int k = 0; k < 3; k++) {
            sum.acc[k] += __shfl_down_sync(ALL, sum.acc[k], half);
            sum.jerk[k] += __shfl_down_sync(ALL, sum.jerk[k], half);
        }
}

/* Numbers of this lane and those before it; *total is that of all lanes. */
__device__ __forceinline__ int32_t count_up_to(int32_t own, int32_t *total)
{
    int32_t up_to = own;
#pragma unroll
    for (int k = 1; k < WARP; k *= 2) {
        const int32_t other = __shfl_up_sync(ALL, up_to, k);
        if (lane_of() >= k) up_to += other;
    }
    *total = __shfl_sync(ALL, up_to, WARP - 1);
    return up_to;
}

/* 16 bytes at a time, by all lanes. */
template <typename record> __device__ __forceinline__ void copy_record(record *to, const record *from)
{
    static_assert(sizeof(record) % sizeof(double2) == 0, "records are copied by 16 bytes");
    constexpr int UNITS = sizeof(record) / sizeof(double2);
    for (int k = lane_of(); k < UNITS; k += WARP)
        reinterpret_cast<double2 *>(to)[k] = reinterpret_cast<const double2 *>(from)[k];
}

} // namespace

#endif
