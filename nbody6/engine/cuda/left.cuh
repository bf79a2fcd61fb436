/** Remaining sums of large blocks, from all sources not summed in pairs (cuda/mutual.cuh). Sources are sorted; sums
 *  are those of other blocks (cuda/sums.cuh), except that a warp skips tiles that are summed in pairs. */
#ifndef NB6_CUDA_LEFT_CUH
#define NB6_CUDA_LEFT_CUH

#include "nbody6/engine/cuda/cut.cuh"
#include "nbody6/engine/cuda/mutual.cuh"
#include "nbody6/engine/cuda/tiles.cuh"
#include "nbody6/engine/cuda/warp.cuh"

#include <cuda_pipeline_primitives.h>

namespace
{

/* Tiles of a slice, of which a warp examines 32 at a time: bits of those that it has to sum, and of those that are
 * far. */
struct tile_walk {
    int32_t chunk; /* of the first bit */
    uint32_t todo, far;
};

/* Find the next chunk for the targets of some group of NB6_DEVICE_GROUP.   @return its number, beyond the last chunk
 * if there is none */
__device__ __forceinline__ int32_t next_tile(const large_cut &c, int32_t group, int32_t slices,
                                             const target_group &targets, tile_walk &walk, bool *is_far)
{
    const int32_t chunks = (int32_t)nb6_dev_chunks(&dev);
    while (walk.todo == 0) {
        walk.chunk += WARP * slices;
        if (walk.chunk >= chunks) return chunks;
        const int32_t own = walk.chunk + lane_of() * slices;
        walk.todo = __ballot_sync(ALL, own < chunks && !is_apart(c, group, own));
        walk.far = far_tiles(walk.chunk, slices, targets);
    }
    const int k = __ffs((int)walk.todo) - 1;
    walk.todo &= walk.todo - 1;
    *is_far = walk.far >> k & 1;
    return walk.chunk + k * slices;
}

/* Sum one slice of the tiles on the targets of a group, two in each lane. */
template <bool WEIGHTED>
__device__ __noinline__ void sum_of_left(const large_cut &c, int32_t group, int32_t slice, int32_t n)
{
    warp_memory &memory = own_memory();
    const slices_of own = slices_on(c, group * PAIR_TARGETS);
    const int32_t chunks = (int32_t)nb6_dev_chunks(&dev), slices = (int32_t)own.number;
    const int32_t of_all = (int32_t)((c.first + group * PAIR_TARGETS) / NB6_DEVICE_GROUP);
    sorted_targets s;
    int32_t n_found[PAIR_OF_TARGETS] = {};
    if (!fetch_sorted(group, n, s)) return;
    keep_group(s, memory.tile.group);
    tile_walk walk = {slice - WARP * slices, 0, 0};
    uint32_t bits[PAIR_OF_TARGETS];
    bool is_far, next_is_far;
    int32_t chunk = next_tile(c, of_all, slices, memory.tile.group, walk, &is_far), next;
    if (chunk < chunks) fetch_tile(memory.tile.units[0], dev.tile[chunk]);
    for (int now = 0, count = 0; chunk < chunks; chunk = next, is_far = next_is_far, now ^= 1, count++) {
        next = next_tile(c, of_all, slices, memory.tile.group, walk, &next_is_far);
        if (next < chunks) {
            fetch_tile(memory.tile.units[now ^ 1], dev.tile[next]);
            __pipeline_wait_prior(1);
        } else {
            __pipeline_wait_prior(0);
        }
        __syncwarp();
        sum_tile<WEIGHTED>(view_tile(memory.tile.units[now]), is_far, s.viewer, s.part, bits);
#pragma unroll
        for (int w = 0; w < PAIR_OF_TARGETS; w++) {
            bits[w] = nb6_dev_others(&s.viewer[w], chunk, bits[w]);
            if (bits[w] && s.wanted[w]) sorted_found(s.m[w], slices, slice)[n_found[w]++] = {(uint32_t)chunk, bits[w]};
            if (count % FLUSH_CHUNKS == FLUSH_CHUNKS - 1) flush_pairs(s.part[w], s.sum[w]);
        }
        __syncwarp();
    }
#pragma unroll
    for (int w = 0; w < PAIR_OF_TARGETS; w++) {
        flush_pairs(s.part[w], s.sum[w]);
        if (!s.wanted[w]) continue;
        const int64_t at = own.at + (w * WARP + lane_of()) * slices + slice;
        dev.partial[at] = s.sum[w];
        dev.n_found[at] = n_found[w];
    }
}

/* Sum one slice of the tiles on one group. */
struct group_slice {
    int64_t group, slice;
};

/* The slice of this warp, among those of all groups of a round and of all GPUs.   @return group -1: none */
__device__ __forceinline__ group_slice slice_of_warp(const large_cut &c, int64_t warp, int64_t n)
{
    const int64_t groups = (n + PAIR_TARGETS - 1) / PAIR_TARGETS;
    const struct nb6_dev_slices *slices = dev.slices + c.first / PAIR_TARGETS;
    group_slice found = {-1, 0};
    for (int64_t begin = 0; begin < groups; begin += WARP) {
        const int64_t own = begin + lane_of();
        const struct nb6_dev_slices s = own < groups ? slices[own] : nb6_dev_slices{0, 0};
        const int64_t slice = warp - s.first;
        const uint32_t is_own = __ballot_sync(ALL, slice >= 0 && slice < s.number);
        if (is_own == 0) continue;
        const int lane = __ffs((int)is_own) - 1;
        found = {begin + lane, __shfl_sync(ALL, slice, lane)};
    }
    return found;
}

/* All slices of the k-th GPU, by all its threads, one for each warp. */
__device__ __forceinline__ void make_left_sums(const large_cut &c, int64_t k, int64_t n)
{
    const group_slice own = slice_of_warp(c, k * warps_of_all() + warp_of_all(), n);
    if (own.group < 0) return;
    if (dev.rules.weighted)
        sum_of_left<true>(c, (int32_t)own.group, (int32_t)own.slice, (int32_t)n);
    else
        sum_of_left<false>(c, (int32_t)own.group, (int32_t)own.slice, (int32_t)n);
}

} // namespace

#endif
