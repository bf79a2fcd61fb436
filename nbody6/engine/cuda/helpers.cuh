/** Orders of the kernel that advances blocks to helper GPUs (cuda/helpers.h), given by its first thread. */
#ifndef NB6_CUDA_HELPERS_CUH
#define NB6_CUDA_HELPERS_CUH

#include "nbody6/engine/cuda/block.h"
#include "nbody6/engine/cuda/cut.cuh"

namespace
{

__device__ __forceinline__ void give_order(struct nb6_device_order *to, uint32_t given,
                                           const struct nb6_device_task &task, int64_t share)
{
    to->task = task;
    to->share = share;
    asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(&to->given), "r"(given) : "memory");
}

/* One order for all helpers, which differ in their shares. Given after a barrier behind the last change of their
 * input. */
__device__ __noinline__ void give_orders(struct nb6_device_control_block *control_block,
                                         const struct nb6_device_task &task)
{
    const uint32_t given = ++control_block->help.given;
    for (int64_t h = 0; h < control_block->help.n; h++) give_order(control_block->help.order[h], given, task, h + 1);
}

/* Order sorted sums on n targets. */
__device__ __forceinline__ void order_sums(struct nb6_device_control_block *control_block, const cut &c, int64_t n,
                                           bool has_new_tiles)
{
    give_orders(control_block, {NB6_DEVICE_SUMS, has_new_tiles, n, c.groups, c.gpus, c.slices, 0, 0});
}

/* Order, for a large block, sums of pairs of targets, or the remaining sums on n targets of a round. */
__device__ __forceinline__ void order_sums(struct nb6_device_control_block *control_block, const large_cut &c,
                                           enum nb6_device_order_kind kind, int64_t n)
{
    give_orders(control_block, {kind, kind == NB6_DEVICE_MUTUAL, n, c.groups, c.gpus, 0, c.each, c.first});
}

/* Wait until sums and neighbours of the last order are complete. The host detects helpers that fail. */
__device__ __noinline__ void wait_for_sums(struct nb6_device_control_block *control_block)
{
    uint32_t looks = 0;
    for (int h = 0; h < control_block->help.n; h++) {
        for (;;) {
            uint32_t done;
            asm volatile("ld.acquire.sys.global.u32 %0, [%1];"
                         : "=r"(done)
                         : "l"(&control_block->help.done[h])
                         : "memory");
            if (done == control_block->help.given) break;
            end_if_failed(&control_block->home.mailbox->has_failed, ++looks);
        }
    }
}

__device__ __noinline__ void dismiss_helpers(struct nb6_device_control_block *control_block)
{
    if (control_block->help.n > 0) give_orders(control_block, {NB6_DEVICE_END, 0, 0, 0, 0, 0, 0, 0});
}

} // namespace

#endif
