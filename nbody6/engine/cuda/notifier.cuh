/** Notes for the host are written, and members looked at, by the second block of threads, the *notifier block*, while
 * the first one goes on with the next block, and waits for them before it commits that one. If the host has to look at
 * the block before, the next one is given up, which has changed nothing yet, and made again after the answer. So all is
 * as if nobody had gone on. */
#ifndef NB6_CUDA_NOTIFIER_CUH
#define NB6_CUDA_NOTIFIER_CUH

#include "nbody6/engine/cuda/block.h"
#include "nbody6/engine/cuda/warp.cuh"

#include <stddef.h>

namespace
{

constexpr unsigned NOTIFIER = 1;

/* Where there are systems. */
__device__ __forceinline__ bool has_notifier()
{
    return gridDim.x > NOTIFIER && dev.n > dev.first_centre;
}

/* What a block of threads knows of deferred_works. */
struct pending_notes {
    uint32_t calls;    /* of the notifier block, so far; its own: that it has answered */
    int32_t is_any;    /* the last one may not have been answered */
    int32_t n_found;   /* as nb6_deferred_work has it then */
    int32_t is_called; /* of the notifier block */
};

/* By one thread, after a barrier of the first block of threads; the notifier block sees all that it has written and
 * seen. */
__device__ __forceinline__ void call_notifier(struct nb6_device_control_block *control_block, pending_notes &pending)
{
    pending.calls++;
    pending.is_any = 1;
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(&control_block->calls), "r"(pending.calls) : "memory");
}

/* The same of the notifier block. */
__device__ __forceinline__ void end_deferred_work(struct nb6_deferred_work &deferred_work, pending_notes &pending)
{
    pending.calls++;
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(&deferred_work.answers), "r"(pending.calls) : "memory");
}

/* By one thread of the first block of threads, until the notes are written that were dictated, if there are any.
 *  @return how many members the host has to look at */
__device__ __forceinline__ int32_t await_notifier(const struct nb6_deferred_work &deferred_work, pending_notes &pending)
{
    uint32_t answers;
    if (!*static_cast<const volatile int32_t *>(&pending.is_any)) return 0; /* nobody else reads it in passing */
    do {
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(answers) : "l"(&deferred_work.answers) : "memory");
    } while (answers != pending.calls);
    const int32_t n_found = deferred_work.n_found;
    pending.n_found = n_found;
    pending.is_any = 0;
    return n_found;
}

/* The same by all.   @return whether it has found anything for the host */
__device__ __forceinline__ bool wait_for_notifier(const struct nb6_deferred_work &deferred_work, pending_notes &pending)
{
    __syncthreads();
    if (threadIdx.x == 0) (void)await_notifier(deferred_work, pending);
    __syncthreads();
    return pending.n_found > 0;
}

/* By the notifier block, at a barrier where it has arrived.   @return whether there are notes to write; no: all have
 * arrived */
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
        do { /* it is not called any more after all have arrived */
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
