/** What the kernel that makes blocks says to helpers (cuda/helpers.h), by its first thread. */
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

/* The same for all, but for their shares. After a barrier that comes after the last change of what they need. */
__device__ __noinline__ void give_orders(struct nb6_device_word *word, const struct nb6_device_task &task)
{
    const uint32_t given = ++word->help.given;
    for (int64_t h = 0; h < word->help.n; h++) give_order(word->help.order[h], given, task, h + 1);
}

/* Sorted sums of n targets. */
__device__ __forceinline__ void order_sums(struct nb6_device_word *word, const cut &c, int64_t n, bool has_new_tiles)
{
    give_orders(word, {NB6_DEVICE_SUMS, has_new_tiles, n, c.groups, c.gpus, c.slices, 0, 0});
}

/* Of a large block, sums of pairs of targets, or what is left for n targets of a round. */
__device__ __forceinline__ void order_sums(struct nb6_device_word *word, const large_cut &c,
                                           enum nb6_device_order_kind kind, int64_t n)
{
    give_orders(word, {kind, kind == NB6_DEVICE_MUTUAL, n, c.groups, c.gpus, 0, c.each, c.first});
}

/* Sums and neighbours of the last order are there. The host knows if a helper has failed. */
__device__ __noinline__ void wait_for_sums(struct nb6_device_word *word)
{
    uint32_t looks = 0;
    for (int h = 0; h < word->help.n; h++) {
        for (;;) {
            uint32_t done;
            asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(done) : "l"(&word->help.done[h]) : "memory");
            if (done == word->help.given) break;
            end_if_failed(&word->home.mail->has_failed, ++looks);
        }
    }
}

__device__ __noinline__ void dismiss_helpers(struct nb6_device_word *word)
{
    if (word->help.n > 0) give_orders(word, {NB6_DEVICE_END, 0, 0, 0, 0, 0, 0, 0});
}

} // namespace

#endif
