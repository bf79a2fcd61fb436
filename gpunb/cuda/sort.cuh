/** Sources are sorted along a space-filling curve, by all threads of a kernel whose blocks of threads meet at barriers:
 *  then nearly all chunks of sources are far from nearly all targets (gpunb/cuda/tiles.cuh). The order is a function of
 *  the positions and of who is a target, not of the order in which targets were named, nor of what was before: a
 *  resumed run has the same sums.
 *
 *  Targets come first. It is a stable radix sort: each warp has a run of the bodies, in order. */
#ifndef GPUNB_CUDA_SORT_CUH
#define GPUNB_CUDA_SORT_CUH

#include "gpunb/cuda/tiles.cuh"
#include "gpunb/cuda/warp.cuh"
#include "gpunb/curve.h"
#include "gpunb/device/sums.h"

namespace
{

constexpr int DIGIT_BITS = 8, DIGITS = GPUNB_DEV_DIGITS, PASSES = 4;
constexpr uint32_t NO_TARGET = 1u << GPUNB_CURVE_KEY_BITS;
static_assert(DIGITS == 1 << DIGIT_BITS && PASSES * DIGIT_BITS > GPUNB_CURVE_KEY_BITS, "keys are sorted whole");
static_assert(PASSES % 2 == 0, "the result is in the first half of the arrays");
static_assert(THREADS == 2 * DIGITS, "two threads add up the counts of a digit");

/* Shared memory of a block of threads while it sorts. */
struct sort_memory {
    int32_t count[WARPS][DIGITS]; /* digits in the run of a warp; then where those begin in the block's part */
    int32_t before[2][DIGITS];    /* two halves of the blocks count: sources in the blocks before this one, */
    int32_t total[2][DIGITS];     /* and in all */
    int32_t base[DIGITS];         /* where those of this block begin */
    int32_t of_warp[DIGITS / WARP];
};

/* The 17th smallest of the numbers of the lanes. */
__device__ __forceinline__ float middle_of_lanes(float own)
{
    int rank = 0;
    for (int k = 0; k < WARP; k++) {
        const float other = __shfl_sync(ALL, own, k);
        rank += other < own || (other == own && k < lane_of());
    }
    const uint32_t is_middle = __ballot_sync(ALL, rank == WARP / 2);
    return __shfl_sync(ALL, own, is_middle ? __ffs((int)is_middle) - 1 : 0);
}

/* Centre and scale from the medians of a sample, which a few distant stars do not move. Forces are right with any
 * map. */
__device__ __forceinline__ struct gpunb_map map_of_sample(const struct gpunb_dev_sums &sums)
{
    const struct gpunb_dev_source &own = sums.source[sums.n * lane_of() / WARP];
    struct gpunb_map map;
    float distance = 0;
    for (int k = 0; k < 3; k++) {
        const float centre = middle_of_lanes(own.high[k]);
        distance = fmaxf(distance, fabsf(own.high[k] - centre));
        map.centre[k] = centre;
    }
    const float scale = middle_of_lanes(distance);
    map.per_scale = scale > 0 ? 1 / (double)scale : 1;
    return map;
}

/* Sources that take no part come last. */
__device__ __forceinline__ void make_keys(const struct gpunb_dev_sums &sums, const grid_of_blocks &grid)
{
    const struct gpunb_map map = map_of_sample(sums);
    for (int64_t j = grid.rank(); j < sums.n; j += grid.size()) {
        const float *high = sums.source[j].high;
        const double x[3] = {high[0], high[1], high[2]};
        sums.key[j] = gpunb_dev_takes_part(&sums.source[j]) ? NO_TARGET | gpunb_curve_key(x, &map) : ~0u;
        sums.order[j] = (int32_t)j;
    }
}

/* The run of this warp; the runs of the warps of a block of threads are consecutive. */
__device__ __forceinline__ void own_run(int64_t n, int64_t *first, int64_t *end)
{
    const int64_t warp = (int64_t)blockIdx.x * WARPS + warp_of(), warps = (int64_t)gridDim.x * WARPS;
    *first = n * warp / warps;
    *end = n * (warp + 1) / warps;
}

__device__ __forceinline__ int digit_of(uint32_t key, int pass)
{
    return (int)(key >> pass * DIGIT_BITS & (DIGITS - 1));
}

/* s.count: sources of each digit in the warps before; sums.digits: in the block of threads. */
__device__ __forceinline__ void count_digits(const struct gpunb_dev_sums &sums, int pass, sort_memory &s)
{
    const uint32_t *key = sums.key + pass % 2 * sums.stride;
    int64_t first, end;
    own_run(sums.n, &first, &end);
    __syncthreads();
    for (int d = lane_of(); d < DIGITS; d += WARP) s.count[warp_of()][d] = 0;
    __syncwarp();
    for (int64_t k = first + lane_of(); k < end; k += WARP) atomicAdd(&s.count[warp_of()][digit_of(key[k], pass)], 1);
    __syncthreads();
    const int d = threadIdx.x;
    if (d >= DIGITS) return;
    int32_t all = 0;
    for (int w = 0; w < WARPS; w++) {
        const int32_t own = s.count[w][d];
        s.count[w][d] = all;
        all += own;
    }
    sums.digits[(int64_t)blockIdx.x * DIGITS + d] = all;
}

/* s.base, from the counts of all blocks of threads. */
__device__ __forceinline__ void place_digits(const struct gpunb_dev_sums &sums, sort_memory &s)
{
    const int d = threadIdx.x % DIGITS, half = threadIdx.x / DIGITS;
    const int first = (int)gridDim.x * half / 2, end = (int)gridDim.x * (half + 1) / 2;
    int32_t before = 0, total = 0;
#pragma unroll 8
    for (int block = first; block < end; block++) {
        const int32_t number = sums.digits[block * DIGITS + d];
        total += number;
        before += block < (int)blockIdx.x ? number : 0;
    }
    s.before[half][d] = before;
    s.total[half][d] = total;
    __syncthreads();
    const int32_t own = s.total[0][d] + s.total[1][d];
    int32_t of_warp;
    int32_t at = count_up_to(own, &of_warp) - own;
    if (half == 0 && lane_of() == 0) s.of_warp[warp_of()] = of_warp;
    __syncthreads();
    if (half != 0) return;
    for (int w = 0; w < warp_of(); w++) at += s.of_warp[w];
    s.base[d] = at + s.before[0][d] + s.before[1][d];
}

/* Move keys and sources of the run to their places, 32 at a time. */
__device__ __forceinline__ void move_keys(const struct gpunb_dev_sums &sums, int pass, sort_memory &s)
{
    const int64_t from = pass % 2 * sums.stride, to = sums.stride - from;
    int64_t first, end;
    own_run(sums.n, &first, &end);
    int32_t *count = s.count[warp_of()];
    for (int64_t begin = first; begin < end; begin += WARP) {
        const int64_t k = begin + lane_of();
        const bool is_there = k < end;
        const uint32_t key = is_there ? sums.key[from + k] : 0;
        const int digit = is_there ? digit_of(key, pass) : DIGITS;
        const uint32_t same = __match_any_sync(ALL, digit), before = same & ((1u << lane_of()) - 1);
        const int32_t at = is_there ? s.base[digit] + count[digit] + __popc(before) : 0;
        if (is_there) {
            sums.key[to + at] = key;
            sums.order[to + at] = sums.order[from + k];
        }
        __syncwarp();
        if (is_there && before == 0) count[digit] += __popc(same);
        __syncwarp();
    }
}

/* sums.order: all sources along the curve, targets before others.
 * @param[in] mark  functor (m) -> number of the source that target m, of n_targets, is; it may set sums.owner of it */
template <typename marker>
__device__ __forceinline__ void sort_sources(const struct gpunb_dev_sums &sums, int64_t n_targets, const marker &mark,
                                             grid_of_blocks &grid)
{
    extern __shared__ float4 dynamic[];
    sort_memory &s = *reinterpret_cast<sort_memory *>(dynamic);
    make_keys(sums, grid);
    grid.sync();
    for (int64_t m = grid.rank(); m < n_targets; m += grid.size()) sums.key[mark(m)] &= ~NO_TARGET;
    grid.sync();
#pragma unroll 1
    for (int pass = 0; pass < PASSES; pass++) {
        count_digits(sums, pass, s);
        grid.sync();
        place_digits(sums, s);
        __syncthreads();
        move_keys(sums, pass, s);
        grid.sync();
    }
}

/* All tiles, by all threads. */
__device__ __forceinline__ void make_tiles(const struct gpunb_dev_sums &sums)
{
    for (int64_t chunk = warp_of_all(); chunk < gpunb_dev_chunks(&sums); chunk += warps_of_all())
        make_tile(sums, chunk);
}

} // namespace

#endif
