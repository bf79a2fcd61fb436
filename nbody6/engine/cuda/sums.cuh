/** Regular force: sums over all sources on the targets of a round, by all threads of the device (stages/regular.h).
 *  For a few targets each lane takes a source of every chunk. For many targets each lane has targets of its own, and
 *  sources come through shared memory: in index order, or, with so many pairs that it saves time, in the order of a
 *  curve (gpunb/cuda/sorted.cuh). Slices are cut so that each warp of the device has one. */
#ifndef NB6_CUDA_SUMS_CUH
#define NB6_CUDA_SUMS_CUH

#include "nbody6/engine/cuda/block.h"
#include "nbody6/engine/cuda/corrector.cuh"
#include "nbody6/engine/cuda/cut.cuh"
#include "nbody6/engine/cuda/warp.cuh"
#include "nbody6/engine/stages/regular.h"

namespace
{

__device__ __forceinline__ void predict_chunks(int64_t first, int64_t end, int64_t step)
{
    for (int64_t chunk = first; chunk < end; chunk += step) nb6_dev_predict_source(&dev, chunk * WARP + lane_of());
}

/* ---- lanes have sources ---- */

constexpr int KEPT = 4; /* most chunks of a slice whose sources stay in registers */

/* Number of another lane. */
__device__ __forceinline__ struct gpunb_dev_viewer viewer_of_lane(const struct gpunb_dev_viewer &own, int lane)
{
    struct gpunb_dev_viewer viewer = {};
#pragma unroll
    for (int k = 0; k < 3; k++) {
        viewer.at.high[k] = __shfl_sync(ALL, own.at.high[k], lane);
        viewer.at.low[k] = __shfl_sync(ALL, own.at.low[k], lane);
        viewer.at.v[k] = __shfl_sync(ALL, own.at.v[k], lane);
    }
    viewer.h = __shfl_sync(ALL, own.h, lane);
    viewer.dt = __shfl_sync(ALL, own.dt, lane);
    viewer.place = __shfl_sync(ALL, own.place, lane);
    return viewer;
}

__device__ __forceinline__ void store_few(const cut &c, int64_t m, int64_t slice, const struct gpunb_dev_sum &sum)
{
    const component own = add_lanes(sum);
    if (lane_of() >= 3) return;
    dev.sums.partial[m * c.slices + slice].acc[lane_of()] = own.acc;
    dev.sums.partial[m * c.slices + slice].jerk[lane_of()] = own.jerk;
}

/* The term of a pair that has to be decided in double in the sum of its lane. A sum that is not a number is made again,
 * with care, which means that such pairs are decided before the end of the round (cuda/edge.cuh). */
__device__ __forceinline__ float sum_at_edge(bool is_careful)
{
    return is_careful ? 0.0f : NAN;
}

/* One source of each lane on a target.   @param[in] at_edge  of sum_at_edge
 * @return bits of neighbours, pairs that have to be decided in double included */
__device__ __forceinline__ uint32_t add_chunk(const struct gpunb_dev_viewer &viewer,
                                              const struct gpunb_dev_source &source, int64_t chunk, float at_edge,
                                              float (&part)[6])
{
    const int relation = gpunb_dev_add_source(&viewer, &source, gpunb_dev_limit2(&viewer, source.size), part);
    if (relation == GPUNB_DEV_AT_EDGE) part[0] += at_edge;
    return gpunb_dev_others(&viewer, chunk, __ballot_sync(ALL, relation != GPUNB_DEV_OTHER));
}

/* A slice of up to CHUNKS chunks on all targets, one after another. */
template <int CHUNKS> __device__ __forceinline__ void sum_kept(const cut &c, int64_t slice, int64_t n, float at_edge)
{
    const int64_t words = nb6_dev_words(&dev);
    struct gpunb_dev_source source[CHUNKS];
    int64_t first, end;
    nb6_dev_slice(&dev, slice, c.slices, &first, &end);
#pragma unroll
    for (int k = 0; k < CHUNKS; k++) source[k] = dev.sums.source[min(first + k, end - 1) * WARP + lane_of()];
    for (int64_t begin = 0; begin < n; begin += WARP) {
        const struct nb6_dev_target own_target = dev.target[min(begin + lane_of(), n - 1)];
        const struct gpunb_dev_viewer own = nb6_dev_view(&dev, &own_target);
        const int count = (int)min(n - begin, (int64_t)WARP);
        for (int k = 0; k < count; k++) {
            if (__shfl_sync(ALL, own_target.nnb, k) >= 0) continue;
            const struct gpunb_dev_viewer viewer = viewer_of_lane(own, k);
            struct gpunb_dev_sum sum;
            float part[6] = {};
            uint32_t hits = 0;
#pragma unroll
            for (int j = 0; j < CHUNKS; j++) {
                if (first + j >= end) break;
                const uint32_t bits = add_chunk(viewer, source[j], first + j, at_edge, part);
                if (lane_of() == j) hits = bits;
            }
            if (lane_of() < end - first) dev.hit[(begin + k) * words + first + lane_of()] = hits;
            gpunb_dev_clear(&sum);
            nb6_dev_flush(part, &sum);
            store_few(c, begin + k, slice, sum);
        }
    }
}

/* The same for one target and any number of chunks. */
__device__ __forceinline__ void sum_fetched(const cut &c, int64_t m, int64_t slice, float at_edge)
{
    const int64_t words = nb6_dev_words(&dev);
    int64_t first, end;
    if (dev.target[m].nnb >= 0) return;
    const struct gpunb_dev_viewer viewer = nb6_dev_view(&dev, &dev.target[m]);
    struct gpunb_dev_sum sum;
    gpunb_dev_clear(&sum);
    nb6_dev_slice(&dev, slice, c.slices, &first, &end);
    for (int64_t tile = first; tile < end; tile += WARP) {
        const int chunks = (int)min(end - tile, (int64_t)WARP);
        uint32_t hits = 0;
        float part[6] = {};
#pragma unroll 1
        for (int k = 0; k < chunks; k++) {
            const struct gpunb_dev_source source = dev.sums.source[(tile + k) * WARP + lane_of()];
            const uint32_t bits = add_chunk(viewer, source, tile + k, at_edge, part);
            if (lane_of() == k) hits = bits;
        }
        if (lane_of() < chunks) dev.hit[m * words + tile + lane_of()] = hits;
        nb6_dev_flush(part, &sum);
    }
    store_few(c, m, slice, sum);
}

/* A slice on all of few targets. */
__device__ __forceinline__ void sum_of_few(const cut &c, int64_t slice, int64_t n, bool is_careful)
{
    const int64_t most = (nb6_dev_chunks(&dev) + c.slices - 1) / c.slices;
    const float at_edge = sum_at_edge(is_careful);
    if (most == 1)
        sum_kept<1>(c, slice, n, at_edge);
    else if (most == 2)
        sum_kept<2>(c, slice, n, at_edge);
    else if (most <= KEPT)
        sum_kept<KEPT>(c, slice, n, at_edge);
    else
        for (int64_t m = 0; m < n; m++) sum_fetched(c, m, slice, at_edge);
}

/* ---- lanes have targets ---- */

/* One chunk on the targets of this lane.   @param[out] bits  of neighbours, pairs that have to be decided in double
 * included   @param[in,out] has_edge  set if there are any */
template <bool WEIGHTED, int WIDTH>
__device__ __forceinline__ void sum_chunk(const float4 *units, const struct gpunb_dev_viewer (&viewer)[WIDTH],
                                          float (&part)[WIDTH][6], uint32_t (&bits)[WIDTH], bool (&has_edge)[WIDTH])
{
    float limit2[WIDTH];
#pragma unroll
    for (int w = 0; w < WIDTH; w++) {
        limit2[w] = gpunb_dev_limit2(&viewer[w], 1.0f);
        bits[w] = 0;
    }
#pragma unroll 8
    for (int j = 0; j < WARP; j++) {
        const float4 a = units[j * SOURCE_UNITS], b = units[j * SOURCE_UNITS + 1], v = units[j * SOURCE_UNITS + 2];
        const struct gpunb_dev_source source = {{a.x, a.y, a.z}, a.w, {b.x, b.y, b.z}, b.w, {v.x, v.y, v.z}, v.w};
#pragma unroll
        for (int w = 0; w < WIDTH; w++) {
            if (WEIGHTED) limit2[w] = gpunb_dev_limit2(&viewer[w], source.size);
            const int relation = gpunb_dev_add_source(&viewer[w], &source, limit2[w], part[w]);
            if (relation != GPUNB_DEV_OTHER) bits[w] |= 1u << j;
            has_edge[w] |= relation == GPUNB_DEV_AT_EDGE;
        }
    }
}

template <bool WEIGHTED, int WIDTH>
__device__ __noinline__ void sum_of_many(const cut &c, int64_t group, int64_t slice, int64_t n, bool is_careful)
{
    warp_memory &memory = own_memory();
    struct gpunb_dev_viewer viewer[WIDTH];
    struct gpunb_dev_sum sum[WIDTH];
    float part[WIDTH][6] = {};
    int64_t first, end, m[WIDTH];
    int32_t n_found[WIDTH] = {};
    bool wanted[WIDTH], has_edge[WIDTH] = {}, any = false;
#pragma unroll
    for (int w = 0; w < WIDTH; w++) {
        m[w] = (group * WIDTH + w) * WARP + lane_of();
        const struct nb6_dev_target target = dev.target[min(m[w], n - 1)];
        wanted[w] = m[w] < n && target.nnb < 0;
        any |= wanted[w];
        viewer[w] = nb6_dev_view(&dev, &target);
        gpunb_dev_clear(&sum[w]);
    }
    if (!__any_sync(ALL, any)) return;
    nb6_dev_slice(&dev, slice, c.slices, &first, &end);
    begin_copy<CHUNK_UNITS>(memory.chunk[0], dev.sums.source + first * WARP);
    for (int64_t chunk = first; chunk < end; chunk++) {
        const int now = (int)(chunk - first) & 1;
        uint32_t bits[WIDTH];
        await_copy(chunk + 1 < end,
                   [&]() { begin_copy<CHUNK_UNITS>(memory.chunk[now ^ 1], dev.sums.source + (chunk + 1) * WARP); });
        sum_chunk<WEIGHTED, WIDTH>(memory.chunk[now], viewer, part, bits, has_edge);
#pragma unroll
        for (int w = 0; w < WIDTH; w++) {
            bits[w] = gpunb_dev_others(&viewer[w], chunk, bits[w]);
            if (bits[w] && wanted[w]) own_found(c, m[w], slice)[n_found[w]++] = {(uint32_t)chunk, bits[w]};
            if ((chunk - first) % FLUSH_CHUNKS == FLUSH_CHUNKS - 1) nb6_dev_flush(part[w], &sum[w]);
        }
        __syncwarp();
    }
#pragma unroll
    for (int w = 0; w < WIDTH; w++) {
        nb6_dev_flush(part[w], &sum[w]);
        if (!wanted[w]) continue;
        dev.sums.partial[m[w] * c.slices + slice] = sum[w];
        if (has_edge[w]) dev.sums.partial[m[w] * c.slices + slice].acc[0] += (double)sum_at_edge(is_careful);
        dev.sums.n_found[m[w] * c.slices + slice] = n_found[w] | (has_edge[w] && is_careful ? GPUNB_DEV_HAS_EDGE : 0);
    }
}

/* ---- sorted ---- */

/* A slice of the tiles on the targets of a group, two in each lane. */
template <bool WEIGHTED>
__device__ __noinline__ void sum_of_sorted(const cut &c, int64_t group, int64_t slice, int64_t n)
{
    const group_slice own = {(int32_t)group, (int32_t)slice, (int32_t)c.slices, group * PAIR_TARGETS * c.slices};
    sum_slice<WEIGHTED>(dev.sums, own, (int32_t)n, all_tiles{}, own_memory().tile);
}

/* @param[in] is_careful  pairs that have to be decided in double are marked, instead of being found by their sums */
__device__ void make_sums(const cut &c, int64_t n, bool is_careful)
{
    if (c.width == 0) {
        if (warp_of_all() < c.slices) sum_of_few(c, warp_of_all(), n, is_careful);
        return;
    }
    for (int64_t item = warp_of_all(); item < c.groups * c.slices; item += warps_of_all()) {
        const int64_t group = item / c.slices, slice = item % c.slices;
        if (c.is_sorted && dev.rules.weighted)
            sum_of_sorted<true>(c, group, slice, n);
        else if (c.is_sorted)
            sum_of_sorted<false>(c, group, slice, n);
        else if (dev.rules.weighted)
            sum_of_many<true, 1>(c, group, slice, n, is_careful);
        else if (c.width == 1)
            sum_of_many<false, 1>(c, group, slice, n, is_careful);
        else
            sum_of_many<false, 2>(c, group, slice, n, is_careful);
    }
}

} // namespace

#endif
