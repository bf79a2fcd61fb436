/** Threads that work together on a cell, or on a group of targets: a team of TREE_TEAM lanes on a GPU, which is a warp
 *  unless the file that includes this says that it is a block of threads; on a processor one thread, which does in turn
 *  what lanes do side by side. The same source serves both, and sums have the order of the lanes on both. */
#ifndef GPUNB_TREE_LANES_H
#define GPUNB_TREE_LANES_H

#include "common/hd.h"

#ifndef TREE_TEAM
#define TREE_TEAM 32
#endif
enum { TREE_WARP = 32, TREE_WARPS = TREE_TEAM / TREE_WARP };

#ifdef __CUDACC__
#define TREE_FN static __device__ __forceinline__
#define TREE_FN_APART static __device__ __noinline__
#define TREE_WIDTH TREE_TEAM
#define TREE_OWN_LANE ((int)(threadIdx.x % TREE_TEAM))
#define TREE_LANE_OF(l) TREE_OWN_LANE
#define TREE_ADD_TO(number, more) atomicAdd(number, more)
#define TREE_PRAGMA(text) _Pragma(#text)
#define TREE_UNROLL _Pragma("unroll")
#define TREE_UNROLL_BY(turns) TREE_PRAGMA(unroll turns)
#else
#define TREE_FN static inline
#define TREE_FN_APART static __attribute__((noinline))
#define TREE_WIDTH 1
#define TREE_OWN_LANE 0
#define TREE_LANE_OF(l) (l)
#define TREE_ADD_TO(number, more) __atomic_fetch_add(number, more, __ATOMIC_RELAXED)
#define TREE_UNROLL
#define TREE_UNROLL_BY(turns)
#endif

/** Lanes that a thread is; the l-th of them has the number TREE_LANE_OF(l). */
#define TREE_OWN (TREE_TEAM / TREE_WIDTH)

/** All k from 0 to count - 1, dealt out to the lanes. */
#define TREE_EACH(k, count) for (int k = TREE_OWN_LANE; k < (int)(count); k += TREE_WIDTH)

/** The same, as a loop that the compiler is to leave short: where few turns are made. */
#define TREE_EACH_ROLLED(k, count) TREE_UNROLL_BY(1) TREE_EACH(k, count)

/** All lanes see what each has written. */
TREE_FN void tree_sync(void)
{
#ifdef __CUDACC__
    if (TREE_TEAM == TREE_WARP)
        __syncwarp();
    else
        __syncthreads();
#endif
}

#ifdef __CUDACC__
/* A number of each warp of the team to all. */
template <typename number>
static __device__ __forceinline__ void tree_exchange(number own, number (&of_warp)[TREE_WARPS])
{
    __shared__ number shared[TREE_WARPS];
    __syncthreads();
    if (threadIdx.x % TREE_WARP == 0) shared[threadIdx.x / TREE_WARP] = own;
    __syncthreads();
    for (int w = 0; w < TREE_WARPS; w++) of_warp[w] = shared[w];
}
#endif

/** Sums and extremes over the lanes; all lanes have the same bits. */
TREE_FN double tree_lanes_sum(double own)
{
#ifdef __CUDACC__
    for (int half = TREE_WARP / 2; half > 0; half /= 2) own += __shfl_xor_sync(0xffffffffu, own, half);
    if (TREE_TEAM > TREE_WARP) {
        double of_warp[TREE_WARPS];
        tree_exchange(own, of_warp);
        own = 0;
        for (int w = 0; w < TREE_WARPS; w++) own += of_warp[w];
    }
#endif
    return own;
}

TREE_FN double tree_lanes_max(double own)
{
#ifdef __CUDACC__
    for (int half = TREE_WARP / 2; half > 0; half /= 2) own = fmax(own, __shfl_xor_sync(0xffffffffu, own, half));
    if (TREE_TEAM > TREE_WARP) {
        double of_warp[TREE_WARPS];
        tree_exchange(own, of_warp);
        for (int w = 0; w < TREE_WARPS; w++) own = fmax(own, of_warp[w]);
    }
#endif
    return own;
}

TREE_FN double tree_lanes_min(double own)
{
    return -tree_lanes_max(-own);
}

/** Whether a number of any lane is not zero. */
TREE_FN int tree_lanes_any(const int32_t own[TREE_OWN])
{
#ifdef __CUDACC__
    return TREE_TEAM == TREE_WARP ? __any_sync(0xffffffffu, own[0]) : __syncthreads_or(own[0]);
#else
    for (int k = 0; k < TREE_OWN; k++)
        if (own[k]) return 1;
    return 0;
#endif
}

/** Numbers of the lanes become the sums of those before each.   @return the sum of all */
TREE_FN int32_t tree_lanes_before(int32_t own[TREE_OWN])
{
    int32_t sum = 0;
#ifdef __CUDACC__
    int32_t up_to = own[0];
    for (int k = 1; k < TREE_WARP; k *= 2) {
        const int32_t other = __shfl_up_sync(0xffffffffu, up_to, k);
        if (threadIdx.x % TREE_WARP >= k) up_to += other;
    }
    const int32_t of_warp = __shfl_sync(0xffffffffu, up_to, TREE_WARP - 1);
    own[0] = up_to - own[0];
    if (TREE_TEAM == TREE_WARP) return of_warp;
    int32_t of_each[TREE_WARPS];
    tree_exchange(of_warp, of_each);
    for (int w = 0; w < TREE_WARPS; w++) {
        if (w < (int)threadIdx.x / TREE_WARP) own[0] += of_each[w];
        sum += of_each[w];
    }
#else
    for (int k = 0; k < TREE_OWN; k++) {
        const int32_t number = own[k];
        own[k] = sum;
        sum += number;
    }
#endif
    return sum;
}

/** The same of two rows at a time. */
TREE_FN void tree_lanes_before_both(uint32_t few[TREE_OWN], uint64_t many[TREE_OWN], uint32_t *all_few,
                                    uint64_t *all_many)
{
#ifdef __CUDACC__
    uint32_t few_to = few[0];
    uint64_t many_to = many[0];
    for (int k = 1; k < TREE_WARP; k *= 2) {
        const uint32_t other = __shfl_up_sync(0xffffffffu, few_to, k);
        const uint64_t others = __shfl_up_sync(0xffffffffu, (unsigned long long)many_to, k);
        if (threadIdx.x % TREE_WARP >= k) {
            few_to += other;
            many_to += others;
        }
    }
    __shared__ uint32_t few_of[TREE_WARPS];
    __shared__ uint64_t many_of[TREE_WARPS];
    const int warp = threadIdx.x / TREE_WARP % TREE_WARPS;
    __syncthreads();
    if (threadIdx.x % TREE_WARP == TREE_WARP - 1) {
        few_of[warp] = few_to;
        many_of[warp] = many_to;
    }
    __syncthreads();
    few[0] = few_to - few[0];
    many[0] = many_to - many[0];
    *all_few = 0;
    *all_many = 0;
    for (int w = 0; w < TREE_WARPS; w++) {
        if (w < warp) {
            few[0] += few_of[w];
            many[0] += many_of[w];
        }
        *all_few += few_of[w];
        *all_many += many_of[w];
    }
#else
    *all_few = 0;
    *all_many = 0;
    for (int k = 0; k < TREE_OWN; k++) {
        const uint32_t own = few[k];
        const uint64_t others = many[k];
        few[k] = *all_few;
        many[k] = *all_many;
        *all_few += own;
        *all_many += others;
    }
#endif
}

#endif
