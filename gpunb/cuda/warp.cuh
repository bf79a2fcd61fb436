/** Warps and blocks of threads of kernels that fill a GPU: a block of threads on each multiprocessor, of GPUNB and of
 *  the device engine. */
#ifndef GPUNB_CUDA_WARP_CUH
#define GPUNB_CUDA_WARP_CUH

#include "gpunb/device/sums.h"

#include <cuda_pipeline_primitives.h>
#include <stdint.h>

namespace
{

constexpr int THREADS = 512, WARP = GPUNB_DEV_LANES, WARPS = THREADS / WARP;
constexpr unsigned ALL = 0xffffffffu;

__device__ __forceinline__ int lane_of()
{
    return threadIdx.x % WARP;
}

__device__ __forceinline__ int warp_of()
{
    return threadIdx.x / WARP;
}

/* Barrier of all blocks of threads: each adds one to a counter, and waits until all have. Release and acquire take
 * half the time of a barrier of cooperative groups, whose fences are sequentially consistent. */
struct grid_of_blocks {
    uint32_t *arrived; /* zero at the start of the kernel */
    uint32_t expected;

    __device__ __forceinline__ void arrive()
    {
        expected += gridDim.x;
        __syncthreads();
        if (threadIdx.x == 0) asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(arrived) : "memory");
    }
    __device__ __forceinline__ bool is_complete(uint32_t now) const
    {
        return (int32_t)(now - expected) >= 0;
    }
    __device__ __forceinline__ void sync()
    {
        arrive();
        wait_for(expected);
    }
    /* Wait until the others have arrived at the next barrier. */
    __device__ __forceinline__ void await_others() const
    {
        __syncthreads();
        wait_for(expected + gridDim.x - 1);
    }
    __device__ __forceinline__ void wait_for(uint32_t number) const
    {
        if (threadIdx.x == 0) {
            uint32_t now;
            do {
                asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(now) : "l"(arrived) : "memory");
            } while ((int32_t)(now - number) < 0);
        }
        __syncthreads();
    }
    __device__ __forceinline__ int64_t rank() const
    {
        return (int64_t)blockIdx.x * THREADS + threadIdx.x;
    }
    __device__ __forceinline__ int64_t size() const
    {
        return (int64_t)gridDim.x * THREADS;
    }
};

__device__ __forceinline__ uint32_t lowest_of_lanes(uint32_t own)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_min_sync(ALL, own);
#else
    for (int half = WARP / 2; half > 0; half /= 2) own = min(own, __shfl_xor_sync(ALL, own, half));
    return own;
#endif
}

__device__ __forceinline__ double lowest_of_lanes(double own)
{
    for (int half = WARP / 2; half > 0; half /= 2) own = fmin(own, __shfl_xor_sync(ALL, own, half));
    return own;
}

template <typename number> __device__ __forceinline__ number highest_of_lanes(number own)
{
#pragma unroll
    for (int half = WARP / 2; half > 0; half /= 2) own = max(own, __shfl_xor_sync(ALL, own, half));
    return own;
}

/* Sum over all lanes in a fixed order. */
template <typename number> __device__ __forceinline__ number sum_of_lanes(number own)
{
    for (int half = WARP / 2; half > 0; half /= 2) own += __shfl_xor_sync(ALL, own, half);
    return own;
}

__device__ __forceinline__ int32_t count_of_lanes(int32_t own)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(ALL, own);
#else
    return sum_of_lanes(own);
#endif
}

/* Bits of any lane. */
__device__ __forceinline__ uint32_t any_of_lanes(uint32_t own)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_or_sync(ALL, own);
#else
    for (int half = WARP / 2; half > 0; half /= 2) own |= __shfl_xor_sync(ALL, own, half);
    return own;
#endif
}

/* Sums of N numbers at once, a power of two: lane k gets the sum of number k N/32. */
template <int N, typename number> __device__ __forceinline__ number sum_of_each(number (&own)[N])
{
    int half = WARP / 2;
#pragma unroll
    for (int n = N / 2; n > 0; n /= 2, half /= 2) {
        const bool is_upper = lane_of() & half;
#pragma unroll
        for (int k = 0; k < n; k++) {
            const number keep = is_upper ? own[n + k] : own[k], away = is_upper ? own[k] : own[n + k];
            own[k] = keep + __shfl_xor_sync(ALL, away, half);
        }
    }
#pragma unroll
    for (; half > 0; half /= 2) own[0] += __shfl_xor_sync(ALL, own[0], half);
    return own[0];
}

