#include "nbody6/step/device_helpers.h"

#include "nbody6/step/device_sums.cuh"
#include "nbody6/step/device_warp.cuh"

namespace
{

constexpr unsigned NAP = 100; /* nanoseconds between two looks at the order */

/* @return orders, when there are more of them than `given` */
__device__ __forceinline__ uint32_t wait_for_order(const struct nb6_device_helper_view &view, uint32_t given)
{
    for (uint32_t looks = 1;; looks++) {
        uint32_t now;
        asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(now) : "l"(&view.order->given) : "memory");
        if (now != given) return now;
        end_if_failed(view.has_failed, looks);
        __nanosleep(NAP);
    }
}

/* By all threads of a block.   @return a copy of the order after `given` others */
__device__ __forceinline__ struct nb6_device_order next_order(const struct nb6_device_helper_view &view, uint32_t given)
{
    __shared__ struct nb6_device_order order;
    __syncthreads();
    if (threadIdx.x == 0) {
        const volatile struct nb6_device_order *told = view.order;
        order.given = wait_for_order(view, given);
        order.is_end = told->is_end;
        order.has_new_tiles = told->has_new_tiles;
        order.n = told->n;
        order.groups = told->groups;
        order.slices = told->slices;
        order.gpus = told->gpus;
        order.share = told->share;
    }
    __syncthreads();
    return order;
}

/* Records [first, end) of the GPU that makes blocks, by all threads, some at a time under way. */
template <typename record>
__device__ __forceinline__ void fetch_records(const record *from, record *to, int64_t first, int64_t end,
                                              const grid_of_blocks &grid)
{
    static_assert(sizeof(record) % sizeof(uint4) == 0, "whole units");
    constexpr int64_t UNITS = sizeof(record) / sizeof(uint4);
    constexpr int AT_A_TIME = 4;
    const uint4 *source = reinterpret_cast<const uint4 *>(from);
    uint4 *goal = reinterpret_cast<uint4 *>(to);
    for (int64_t begin = first * UNITS + grid.rank(); begin < end * UNITS; begin += AT_A_TIME * grid.size()) {
        uint4 unit[AT_A_TIME];
#pragma unroll
        for (int k = 0; k < AT_A_TIME; k++) {
            const int64_t at = begin + k * grid.size();
            if (at < end * UNITS) unit[k] = __ldcg(source + at);
        }
#pragma unroll
        for (int k = 0; k < AT_A_TIME; k++) {
            const int64_t at = begin + k * grid.size();
            if (at < end * UNITS) goal[at] = unit[k];
        }
    }
}

/* Targets of the groups of this share. */
__device__ __forceinline__ void fetch_targets(const struct nb6_device_helper_view &view, const cut &c, int64_t share,
                                              int64_t n, const grid_of_blocks &grid)
{
    constexpr int64_t GROUP = PAIR_OF_TARGETS * WARP;
    const int64_t first = share_of_gpu(c, share) / c.slices * GROUP;
    const int64_t end = min(((share_of_gpu(c, share + 1) - 1) / c.slices + 1) * GROUP, n);
    fetch_records(view.target, view.dev.target, first, end, grid);
    fetch_records(view.seen, view.dev.seen, first, end, grid);
}

/* Each block of threads makes its sums known to the other GPU before it comes to the barrier after them. */
__global__ void __launch_bounds__(THREADS, 1) help(const __grid_constant__ struct nb6_device_helper_view view)
{
    grid_of_blocks grid = {view.arrived, 0};
    uint32_t given = view.given;
    for (;;) {
        const struct nb6_device_order order = next_order(view, given);
        if (order.is_end) return;
        given = order.given;
        const cut c = {true, PAIR_OF_TARGETS, order.groups, order.slices, order.gpus};
        if (order.has_new_tiles) fetch_records(view.tile, view.dev.tile, 0, nb6_dev_chunks(&view.dev), grid);
        fetch_targets(view, c, order.share, order.n, grid);
        grid.sync();
        make_sorted_sums(view.dev, c, order.share, order.n);
        __threadfence_system();
        grid.sync();
        if (grid.rank() == 0)
            asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(view.done), "r"(given) : "memory");
    }
}

constexpr size_t SHARED_BYTES = WARPS * sizeof(warp_memory);

} // namespace

cudaError_t nb6_device_help(const struct nb6_device_helper_view *view, int blocks, cudaStream_t stream)
{
    struct nb6_device_helper_view copy = *view;
    void *arguments[] = {&copy};
    const cudaError_t code = cudaFuncSetAttribute(help, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)SHARED_BYTES);
    if (code != cudaSuccess) return code;
    return cudaLaunchCooperativeKernel((const void *)help, dim3((unsigned)blocks), dim3(THREADS), arguments,
                                       SHARED_BYTES, stream);
}
