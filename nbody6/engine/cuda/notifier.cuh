/** The second block of threads is the *notifier block*. It writes notes for the host and examines members of the last
 *  block, while the first block of threads goes on with the next block, which it does not commit before this work is
 *  done. If the host has to examine the last block, the next one is discarded, which has changed nothing yet, and
 *  made again after the answer of the host. So results do not depend on the overlap. */
#ifndef NB6_CUDA_NOTIFIER_CUH
#define NB6_CUDA_NOTIFIER_CUH

#include "nbody6/engine/cuda/block.h"
#include "nbody6/engine/cuda/warp.cuh"

#include <stddef.h>

namespace
{

constexpr unsigned NOTIFIER = 1;

/* The notifier block has work only if there are few-body systems. */
__device__ __forceinline__ bool has_notifier()
{
    return gridDim.x > NOTIFIER && dev.n > dev.first_centre;
}

/* State of deferred work in a block of threads. */
struct pending_notes {
    uint32_t calls;    /* requests to the notifier block so far; in the notifier block itself, requests completed */
    int32_t is_any;    /* the last request may not be completed */
    int32_t n_found;   /* as in nb6_deferred_work at its completion */
    int32_t is_called; /* requests in the notifier block */
};

/* Send a request; called by one thread, after a barrier of the first block of threads. The notifier block sees all
 * that this thread has written and read before. */
__device__ __forceinline__ void call_notifier(struct nb6_device_control_block *control_block, pending_notes &pending)
{
    pending.calls++;
    pending.is_any = 1;
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(&control_block->calls), "r"(pending.calls) : "memory");
}

/* Complete a request, in the notifier block. */
__device__ __forceinline__ void end_deferred_work(struct nb6_deferred_work &deferred_work, pending_notes &pending)
{
    pending.calls++;
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(&deferred_work.answers), "r"(pending.calls) : "memory");
}

/* Wait until the deferred work is done, if there is any; called by one thread of the first block of threads.
 * @return the number of members that the host has to examine */
__device__ __forceinline__ int32_t await_notifier(const struct nb6_deferred_work &deferred_work, pending_notes &pending)
{
    uint32_t answers;
    if (!*static_cast<const volatile int32_t *>(&pending.is_any)) return 0; /* all others read it after barriers */
    do {
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(answers) : "l"(&deferred_work.answers) : "memory");
    } while (answers != pending.calls);
    const int32_t n_found = deferred_work.n_found;
    pending.n_found = n_found;
    pending.is_any = 0;
    return n_found;
}

/* The same for all threads.   @return whether the host has to examine any member */
__device__ __forceinline__ bool wait_for_notifier(const struct nb6_deferred_work &deferred_work, pending_notes &pending)
{
    __syncthreads();
    if (threadIdx.x == 0) (void)await_notifier(deferred_work, pending);
    __syncthreads();
    return pending.n_found > 0;
}

/* Wait for a request at a barrier at which the notifier block has arrived.   @return whether there is one; 0: all
 * blocks of threads have arrived */
__device__ __forceinline__ bool is_called_for(const struct nb6_device_control_block *control_block, pending_notes &own,
                                              const grid_of_blocks &grid)
{
    static_assert(offsetof(struct nb6_device_control_block, arrived) % sizeof(uint2) == 0,
                  "both numbers are one word of 8 bytes");
    static_assert(offsetof(struct nb6_device_control_block, calls) ==
                      offsetof(struct nb6_device_control_block, arrived) + 4,
                  "they are");
    __syncthreads();
    if (threadIdx.x == 0) {
        uint32_t arrived, calls;
        do { /* there are no requests after all have arrived */
            asm volatile("ld.acquire.gpu.global.v2.u32 {%0, %1}, [%2];"
                         : "=r"(arrived), "=r"(calls)
                         : "l"(&control_block->arrived)
                         : "memory");
        } while (calls == own.calls && !grid.is_complete(arrived));
        own.is_called = calls != own.calls;
    }
    __syncthreads();
    return own.is_called;
}

} // namespace

#endif
