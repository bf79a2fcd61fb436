/** Tides on few-body systems of the bodies beyond their neighbour lists, for the host (engine/host_service.h), summed
 *  by all blocks of threads. Bodies are dealt out to a fixed number of parts, so that the bits do not depend on the
 *  GPU. */
#ifndef NB6_CUDA_TIDES_CUH
#define NB6_CUDA_TIDES_CUH

#include "nbody6/engine/cuda/block.h"
#include "nbody6/engine/cuda/warp.cuh"
#include "nbody6/engine/stages/quiet.h"

namespace
{

constexpr int TIDE_PARTS = 32, TIDE_NUMBERS = sizeof(struct nb6_dev_tide) / sizeof(double);
/* Systems at a time. dev.sums.partial, scratch of regular forces, has room for the parts of more. */
constexpr int MOST_TIDES = 64;

/* Shared memory of a block of threads. */
struct tide_memory {
    double farthest2[WARPS], sum[WARPS][TIDE_NUMBERS];
};

__device__ __forceinline__ double *tide_of_part(int32_t k, int32_t part)
{
    return reinterpret_cast<double *>(dev.sums.partial) + (k * TIDE_PARTS + part) * TIDE_NUMBERS;
}

/* One part of the tide on body i, by a block of threads: blocks of THREADS bodies at a stride of TIDE_PARTS. */
__device__ __forceinline__ void sum_part_of_tide(int32_t i, int32_t part, double *out, tide_memory &s)
{
    struct nb6_dev_tide own = {};
    double farthest2 = highest_of_lanes(nb6_dev_farthest2(&dev, i, threadIdx.x, THREADS));
    if (lane_of() == 0) s.farthest2[warp_of()] = farthest2;
    __syncthreads();
    for (int w = 0; w < WARPS; w++) farthest2 = fmax(farthest2, s.farthest2[w]);
    for (int64_t j = part * THREADS + threadIdx.x; j < dev.n; j += TIDE_PARTS * THREADS)
        nb6_dev_add_far_tide(&dev, i, (int32_t)j, farthest2, &own);
    for (int k = 0; k < TIDE_NUMBERS; k++) {
        const double sum = sum_of_lanes(k < 6 ? own.field[k] : own.field_dot[k - 6]);
        if (lane_of() == 0) s.sum[warp_of()][k] = sum;
    }
    __syncthreads();
    if (threadIdx.x < TIDE_NUMBERS) {
        double sum = 0;
        for (int w = 0; w < WARPS; w++) sum += s.sum[w][threadIdx.x];
        out[threadIdx.x] = sum;
    }
    __syncthreads();
}

/* Parts for n systems of dev.member, from `first` on. */
__device__ __noinline__ void sum_parts_of_tides(int32_t first, int32_t n)
{
    __shared__ tide_memory s;
    for (int32_t at = blockIdx.x; at < n * TIDE_PARTS; at += gridDim.x) {
        const int32_t k = at / TIDE_PARTS, part = at % TIDE_PARTS;
        sum_part_of_tide(dev.member[first + k], part, tide_of_part(k, part), s);
    }
}

/* Add all parts, by the first block of threads, into the tide for the host. */
__device__ __noinline__ void send_tides(struct nb6_dev_tide *out, int32_t n)
{
    for (int32_t at = threadIdx.x; at < n * TIDE_NUMBERS; at += THREADS) {
        const int32_t k = at / TIDE_NUMBERS, number = at % TIDE_NUMBERS;
        double sum = 0;
#pragma unroll 8
        for (int32_t part = 0; part < TIDE_PARTS; part++) sum += tide_of_part(k, part)[number];
        (number < 6 ? out[k].field : out[k].field_dot)[number % 6] = sum;
    }
}

/* Executed by all, after a barrier; then the first block of threads goes on with the answer of the host. */
__device__ __forceinline__ void sum_tides(const struct nb6_device_control_block *control_block, grid_of_blocks &grid)
{
    const int32_t n = control_block->n_tides;
    for (int32_t first = 0; first < n; first += MOST_TIDES) {
        const int32_t now = min(n - first, MOST_TIDES);
        sum_parts_of_tides(first, now);
        grid.sync();
        if (blockIdx.x == 0) send_tides(control_block->home.far + first, now);
        if (first + now < n) grid.sync();
    }
}

} // namespace

#endif
