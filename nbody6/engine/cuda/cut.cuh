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

constexpr int WIDE_TARGETS = 2048;                                /* targets from which each lane has two */
constexpr int64_t SORTED_TARGETS = 256, SORTED_PAIRS = 150000000; /* targets and pairs from which sources are sorted */
constexpr int64_t SHARED_PAIRS = 400000000;                       /* pairs from which helpers are worth it */
static_assert(SHARED_PAIRS >= SORTED_PAIRS, "helpers know sorted sources alone");
static_assert(SORTED_TARGETS > NB6_DEVICE_FEW, "few targets are summed before anything is sorted");
/* A block is large if it has at least so many regular members, if these are at least such a part of all bodies
 * (cuda/large.cu), and if there are more warps than groups of targets in a round. */
constexpr int64_t LARGE_TARGETS = NB6_DEVICE_LARGE_TARGETS, LARGE_PART = 8, LARGE_WARPS = 256;
static_assert(LARGE_TARGETS * LARGE_TARGETS >= SHARED_PAIRS, "it is sorted, and helpers have their share");
constexpr int SIDE = NB6_DEVICE_GROUP / WARP; /* tiles in a group of targets, one target of each for a lane */
constexpr int PAIR_TARGETS = PAIR_OF_TARGETS * WARP;
constexpr int SOURCE_UNITS = sizeof(struct nb6_dev_source) / sizeof(float4);
constexpr int CHUNK_UNITS = WARP * SOURCE_UNITS;
constexpr int FLUSH_CHUNKS = 2; /* chunks of sources between two flushes of a float sum */

/* Shared memory of a warp, one of: two chunks of sources in flight; two tiles and their group of targets; a list to
 * sort; the warp's part of a sum over several warps. */
constexpr int LIST_ROOM = 512;
union warp_memory {
    float4 chunk[2][CHUNK_UNITS];
    struct {
        float4 units[2][NB6_DEV_TILE_UNITS];
        target_group group;
    } tile;
    struct {
        float4 units[2][TILE_LOW];
        float4 centre[SIDE]; /* centres of the tiles of targets */
    } mutual;
    int32_t list[LIST_ROOM];
    struct {
        double sum[WARP / 2];
        int32_t is_found, hits;
    } share; /* the warp's part of a result of its squad (cuda/remote.cuh) */
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
    bool is_sorted; /* sources and targets are in the order of the curve; slices take chunks at a stride */
    int width;      /* targets of a lane; 0: lanes have sources */
    int64_t groups, slices;
    int64_t gpus; /* GPUs that share the sums; more than one for sorted sums only */
};

__device__ __forceinline__ int64_t warps_of_all()
{
    return (int64_t)gridDim.x * WARPS;
}

/* Consecutive warps are on different multiprocessors. */
__device__ __forceinline__ int64_t warp_of_all()
{
    return (int64_t)warp_of() * gridDim.x + blockIdx.x;
}

/* Where a warp begins in the irregular and regular force stages: its part of the sources, and its first member. */
struct places {
    int32_t warp, member;
};

/* The first two blocks of threads come last, since they have other work at this time (cuda/host_service.cuh,
 * cuda/notifier.cuh). Members go first to warps without sources. */
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

/* How sums of up to NB6_DEVICE_FEW members are cut. */
__device__ __forceinline__ cut cut_for_few(int64_t n_reg)
{
    return {false, 0, n_reg, max(min(warps_of_all(), nb6_dev_chunks(&dev)), (int64_t)1), 1};
}

/* How the sums of n_reg members, n of them in a round, are cut. It follows from these numbers alone, not from the
 * order in which members were found. */
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

/* Targets of a round: nearly the same number in each round, in whole groups, at most those of dev.targets
 * (stages/room.h). */
__device__ int64_t targets_of_round(int64_t n_reg)
{
    constexpr int64_t GROUP = 2 * WARP;
    static_assert(GROUP == NB6_DEVICE_PAIRED_TARGETS && GROUP == PAIR_TARGETS, "groups are those of large blocks");
    if (n_reg <= dev.targets) return min((n_reg + GROUP - 1) / GROUP * GROUP, dev.targets);
    const int64_t rounds = max((n_reg + dev.targets - 1) / dev.targets, (int64_t)1);
    return min((n_reg + rounds * GROUP - 1) / (rounds * GROUP) * GROUP, dev.targets);
}

/* Whether the kernel of large blocks computes the regular steps of so many members. */
__device__ __forceinline__ bool is_large(int64_t n_reg)
{
    return n_reg >= LARGE_TARGETS && n_reg * LARGE_PART >= dev.n && warps_of_all() >= LARGE_WARPS;
}

/* Where the neighbours in a slice of sorted sources are noted, with room for all of its chunks. */
__device__ __forceinline__ struct nb6_dev_found *sorted_found(int64_t m, int64_t slices, int64_t slice)
{
    const int64_t chunks = nb6_dev_chunks(&dev);
    return dev.found + m * chunks + (chunks / slices * slice + min(slice, chunks % slices));
}

/* Where the neighbours in any slice are noted. */
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

/* Two sorted targets of each lane, and their sums so far. */
struct sorted_targets {
    struct nb6_dev_viewer viewer[PAIR_OF_TARGETS];
    struct nb6_dev_sum sum[PAIR_OF_TARGETS];
    pair_sums part[PAIR_OF_TARGETS];
    int64_t m[PAIR_OF_TARGETS];
    bool wanted[PAIR_OF_TARGETS];
};

/* The targets of one group of n targets of a round.   @return whether the group has any */
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

/* Boxes of a group, in shared memory of the warp, against which it tests tiles. */
__device__ __forceinline__ void keep_group(const sorted_targets &s, target_group &group)
{
    const target_group all = group_of(s.viewer);
    __syncwarp();
    if (lane_of() == 0) group = all;
    __syncwarp();
}

/* First slice for the k-th GPU, where slices are numbered group by group; k + 1 gives the end. */
__device__ __forceinline__ int64_t share_of_gpu(const cut &c, int64_t k)
{
    return c.groups * c.slices * k / c.gpus;
}

/* Slices of the sources on a target, whose sums are consecutive. */
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
    int64_t each;   /* targets of each round but the last one */
    int64_t groups; /* groups of NB6_DEVICE_GROUP targets, pairs of which are summed once for both */
    int64_t first;  /* index along the curve of the first target of a round */
    int64_t gpus;   /* GPUs that share the sums */
};

__device__ __forceinline__ large_cut cut_large(int64_t n_reg)
{
    const int64_t groups = min(n_reg / NB6_DEVICE_GROUP, (int64_t)NB6_DEVICE_MOST_GROUPS);
    return {targets_of_round(n_reg), groups, 0, 1 + dev.helpers};
}

/* Each group of targets has a number of slices in proportion to its remaining work. */
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
