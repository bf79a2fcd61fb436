#include "nbody6/engine/cuda/helpers.h"

#include "nbody6/engine/cuda/left.cuh"
#include "nbody6/engine/cuda/mutual.cuh"
#include "nbody6/engine/cuda/sums.cuh"
#include "nbody6/engine/cuda/warp.cuh"

namespace
{

constexpr unsigned NAP = 100; /* nanoseconds between two polls of the order */

/* Wait for an order.   @return the number of orders, when it exceeds `given` */
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

/* Wait for the order after `given` others; executed by all threads of a block.   @return a copy of it */
__device__ __forceinline__ struct nb6_device_order next_order(const struct nb6_device_helper_view &view, uint32_t given)
{
    constexpr int NUMBERS = sizeof(struct nb6_device_order) / sizeof(uint32_t);
    static_assert(NUMBERS <= THREADS, "a number for each thread");
    __shared__ struct nb6_device_order order;
    __shared__ uint32_t now;
    __syncthreads();
    if (threadIdx.x == 0) now = wait_for_order(view, given);
    __syncthreads();
    if (threadIdx.x < NUMBERS)
        reinterpret_cast<uint32_t *>(&order)[threadIdx.x] =
            reinterpret_cast<const volatile uint32_t *>(view.order)[threadIdx.x];
    __syncthreads();
    struct nb6_device_order own = order;
    own.given = now;
    return own;
}

/* Copy records [first, end) from the GPU that advances blocks, by all threads, with several loads of each in flight. */
template <typename record>
__device__ __forceinline__ void fetch_records(const record *from, record *to, int64_t first, int64_t end,
                                              grid_of_blocks grid)
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

/* Copy targets [first, end) of a round, by all threads. */
__device__ __forceinline__ void fetch_targets(const struct nb6_device_helper_view &view, int64_t first, int64_t end,
                                              grid_of_blocks &grid)
{
    fetch_records(view.target, dev.target, first, end, grid);
    fetch_records(view.seen, dev.seen, first, end, grid);
    grid.sync();
}

/* Sorted sums on the groups of targets in this share. */
__device__ __forceinline__ void help_with_sums(const struct nb6_device_helper_view &view,
                                               const struct nb6_device_order &order, grid_of_blocks &grid)
{
    const struct nb6_device_task &task = order.task;
    const cut c = {true, PAIR_OF_TARGETS, task.groups, task.slices, task.gpus};
    const int64_t first = share_of_gpu(c, order.share) / c.slices * PAIR_TARGETS;
    const int64_t end = min(((share_of_gpu(c, order.share + 1) - 1) / c.slices + 1) * PAIR_TARGETS, task.n);
    fetch_targets(view, first, end, grid);
    make_sorted_sums(c, order.share, task.n);
}

/* Remaining sums of a large block on the targets of a round, any of which may be in this share. */
__device__ __forceinline__ void help_with_left(const struct nb6_device_helper_view &view,
                                               const struct nb6_device_order &order, grid_of_blocks &grid)
{
    const struct nb6_device_task &task = order.task;
    fetch_targets(view, 0, task.n, grid);
    make_left_sums({task.each, task.groups, task.first, task.gpus}, order.share, task.n);
}

/* Sums of pairs of targets. Those of this share have their place in the memory of the other GPU. */
__device__ __forceinline__ void help_with_mutual(const struct nb6_device_helper_view &view,
                                                 const struct nb6_device_order &order, grid_of_blocks &grid)
{
    const large_cut c = {order.task.each, order.task.groups, order.task.first, order.task.gpus};
    const int64_t numbers = 6 * mutual_targets(c);
    clear_mutual(c, grid);
    if (grid.rank() == 0) *view.taken = 0;
    grid.sync();
    sum_mutual(c, order.share, view.taken);
    grid.sync();
    for (int64_t k = grid.rank(); k < numbers; k += grid.size()) view.mutual[order.share * numbers + k] = dev.mutual[k];
}

/* Each block of threads makes its sums visible to the other GPU before it comes to the barrier after them. */
__global__ void __launch_bounds__(THREADS, 1) help(const __grid_constant__ struct nb6_device_helper_view view)
{
    grid_of_blocks grid = {view.arrived, 0};
    uint32_t given = view.given;
    for (;;) {
        const struct nb6_device_order order = next_order(view, given);
        if (order.task.kind == NB6_DEVICE_END) return;
        given = order.given;
        if (order.task.has_new_tiles) fetch_records(view.tile, dev.tile, 0, nb6_dev_chunks(&dev), grid);
        if (order.task.kind == NB6_DEVICE_SUMS)
            help_with_sums(view, order, grid);
        else if (order.task.kind == NB6_DEVICE_MUTUAL)
            help_with_mutual(view, order, grid);
        else
            help_with_left(view, order, grid);
        __threadfence_system();
        grid.sync();
        if (grid.rank() == 0)
            asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(view.done), "r"(given) : "memory");
    }
}

constexpr size_t SHARED_BYTES = WARPS * sizeof(warp_memory);

} // namespace

cudaError_t nb6_device_help(const struct nb6_dev *now, const struct nb6_device_helper_view *view, int blocks,
                            cudaStream_t stream)
{
    struct nb6_device_helper_view copy = *view;
    void *arguments[] = {&copy};
    cudaError_t code = set_dev(now, stream);
    if (code != cudaSuccess) return code;
    code = cudaFuncSetAttribute(help, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)SHARED_BYTES);
    if (code != cudaSuccess) return code;
    return cudaLaunchCooperativeKernel((const void *)help, dim3((unsigned)blocks), dim3(THREADS), arguments,
                                       SHARED_BYTES, stream);
}
