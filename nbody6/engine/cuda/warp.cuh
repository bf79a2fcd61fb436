/** Warps and blocks of threads of the device engine.
 *
 *  What blocks go through is inlined into the kernel: as functions of their own regular stages take 2 to 6 percent more
 * of a run (docs/performance.md). What follows few blocks is not. */
#ifndef NB6_CUDA_WARP_CUH
#define NB6_CUDA_WARP_CUH

#include "nbody6/engine/cuda/constant.cuh"
#include "nbody6/engine/stages/state.h"

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

/* All blocks of threads, which meet at barriers: each adds one to a counter, and waits until all have. To release and
 * acquire is half of what a barrier of cooperative groups costs, whose fences are sequentially consistent. */
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
    /* The others come to the next barrier. */
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

/* Who waits for the host, or for another kernel, looks now and then whether that has come to its end.
 *  @param[in] has_failed  memory of the host */
__device__ __forceinline__ void end_if_failed(const int32_t *has_failed, uint32_t looks)
{
    constexpr uint32_t LOOKS_BETWEEN = 4096;
    if (looks % LOOKS_BETWEEN == 0 && *static_cast<const volatile int32_t *>(has_failed)) __trap();
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

template <typename number> __device__ __forceinline__ number highest_of_lanes(number own)
{
#pragma unroll
    for (int half = WARP / 2; half > 0; half /= 2) own = max(own, __shfl_xor_sync(ALL, own, half));
    return own;
}

/* In a fixed order, for all lanes. */
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

/* The same of N numbers at once, a power of two: lane k gets the sum of number k N/32. */
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

/* Warps that follow each other and work for one body together. */
struct squad {
    int rank, warps; /* of this one; a power of two */
};

/* That of this warp, where n bodies have the warps of a block of threads: four each at most. */
__device__ __forceinline__ squad squad_for(int32_t n)
{
    const int warps = 4 * n <= WARPS ? 4 : 2 * n <= WARPS ? 2 : 1;
    return {warp_of() % warps, warps};
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

} // namespace

#endif
