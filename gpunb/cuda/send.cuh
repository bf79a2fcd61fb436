/** The way of a list to memory of the host (struct device_result), by a block of threads. */
#ifndef GPUNB_CUDA_SEND_CUH
#define GPUNB_CUDA_SEND_CUH

#include <stdint.h>

namespace
{

constexpr int SENDERS = 128; /* threads of the block */

/* From neighbour k - 1 to neighbour k, see struct device_result. */
__device__ __forceinline__ uint32_t step_to(const int32_t *sorted, int k)
{
    return (uint32_t)(sorted[k] - (k > 0 ? sorted[k - 1] : -1) - 1);
}

/* Copy the sorted row to the host, in half its size if possible.   @return 1: it was not possible */
__device__ bool send_row(const int32_t *sorted, int found, int32_t *out)
{
    bool large = false;
    for (int k = threadIdx.x; k < found; k += SENDERS) large |= step_to(sorted, k) > 0xffff;
    large = __syncthreads_or(large);
    if (large) {
        for (int k = threadIdx.x; k < found; k += SENDERS) out[k] = sorted[k];
        return true;
    }
    for (int k = 2 * threadIdx.x; k < found; k += 2 * SENDERS)
        out[k / 2] = (int32_t)(step_to(sorted, k) | (k + 1 < found ? step_to(sorted, k + 1) << 16 : 0));
    return false;
}

} // namespace

#endif
