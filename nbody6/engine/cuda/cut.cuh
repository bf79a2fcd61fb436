/** How the sums of a round are cut into parts for the warps of the device, and the shared memory of a warp that makes
 *  one (cuda/sums.cuh). */
#ifndef NB6_CUDA_CUT_CUH
#define NB6_CUDA_CUT_CUH

#include "gpunb/cuda/lists.cuh"
#include "gpunb/cuda/sort.cuh"
#include "gpunb/cuda/sorted.cuh"
#include "nbody6/engine/cuda/block.h"
#include "nbody6/engine/cuda/warp.cuh"
#include "nbody6/engine/stages/regular.h"
#include "nbody6/engine/stages/room.h"

namespace
{

constexpr int WIDE_TARGETS = 2048;                                /* targets from which each lane has two */
constexpr int64_t SORTED_TARGETS = 256, SORTED_PAIRS = 150000000; /* targets and pairs from which sources are sorted */
static_assert(SORTED_TARGETS > NB6_DEVICE_FEW, "few targets are summed before anything is sorted");
constexpr int SOURCE_UNITS = sizeof(struct gpunb_dev_source) / sizeof(float4);
constexpr int CHUNK_UNITS = WARP * SOURCE_UNITS;

/* Shared memory of a warp, one of: two chunks of sources in flight; two tiles and their group of targets; a list to
 * sort; the warp's part of a sum over several warps. */
union warp_memory {
    float4 chunk[2][CHUNK_UNITS];
    tile_memory tile;
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

static_assert(sizeof(sort_memory) <= WARPS * sizeof(warp_memory), "they sort in the same memory");

/* How the sums of a round are cut. */
struct cut {
    bool is_sorted; /* sources and targets are in the order of the curve; slices take chunks at a stride */
    int width;      /* targets of a lane; 0: lanes have sources */
    int64_t groups, slices;
};

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
    return {false, 0, n_reg, max(min(warps_of_all(), nb6_dev_chunks(&dev)), (int64_t)1)};
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
    c.slices = c.width > 0 ? warps_of_all() / c.groups : warps_of_all();
    c.slices = max(min(c.slices, chunks), (int64_t)1);
    return c;
}

/* Targets of a round: nearly the same number in each round, in whole groups, at most those of dev.targets
 * (stages/room.h). */
__device__ int64_t targets_of_round(int64_t n_reg)
{
    constexpr int64_t GROUP = PAIR_TARGETS;
    static_assert(GROUP == NB6_DEVICE_PAIRED_TARGETS, "rounds have whole groups");
    if (n_reg <= dev.targets) return min((n_reg + GROUP - 1) / GROUP * GROUP, dev.targets);
    const int64_t rounds = max((n_reg + dev.targets - 1) / dev.targets, (int64_t)1);
    return min((n_reg + rounds * GROUP - 1) / (rounds * GROUP) * GROUP, dev.targets);
}

/* Whether GPUNB makes the regular forces of so many members. */
__device__ __forceinline__ bool leaves(int64_t n_reg)
{
    return n_reg > NB6_DEVICE_FEW && n_reg * dev.n >= dev.leaving;
}

/* Where the neighbours in a slice are noted. */
__device__ __forceinline__ struct gpunb_dev_found *own_found(const cut &c, int64_t m, int64_t slice)
{
    int64_t first, end;
    if (c.is_sorted) return found_in_slice(dev.sums, m, c.slices, slice);
    nb6_dev_slice(&dev, slice, c.slices, &first, &end);
    return dev.sums.found + m * nb6_dev_chunks(&dev) + first;
}

__device__ __forceinline__ slices_of slices_on(const cut &c, int64_t m)
{
    return {m * c.slices, c.slices};
}

} // namespace

#endif
