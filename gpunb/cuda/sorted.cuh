/** Sums of slices of the sorted sources on groups of sorted targets: each warp has two targets in each lane, and goes
 *  through the tiles of its slice, which come at a stride (gpunb/cuda/tiles.cuh). */
#ifndef GPUNB_CUDA_SORTED_CUH
#define GPUNB_CUDA_SORTED_CUH

#include "gpunb/cuda/tiles.cuh"
#include "gpunb/cuda/warp.cuh"
#include "gpunb/device/sums.h"

namespace
{

constexpr int PAIR_TARGETS = GPUNB_DEV_PAIR_TARGETS;
constexpr int FLUSH_CHUNKS = 2; /* chunks of sources between two flushes of a float sum */
static_assert(PAIR_TARGETS == PAIR_OF_TARGETS * WARP, "two for each lane");

/* Shared memory of a warp: two tiles in flight, and its group of targets. */
struct tile_memory {
    float4 units[2][GPUNB_DEV_TILE_UNITS];
    target_group group;
};

/* A slice of the tiles on a group of PAIR_TARGETS targets of a round. */
struct group_slice {
    int32_t group, slice;
    int32_t slices; /* of this group */
    int64_t at;     /* of the group in sums.partial and sums.n_found */
};

/* Two sorted targets of each lane, their sums so far, and where their neighbours are noted. */
struct sorted_targets {
    struct gpunb_dev_viewer viewer[PAIR_OF_TARGETS];
    struct gpunb_dev_sum sum[PAIR_OF_TARGETS];
    pair_sums part[PAIR_OF_TARGETS];
    struct gpunb_dev_found *found[PAIR_OF_TARGETS];
    int32_t m[PAIR_OF_TARGETS]; /* of the round */
    bool wanted[PAIR_OF_TARGETS];
    bool has_edge[PAIR_OF_TARGETS]; /* some of the neighbours have to be decided in double */
};

/* Where the neighbours of a target in a slice are noted, with room for all of its chunks. */
__device__ __forceinline__ struct gpunb_dev_found *found_in_slice(const struct gpunb_dev_sums &sums, int64_t m,
                                                                  int64_t slices, int64_t slice)
{
    const int64_t chunks = gpunb_dev_chunks(&sums);
    return sums.found + m * chunks + (chunks / slices * slice + min(slice, chunks % slices));
}

/* The targets of one group of n targets of a round.   @return whether the group has any */
__device__ __forceinline__ bool fetch_sorted(const struct gpunb_dev_sums &sums, const group_slice &own, int32_t n,
                                             sorted_targets &s)
{
#pragma unroll
    for (int w = 0; w < PAIR_OF_TARGETS; w++) {
        s.m[w] = (own.group * PAIR_OF_TARGETS + w) * WARP + lane_of();
        const int32_t known = min(s.m[w], n - 1);
        s.viewer[w] = sums.viewer[known];
        s.wanted[w] = s.m[w] < n && s.viewer[w].is_wanted;
        s.part[w] = {};
        s.has_edge[w] = false;
        gpunb_dev_clear(&s.sum[w]);
        s.found[w] = found_in_slice(sums, known, own.slices, own.slice);
    }
    return __any_sync(ALL, s.wanted[0] || s.wanted[1]);
}

/* Boxes of a group, in shared memory of the warp, against which it tests tiles. */
__device__ __forceinline__ void keep_group(const sorted_targets &s, target_group &group)
{
    const target_group all = group_of(s.viewer);
    __syncwarp();
    if (lane_of() == 0) group = all;
    __syncwarp();
}

/* A tile on the targets of this warp: sums, and neighbours without the targets themselves. */
template <bool WEIGHTED>
__device__ __forceinline__ void take_tile(const struct gpunb_dev_sums &sums, const float4 *units, int32_t chunk,
                                          bool is_far, sorted_targets &s)
{
    const tile_view tile = view_tile(units);
    if (!is_far) is_far = !__any_sync(ALL, is_near_target(tile, s.viewer[0]) || is_near_target(tile, s.viewer[1]));
    if (is_far) return sum_far_tile(tile, s.viewer, s.part);
    near_bits bits = {};
    sum_near_tile<WEIGHTED>(tile, s.viewer, s.part, bits);
#pragma unroll
    for (int w = 0; w < PAIR_OF_TARGETS; w++) {
        const uint32_t close = gpunb_dev_others(&s.viewer[w], chunk, bits.close[w]);
        s.has_edge[w] |= bits.has_edge[w];
        if (close && s.wanted[w]) *s.found[w]++ = {(uint32_t)chunk, close};
    }
}

/* Tiles of a slice, of which a warp examines 32 at a time: bits of those that it has to sum, and of those that are
 * far. */
struct tile_walk {
    int32_t chunk; /* of the first bit */
    uint32_t todo, far;
};

/* The next tile of a slice.   @param[in] is_left_out  functor of a tile   @return its number, beyond the last one if
 * there is none */
template <typename left_out>
__device__ __forceinline__ int32_t next_tile(const struct gpunb_dev_sums &sums, int32_t slices,
                                             const target_group &targets, const left_out &is_left_out, tile_walk &walk,
                                             bool *is_far)
{
    const int32_t chunks = (int32_t)gpunb_dev_chunks(&sums);
    while (walk.todo == 0) {
        walk.chunk += WARP * slices;
        if (walk.chunk >= chunks) return chunks;
        const int32_t own = walk.chunk + lane_of() * slices;
        walk.todo = __ballot_sync(ALL, own < chunks && !is_left_out(own));
        walk.far = far_tiles(sums, walk.chunk, slices, targets);
    }
    const int k = __ffs((int)walk.todo) - 1;
    walk.todo &= walk.todo - 1;
    *is_far = walk.far >> k & 1;
    return walk.chunk + k * slices;
}

/* The sums and the numbers of neighbours of a slice, to their places. */
__device__ __forceinline__ void store_slice(const struct gpunb_dev_sums &sums, const group_slice &own,
                                            sorted_targets &s)
{
#pragma unroll
    for (int w = 0; w < PAIR_OF_TARGETS; w++) {
        flush_pairs(s.part[w], s.sum[w]);
        if (!s.wanted[w]) continue;
        const int64_t at = own.at + (int64_t)(w * WARP + lane_of()) * own.slices + own.slice;
        sums.partial[at] = s.sum[w];
        const int32_t entries = (int32_t)(s.found[w] - found_in_slice(sums, s.m[w], own.slices, own.slice));
        sums.n_found[at] = entries | (s.has_edge[w] ? GPUNB_DEV_HAS_EDGE : 0);
    }
}

/* One slice of the tiles on the targets of a group, of n targets of a round, by a warp.
 * @param[in] is_left_out  functor of a tile: it is summed elsewhere */
template <bool WEIGHTED, typename left_out>
__device__ __forceinline__ void sum_slice(const struct gpunb_dev_sums &sums, const group_slice &own, int32_t n,
                                          const left_out &is_left_out, tile_memory &memory)
{
    const int32_t chunks = (int32_t)gpunb_dev_chunks(&sums);
    sorted_targets s;
    if (!fetch_sorted(sums, own, n, s)) return;
    keep_group(s, memory.group);
    tile_walk walk = {own.slice - WARP * own.slices, 0, 0};
    bool is_far, next_is_far;
    int32_t chunk = next_tile(sums, own.slices, memory.group, is_left_out, walk, &is_far), next;
    if (chunk < chunks) begin_copy<GPUNB_DEV_TILE_UNITS>(memory.units[0], &sums.tile[chunk]);
    for (int now = 0, count = 0; chunk < chunks; chunk = next, is_far = next_is_far, now ^= 1, count++) {
        next = next_tile(sums, own.slices, memory.group, is_left_out, walk, &next_is_far);
        await_copy(next < chunks, [&]() { begin_copy<GPUNB_DEV_TILE_UNITS>(memory.units[now ^ 1], &sums.tile[next]); });
        take_tile<WEIGHTED>(sums, memory.units[now], chunk, is_far, s);
        if (count % FLUSH_CHUNKS == FLUSH_CHUNKS - 1)
            for (int w = 0; w < PAIR_OF_TARGETS; w++) flush_pairs(s.part[w], s.sum[w]);
        __syncwarp();
    }
    store_slice(sums, own, s);
}

/* No tile is left out. */
struct all_tiles {
    __device__ __forceinline__ bool operator()(int32_t) const
    {
        return false;
    }
};

} // namespace

#endif