/* A component of acceleration and jerk. */
struct component {
    double acc, jerk;
};

__device__ __forceinline__ int axis_of()
{
    return min(lane_of(), 2);
}

/* Acceleration and jerk on the axis of each lane, summed over all lanes in the order of sum_of_lanes. Half of the lanes
 * add accelerations, the other half jerks; within each half, half of the lanes add the third component, and a quarter
 * each of the other two. */
__device__ __forceinline__ component add_lanes(const struct gpunb_dev_sum &sum)
{
    constexpr int HALF = WARP / 2, OF_THIRD = HALF / 2, OF_SECOND = HALF / 4;
    const bool has_jerk = lane_of() & HALF, has_third = lane_of() & OF_THIRD, has_second = lane_of() & OF_SECOND;
    double v[3];
#pragma unroll
    for (int k = 0; k < 3; k++) {
        const double keep = has_jerk ? sum.jerk[k] : sum.acc[k], away = has_jerk ? sum.acc[k] : sum.jerk[k];
        v[k] = keep + __shfl_xor_sync(ALL, away, HALF);
    }
    const double first = (has_third ? v[2] : v[0]) + __shfl_xor_sync(ALL, has_third ? v[0] : v[2], OF_THIRD);
    const double second = v[1] + __shfl_xor_sync(ALL, v[1], OF_THIRD);
    double own = !has_third && has_second ? second : first;
    own += __shfl_xor_sync(ALL, !has_third && !has_second ? second : first, OF_SECOND);
#pragma unroll
    for (int half = OF_SECOND / 2; half > 0; half /= 2) own += __shfl_xor_sync(ALL, own, half);
    const int at = axis_of() * OF_SECOND;
    return {__shfl_sync(ALL, own, at), __shfl_sync(ALL, own, HALF + at)};
}

/* Inclusive prefix sum over lanes; *total: over all. */
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

/* Exclusive prefix sum over the threads of a block of N warps; *total: over all. */
template <int N> __device__ __forceinline__ int32_t count_before(int32_t own, int32_t (&of_warps)[N], int32_t *total)
{
    int32_t of_warp;
    const int32_t up_to = count_up_to(own, &of_warp);
    __syncthreads();
    if (lane_of() == 0) of_warps[warp_of()] = of_warp;
    __syncthreads();
    const int32_t number = lane_of() < N ? of_warps[lane_of()] : 0;
    *total = count_of_lanes(number);
    return up_to - own + count_of_lanes(lane_of() < warp_of() ? number : 0);
}

/* Begin to copy units of 16 bytes to shared memory, by a warp. */
template <int UNITS> __device__ __forceinline__ void begin_copy(float4 *to, const void *from)
{
    const float4 *units = static_cast<const float4 *>(from);
#pragma unroll
    for (int u = 0; u < UNITS; u += WARP)
        if (UNITS % WARP == 0 || u + lane_of() < UNITS)
            __pipeline_memcpy_async(to + u + lane_of(), units + u + lane_of(), sizeof(float4));
    __pipeline_commit();
}

/* Wait for the copy that was begun last, while the next one, if there is one, is under way.
 * @param[in] begin_next  functor that begins it */
template <typename beginner> __device__ __forceinline__ void await_copy(bool has_next, const beginner &begin_next)
{
    if (has_next) {
        begin_next();
        __pipeline_wait_prior(1);
    } else {
        __pipeline_wait_prior(0);
    }
    __syncwarp();
}

__device__ __forceinline__ int64_t warps_of_all()
{
    return (int64_t)gridDim.x * WARPS;
}

/* Consecutive warps are on different multiprocessors. */
__device__ __forceinline__ int64_t warp_of_all()
{
    return (int64_t)warp_of() * gridDim.x + blockIdx.x;
}

} // namespace

#endif
