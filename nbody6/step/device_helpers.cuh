/** What the kernel that makes blocks says to helpers (device_helpers.h), by its first thread. */
#ifndef NB6_DEVICE_HELPERS_CUH
#define NB6_DEVICE_HELPERS_CUH

#include "nbody6/step/device_block.h"
#include "nbody6/step/device_sums.cuh"

namespace
{

__device__ __forceinline__ void give_order(struct nb6_device_order *to, struct nb6_device_order order)
{
    to->is_end = order.is_end;
    to->has_new_tiles = order.has_new_tiles;
    to->n = order.n;
    to->groups = order.groups;
    to->slices = order.slices;
    to->gpus = order.gpus;
    to->share = order.share;
    asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(&to->given), "r"(order.given) : "memory");
}

/* After a barrier that comes after the last change of tiles and targets. */
__device__ __noinline__ void order_sums(const struct nb6_dev &dev, struct nb6_device_word *word, const cut &c,
                                        int64_t n, bool has_new_tiles)
{
    const uint32_t given = ++word->help.given;
    for (int64_t h = 0; h < dev.helpers; h++)
        give_order(word->help.order[h], {given, 0, has_new_tiles, n, c.groups, c.slices, c.gpus, h + 1});
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
    if (word->help.n == 0) return;
    const uint32_t given = ++word->help.given;
    for (int h = 0; h < word->help.n; h++) give_order(word->help.order[h], {given, 1, 0, 0, 0, 0, 0, 0});
}

} // namespace

#endif
