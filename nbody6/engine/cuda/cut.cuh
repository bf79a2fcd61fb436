/** How the sums of a round are cut into parts for the warps of all GPUs, and the shared memory of a warp that makes one
 *  (cuda/sums.cuh, cuda/mutual.cuh). */
#ifndef NB6_CUDA_CUT_CUH
#define NB6_CUDA_CUT_CUH

#include "nbody6/engine/cuda/block.h"
#include "nbody6/engine/cuda/tiles.cuh"
#include "nbody6/engine/cuda/warp.cuh"
#include "nbody6/engine/stages/regular.h"
#include "nbody6/engine/stages/room.h"

namespace
{

constexpr int WIDE_TARGETS = 2048;                                /* from so many on a lane has two, */
constexpr int64_t SORTED_TARGETS = 256, SORTED_PAIRS = 150000000; /* and sources are sorted from so many of both on; */
constexpr int64_t SHARED_PAIRS = 400000000;                       /* helpers are worth their copy of the sources */
static_assert(SHARED_PAIRS >= SORTED_PAIRS, "helpers know sorted sources alone");
static_assert(SORTED_TARGETS > NB6_DEVICE_FEW, "few targets are summed before anything is sorted");
/* A block is large from so many regular members on, if they are such a part of all bodies (cuda/large.cu), and there
 * are more warps than groups of targets in a round. */
constexpr int64_t LARGE_TARGETS = NB6_DEVICE_LARGE_TARGETS, LARGE_PART = 8, LARGE_WARPS = 256;
static_assert(LARGE_TARGETS * LARGE_TARGETS >= SHARED_PAIRS, "it is sorted, and helpers have their share");
constexpr int SIDE = NB6_DEVICE_GROUP / WARP; /* tiles of a group: its targets that a lane has */
constexpr int PAIR_TARGETS = PAIR_OF_TARGETS * WARP;
constexpr int SOURCE_UNITS = sizeof(struct nb6_dev_source) / sizeof(float4);
constexpr int CHUNK_UNITS = WARP * SOURCE_UNITS;
constexpr int FLUSH_CHUNKS = 2; /* of sources that are summed in float */

/* Shared memory of a warp: two chunks of sources on their way, or two tiles and what they are summed on, or a list that
 * is sorted, or what it adds to the sums of others. */
constexpr int LIST_ROOM = 512;
union warp_memory {
    float4 chunk[2][CHUNK_UNITS];
    struct {
        float4 units[2][NB6_DEV_TILE_UNITS];
        target_group group;
    } tile;
    struct {
        float4 units[2][TILE_LOW];
        float4 centre[SIDE]; /* of the tiles of the targets */
    } mutual;
    int32_t list[LIST_ROOM];
    struct {
        double sum[WARP / 2];
        int32_t is_found, hits;
    } share; /* of what a squad makes (cuda/remote.cuh) */
};

__device__ __forceinline__ warp_memory &memory_of_warp(int warp)
{
    extern __shared__ float4 dynamic[];
    return reinterpret_cast<warp_memory *>(dynamic)[warp];
}

__device__ __forceinline__ warp_memory &own_memory()
{
    return memory_of_warp(warp_of());
}

/* How the sums of a round are cut. */
struct cut {
    bool is_sorted; /* sources and targets are in the order of the curve, and slices take every so manieth chunk */
    int width;      /* targets of a lane; 0: lanes have sources */
    int64_t groups, slices;
    int64_t gpus; /* that share them: more than one of sorted sums alone */
};

__device__ __forceinline__ int64_t warps_of_all()
{
    return (int64_t)gridDim.x * WARPS;
}

/* Warps that follow each other are on different multiprocessors. */
__device__ __forceinline__ int64_t warp_of_all()
{
    return (int64_t)warp_of() * gridDim.x + blockIdx.x;
}

/* Where a warp begins in a stage of forces: with which part of the sources, and with which member. */
struct places {
    int32_t warp, member;
};

/* The first blocks of threads come last, which have other work meanwhile (cuda/host_service.cuh, cuda/notifier.cuh);
 * members come to those warps first who have no sources. */
__device__ __forceinline__ places own_places()
{
    constexpr int32_t BUSY = 2;
    const int32_t busy = min(BUSY, (int32_t)gridDim.x), others = (int32_t)gridDim.x - busy;
    const int32_t block = (int32_t)blockIdx.x - busy;
    if (block < 0) {
        const int32_t last = others * WARPS + warp_of() * busy + (int32_t)blockIdx.x;
        return {last, last};
    }
    const int32_t warp = warp_of() * others + block;
    return {warp, others * WARPS - 1 - warp};
}

/* Sums of up to NB6_DEVICE_FEW members. */
__device__ __forceinline__ cut cut_for_few(int64_t n_reg)
{
    return {false, 0, n_reg, max(min(warps_of_all(), nb6_dev_chunks(&dev)), (int64_t)1), 1};
}

/* How the sums of n_reg members are cut, of which a round has n, follows from these numbers alone, not from how they
 * were found. */
__device__ cut cut_sums(int64_t n_reg, int64_t n)
{
    const int64_t chunks = nb6_dev_chunks(&dev);
    cut c = {};
    if (n_reg <= NB6_DEVICE_FEW) return cut_for_few(n_reg);
    c.is_sorted = n_reg >= SORTED_TARGETS && n_reg * dev.n >= SORTED_PAIRS;
    if (n > NB6_DEVICE_FEW) c.width = n > WIDE_TARGETS && !dev.rules.weighted ? 2 : 1;
    if (c.is_sorted) c.width = PAIR_OF_TARGETS;
    const int64_t together = c.width > 0 ? c.width * WARP : 1;
    c.groups = (n + together - 1) / together;
    c.gpus = c.is_sorted && n_reg * dev.n >= SHARED_PAIRS ? 1 + dev.helpers : 1;
    c.slices = c.width > 0 ? c.gpus * warps_of_all() / c.groups : warps_of_all();
    c.slices = max(min(c.slices, chunks), (int64_t)1);
    return c;
}

/* Targets of a round: as many in one as in another, by whole groups, as which dev.targets is (stages/room.h). */
__device__ int64_t targets_of_round(int64_t n_reg)
{
    constexpr int64_t GROUP = 2 * WARP;
    static_assert(GROUP == NB6_DEVICE_PAIRED_TARGETS && GROUP == PAIR_TARGETS, "groups are those of large blocks");
    if (n_reg <= dev.targets) return min((n_reg + GROUP - 1) / GROUP * GROUP, dev.targets);
    const int64_t rounds = max((n_reg + dev.targets - 1) / dev.targets, (int64_t)1);
    return min((n_reg + rounds * GROUP - 1) / (rounds * GROUP) * GROUP, dev.targets);
}

/* Whether the regular steps of so many members are made by the kernel of large blocks. */
__device__ __forceinline__ bool is_large(int64_t n_reg)
{
    return n_reg >= LARGE_TARGETS && n_reg * LARGE_PART >= dev.n && warps_of_all() >= LARGE_WARPS;
}

/* Where the neighbours of a slice of sorted sources are noted: there is room for all of its chunks. */
__device__ __forceinline__ struct nb6_dev_found *sorted_found(int64_t m, int64_t slices, int64_t slice)
{
    const int64_t chunks = nb6_dev_chunks(&dev);
    return dev.found + m * chunks + (chunks / slices * slice + min(slice, chunks % slices));
}

/* The same of any slice. */
__device__ __forceinline__ struct nb6_dev_found *own_found(const cut &c, int64_t m, int64_t slice)
{
    const int64_t chunks = nb6_dev_chunks(&dev);
    int64_t first, end;
    if (c.is_sorted)
        first = chunks / c.slices * slice + min(slice, chunks % c.slices);
    else
        nb6_dev_slice(&dev, slice, c.slices, &first, &end);
    return dev.found + m * chunks + first;
}

/* Two targets of each lane, which are sorted, and their sums so far. */
struct sorted_targets {
    struct nb6_dev_viewer viewer[PAIR_OF_TARGETS];
    struct nb6_dev_sum sum[PAIR_OF_TARGETS];
    pair_sums part[PAIR_OF_TARGETS];
    int64_t m[PAIR_OF_TARGETS];
    bool wanted[PAIR_OF_TARGETS];
};

/* Those of a group of n targets of a round.   @return whether any is wanted */
__device__ __forceinline__ bool fetch_sorted(int64_t group, int64_t n, sorted_targets &s)
{
#pragma unroll
    for (int w = 0; w < PAIR_OF_TARGETS; w++) {
        s.m[w] = (group * PAIR_OF_TARGETS + w) * WARP + lane_of();
        const int64_t known = min(s.m[w], n - 1);
        const struct nb6_dev_target target = dev.target[known];
        s.wanted[w] = s.m[w] < n && target.nnb < 0;
        s.viewer[w] = nb6_dev_view_from(&dev, &target, &dev.seen[known]);
        s.part[w] = {};
        nb6_dev_clear(&s.sum[w]);
    }
    return __any_sync(ALL, s.wanted[0] || s.wanted[1]);
}

/* Boxes of a group, in shared memory of the warp, which tests tiles against them. */
__device__ __forceinline__ void keep_group(const sorted_targets &s, target_group &group)
{
    const target_group all = group_of(s.viewer);
    __syncwarp();
    if (lane_of() == 0) group = all;
    __syncwarp();
}

/* Slices on groups that are for the k-th GPU: the first of them, the numbers of groups before those of slices; k + 1
 * gives their end. */
__device__ __forceinline__ int64_t share_of_gpu(const cut &c, int64_t k)
{
    return c.groups * c.slices * k / c.gpus;
}

/* Slices of the sources on a target: its sums follow each other. */
struct slices_of {
    int64_t at; /* in dev.partial and dev.n_found */
    int64_t number;
};

__device__ __forceinline__ slices_of slices_on(const cut &c, int64_t m)
{
    return {m * c.slices, c.slices};
}

__device__ __forceinline__ bool are_sorted(const cut &c)
{
    return c.is_sorted;
}

__device__ __forceinline__ struct nb6_dev_found *found_of(const cut &c, int64_t m, int64_t, int64_t slice)
{
    return own_found(c, m, slice);
}

/* How the sums of a large block are cut. */
struct large_cut {
    int64_t each;   /* targets of a round, but for the last one */
    int64_t groups; /* of NB6_DEVICE_GROUP targets, pairs of which are summed at once */
    int64_t first;  /* place of the first target of a round along the curve */
    int64_t gpus;   /* that share them */
};

__device__ __forceinline__ large_cut cut_large(int64_t n_reg)
{
    const int64_t groups = min(n_reg / NB6_DEVICE_GROUP, (int64_t)NB6_DEVICE_MOST_GROUPS);
    return {targets_of_round(n_reg), groups, 0, 1 + dev.helpers};
}

/* Each group of targets has as many slices as suit what is left for it. */
__device__ __forceinline__ slices_of slices_on(const large_cut &c, int64_t m)
{
    const struct nb6_dev_slices own = dev.slices[(c.first + m) / PAIR_TARGETS];
    return {(int64_t)own.first * PAIR_TARGETS + m % PAIR_TARGETS * own.number, own.number};
}

__device__ __forceinline__ bool are_sorted(const large_cut &)
{
    return true;
}

__device__ __forceinline__ struct nb6_dev_found *found_of(const large_cut &, int64_t m, int64_t slices, int64_t slice)
{
    return sorted_found(m, slices, slice);
}

} // namespace

#endif
