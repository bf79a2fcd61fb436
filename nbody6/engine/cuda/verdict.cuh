/** The verdict of a block for all blocks of threads: a reason to stop, or what to do next. Both are in one number, so
 * that what the first block of threads tells the others is read at once; here it is a type of its own, which only the
 * functions below make of either enum. */
#ifndef NB6_CUDA_VERDICT_CUH
#define NB6_CUDA_VERDICT_CUH

#include "nbody6/engine/cuda/block.h"
#include "nbody6/engine/stop_reason.h"

#include <stdint.h>

namespace
{

enum class verdict : int32_t {}; /* enum nb6_stop_reason, from 0 on, or enum nb6_device_next, below 0 */

__device__ __forceinline__ constexpr verdict stop(enum nb6_stop_reason reason)
{
    return static_cast<verdict>(reason);
}

__device__ __forceinline__ constexpr verdict go(enum nb6_device_next next)
{
    return static_cast<verdict>(next);
}

/* As it is in memory. */
__device__ __forceinline__ constexpr int32_t stored(verdict v)
{
    return static_cast<int32_t>(v);
}

__device__ __forceinline__ constexpr bool stops(verdict v)
{
    return stored(v) >= 0;
}

/* Of a round of regular steps: what it has noted of sums and lists. */
__device__ __forceinline__ verdict verdict_of_round(int64_t unsound, int32_t too_long)
{
    return unsound != INT64_MAX ? stop(NB6_STOP_NON_FINITE) : too_long ? stop(NB6_STOP_OVERFLOW) : go(NB6_DEVICE_GO_ON);
}

} // namespace

#endif
