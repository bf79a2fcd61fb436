/** Regular forces of the targets of a round, by all threads of the device (dev_regular.h). Either a lane takes a source
 *  of each chunk, for few targets that share it, or a lane has a target of its own, for many, and sources come through
 *  shared memory. Slices are cut so that each warp of the device has one. A warp for each target then looks at its
 * close sources, and ends the step. */
#ifndef NB6_DEVICE_REGULAR_CUH
#define NB6_DEVICE_REGULAR_CUH

#include "nbody6/step/dev_regular.h"
#include "nbody6/step/device_block.h"
#include "nbody6/step/device_member.cuh"
#include "nbody6/step/device_warp.cuh"

#include <cuda_pipeline_primitives.h>

namespace
{

constexpr int WIDE_TARGETS = 2048; /* from so many on a lane has two */
constexpr int SOURCE_UNITS = sizeof(struct nb6_dev_source) / sizeof(float4);
constexpr int CHUNK_UNITS = WARP * SOURCE_UNITS;
constexpr int FLUSH_CHUNKS = 2; /* of sources that are summed in float */

/* Shared memory of a warp: two chunks of sources on their way, or close sources. */
union warp_memory {
    float4 chunk[2][CHUNK_UNITS];
    int32_t close[2 * CHUNK_UNITS * sizeof(float4) / sizeof(int32_t)];
};
constexpr int CLOSE_ROOM = 512; /* close sources of a warp, and of a block of threads: */
constexpr int CLOSE_ROOM_ALL = WARPS * CLOSE_ROOM;
static_assert(sizeof(warp_memory) >= CLOSE_ROOM * sizeof(int32_t), "close sources fit");

__device__ __forceinline__ warp_memory &own_memory()
{
    extern __shared__ float4 dynamic[];
    return reinterpret_cast<warp_memory *>(dynamic)[warp_of()];
}

/* How the sums of a round are cut. */
struct cut {
    int width; /* targets of a lane; 0: lanes have sources */
    int64_t groups, slices;
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

/* How n targets are cut follows from their number alone, not from how they were found. */
__device__ cut cut_sums(const struct nb6_dev &dev, int64_t n)
{
    const int64_t chunks = nb6_dev_chunks(&dev);
    cut c = {};
    if (n > NB6_DEVICE_FEW) c.width = n > WIDE_TARGETS && !dev.rules.weighted ? 2 : 1;
    const int64_t together = c.width > 0 ? c.width * WARP : 1;
    c.groups = (n + together - 1) / together;
    c.slices = c.width > 0 ? warps_of_all() / c.groups : warps_of_all();
    c.slices = max(min(c.slices, chunks), (int64_t)1);
    return c;
}

__device__ __forceinline__ void predict_chunks(const struct nb6_dev &dev, int64_t first, int64_t end, int64_t step)
{
    for (int64_t chunk = first; chunk < end; chunk += step) {
        const float speed = highest_of_lanes(nb6_dev_predict_source(&dev, chunk * WARP + lane_of()));
        if (lane_of() == 0) dev.speed[chunk] = speed;
    }
}

/* ---- lanes have sources ---- */

__device__ __forceinline__ void sum_of_few(const struct nb6_dev &dev, const cut &c, int64_t m, int64_t slice)
{
    const int64_t words = nb6_dev_words(&dev);
    int64_t first, end;
    if (dev.target[m].nnb >= 0) return;
    const struct nb6_dev_viewer viewer = nb6_dev_view(&dev, &dev.target[m]);
    struct nb6_dev_sum sum;
    nb6_dev_clear(&sum);
    nb6_dev_slice(&dev, slice, c.slices, &first, &end);
    for (int64_t tile = first; tile < end; tile += WARP) {
        const int chunks = (int)min(end - tile, (int64_t)WARP);
        uint32_t hits = 0;
        float part[6] = {};
#pragma unroll 1
        for (int k = 0; k < chunks; k++) {
            const struct nb6_dev_source source = dev.source[(tile + k) * WARP + lane_of()];
            const float reach2 = nb6_dev_reach2(&viewer, source.size, nb6_dev_way(&viewer, dev.speed[tile + k]));
            const uint32_t bits = __ballot_sync(ALL, nb6_dev_add_source(&viewer, &source, reach2, part));
            if (lane_of() == k) hits = bits;
        }
        if (lane_of() < chunks) dev.hit[m * words + tile + lane_of()] = hits;
        nb6_dev_flush(part, &sum);
    }
    const component own = add_lanes(sum);
    if (lane_of() >= 3) return;
    dev.partial[m * c.slices + slice].acc[lane_of()] = own.acc;
    dev.partial[m * c.slices + slice].jerk[lane_of()] = own.jerk;
}

/* ---- lanes have targets ---- */

__device__ __forceinline__ void fetch(float4 *to, const struct nb6_dev_source *chunk)
{
    const float4 *from = reinterpret_cast<const float4 *>(chunk);
#pragma unroll
    for (int u = 0; u < CHUNK_UNITS; u += WARP)
        __pipeline_memcpy_async(to + u + lane_of(), from + u + lane_of(), sizeof(float4));
    __pipeline_commit();
}

/* A chunk on the targets of this lane; the bits of close sources. */
template <bool WEIGHTED, int WIDTH>
__device__ __forceinline__ void sum_chunk(const float4 *units, const struct nb6_dev_viewer (&viewer)[WIDTH],
                                          float speed, float (&part)[WIDTH][6], uint32_t (&bits)[WIDTH])
{
    float way[WIDTH], reach2[WIDTH];
#pragma unroll
    for (int w = 0; w < WIDTH; w++) {
        way[w] = nb6_dev_way(&viewer[w], speed);
        reach2[w] = nb6_dev_reach2(&viewer[w], 1.0f, way[w]);
        bits[w] = 0;
    }
#pragma unroll 8
    for (int j = 0; j < WARP; j++) {
        const float4 a = units[j * SOURCE_UNITS], b = units[j * SOURCE_UNITS + 1], v = units[j * SOURCE_UNITS + 2];
        const struct nb6_dev_source source = {{a.x, a.y, a.z}, a.w, {b.x, b.y, b.z}, b.w, {v.x, v.y, v.z}, v.w};
#pragma unroll
        for (int w = 0; w < WIDTH; w++) {
            if (WEIGHTED) reach2[w] = nb6_dev_reach2(&viewer[w], source.size, way[w]);
            if (nb6_dev_add_source(&viewer[w], &source, reach2[w], part[w])) bits[w] |= 1u << j;
        }
    }
}

/* Where the close sources of a slice are noted, whose first chunk this is. */
__device__ __forceinline__ struct nb6_dev_close *own_close(const struct nb6_dev &dev, int64_t m, int64_t first)
{
    return dev.close + m * nb6_dev_chunks(&dev) + first;
}

template <bool WEIGHTED, int WIDTH>
__device__ __noinline__ void sum_of_many(const struct nb6_dev &dev, const cut &c, int64_t group, int64_t slice,
                                         int64_t n)
{
    warp_memory &memory = own_memory();
    struct nb6_dev_viewer viewer[WIDTH];
    struct nb6_dev_sum sum[WIDTH];
    float part[WIDTH][6] = {};
    int64_t first, end, m[WIDTH];
    int32_t n_close[WIDTH] = {};
    bool wanted[WIDTH], any = false;
#pragma unroll
    for (int w = 0; w < WIDTH; w++) {
        m[w] = (group * WIDTH + w) * WARP + lane_of();
        const struct nb6_dev_target target = dev.target[min(m[w], n - 1)];
        wanted[w] = m[w] < n && target.nnb < 0;
        any |= wanted[w];
        viewer[w] = nb6_dev_view(&dev, &target);
        nb6_dev_clear(&sum[w]);
    }
    if (!__any_sync(ALL, any)) return;
    nb6_dev_slice(&dev, slice, c.slices, &first, &end);
    fetch(memory.chunk[0], dev.source + first * WARP);
    for (int64_t chunk = first; chunk < end; chunk++) {
        const int now = (int)(chunk - first) & 1;
        uint32_t bits[WIDTH];
        if (chunk + 1 < end) {
            fetch(memory.chunk[now ^ 1], dev.source + (chunk + 1) * WARP);
            __pipeline_wait_prior(1);
        } else {
            __pipeline_wait_prior(0);
        }
        __syncwarp();
        sum_chunk<WEIGHTED, WIDTH>(memory.chunk[now], viewer, dev.speed[chunk], part, bits);
#pragma unroll
        for (int w = 0; w < WIDTH; w++) {
            if (bits[w] && wanted[w]) own_close(dev, m[w], first)[n_close[w]++] = {(uint32_t)chunk, bits[w]};
            if ((chunk - first) % FLUSH_CHUNKS == FLUSH_CHUNKS - 1) nb6_dev_flush(part[w], &sum[w]);
        }
        __syncwarp();
    }
#pragma unroll
    for (int w = 0; w < WIDTH; w++) {
        nb6_dev_flush(part[w], &sum[w]);
        if (!wanted[w]) continue;
        dev.partial[m[w] * c.slices + slice] = sum[w];
        dev.n_close[m[w] * c.slices + slice] = n_close[w];
    }
}

__device__ void make_sums(const struct nb6_dev &dev, const cut &c, int64_t n)
{
    for (int64_t item = warp_of_all(); item < c.groups * c.slices; item += warps_of_all()) {
        const int64_t group = item / c.slices, slice = item % c.slices;
        if (c.width == 0)
            sum_of_few(dev, c, group, slice);
        else if (dev.rules.weighted)
            sum_of_many<true, 1>(dev, c, group, slice, n);
        else if (c.width == 1)
            sum_of_many<false, 1>(dev, c, group, slice, n);
        else
            sum_of_many<false, 2>(dev, c, group, slice, n);
    }
}

/* ---- lists ---- */

/* Close sources that were gathered, ascending: into the list as far as there is room, or to the sum.
 *  @return neighbours, with the n there were */
__device__ __forceinline__ int64_t take_gathered(const struct nb6_dev &dev, const struct nb6_dev_viewer &viewer,
                                                 const int32_t *close, int count, int32_t *list, int64_t n,
                                                 struct nb6_dev_sum &sum)
{
    float part[6] = {};
    for (int begin = 0; begin < count; begin += WARP) {
        const int k = begin + lane_of();
        const int32_t j = k < count ? close[k] : viewer.body;
        const int is_neighbour = j != viewer.body && nb6_dev_take_close(&viewer, &dev.source[j], part);
        const uint32_t bits = __ballot_sync(ALL, is_neighbour);
        const int64_t at = n + __popc(bits & ((1u << lane_of()) - 1));
        if (is_neighbour && at < dev.row_room) list[at] = j;
        n += __popc(bits);
    }
    nb6_dev_flush(part, &sum);
    return n;
}

/* Four words of hits. */
struct four_words {
    uint32_t bits[NB6_DEV_HIT_GRAIN];
    int64_t first; /* number of the first one */
};

__device__ __forceinline__ four_words read_hits(const struct nb6_dev &dev, int64_t m, int64_t first)
{
    const int64_t words = nb6_dev_words(&dev), chunks = nb6_dev_chunks(&dev);
    four_words w = {{}, first};
    if (first >= words) return w;
    const uint4 four = *reinterpret_cast<const uint4 *>(dev.hit + m * words + first);
    w.bits[0] = four.x; /* words beyond the last chunk were never written */
    w.bits[1] = first + 1 < chunks ? four.y : 0;
    w.bits[2] = first + 2 < chunks ? four.z : 0;
    w.bits[3] = first + 3 < chunks ? four.w : 0;
    return w;
}

__device__ __forceinline__ int32_t count_bits(const four_words &w)
{
    return __popc(w.bits[0]) + __popc(w.bits[1]) + __popc(w.bits[2]) + __popc(w.bits[3]);
}

/* Sources of some bits of a chunk, the first of them at place `at`, as far as the places are there.
 *  @return the place after the last of them */
__device__ __forceinline__ int write_bits(uint32_t bits, int64_t chunk, int at, int32_t *close, int room)
{
    for (; bits; bits &= bits - 1, at++)
        if (at >= 0 && at < room) close[at] = (int32_t)(chunk * WARP + __ffs((int)bits) - 1);
    return at;
}

/* The list of one of many targets, and the sum of close sources that are not in it, by a warp; a lane for each slice.
 *  @return neighbours */
__device__ __noinline__ int64_t take_close(const struct nb6_dev &dev, const struct nb6_dev_viewer &viewer, int64_t m,
                                           int64_t slices, int32_t *list, struct nb6_dev_sum &sum)
{
    int32_t *close = own_memory().close;
    int64_t n = 0;
    for (int64_t begin = 0; begin < slices; begin += WARP) {
        const int64_t slice = begin + lane_of();
        const int32_t entries = slice < slices ? dev.n_close[m * slices + slice] : 0;
        int64_t first = 0, end;
        if (entries > 0) nb6_dev_slice(&dev, slice, slices, &first, &end);
        const struct nb6_dev_close *own = own_close(dev, m, first);
        int32_t bits = 0, total;
        for (int32_t k = 0; k < entries; k++) bits += __popc(own[k].bits);
        const int32_t before = count_up_to(bits, &total) - bits;
        for (int from = 0; from < total; from += CLOSE_ROOM) {
            int at = before - from;
            for (int32_t k = 0; k < entries; k++) at = write_bits(own[k].bits, own[k].chunk, at, close, CLOSE_ROOM);
            __syncwarp();
            n = take_gathered(dev, viewer, close, min(total - from, CLOSE_ROOM), list, n, sum);
            __syncwarp();
        }
    }
    return n;
}

/* What the warps of a block of threads tell each other of a target. */
struct shared_target {
    int32_t count[WARPS];
    component sum[WARPS][3];
};

/* Close sources of one of few targets, ascending, and the sum of its slices, by a block of threads. The first warp,
 * which has other things to do as well, takes the last part.
 *  @return their number, also if there is no room for them */
__device__ int gather_close(const struct nb6_dev &dev, int64_t m, int64_t slices, int32_t *close, shared_target &shared)
{
    const int64_t words = nb6_dev_words(&dev);
    int gathered = 0;
    const int warp = (warp_of() + WARPS - 1) % WARPS, thread = warp * WARP + lane_of();
    struct nb6_dev_sum sum;
    nb6_dev_clear(&sum);
    for (int64_t slice = thread; slice < slices; slice += THREADS) nb6_dev_add(&sum, &dev.partial[m * slices + slice]);
    for (int64_t begin = 0; begin < words; begin += THREADS * NB6_DEV_HIT_GRAIN) {
        const four_words now = read_hits(dev, m, begin + (int64_t)thread * NB6_DEV_HIT_GRAIN);
        const int32_t own = count_bits(now);
        int32_t total, all = 0;
        int32_t before = count_up_to(own, &total) - own;
        __syncthreads();
        if (lane_of() == 0) shared.count[warp] = total;
        __syncthreads();
        for (int w = 0; w < WARPS; w++) {
            if (w < warp) before += shared.count[w];
            all += shared.count[w];
        }
        before += gathered;
#pragma unroll
        for (int g = 0; g < NB6_DEV_HIT_GRAIN; g++)
            before = write_bits(now.bits[g], now.first + g, before, close, CLOSE_ROOM_ALL);
        gathered += all;
    }
    const component own = add_lanes(sum);
    if (lane_of() < 3) shared.sum[warp][lane_of()] = own;
    __syncthreads();
    return gathered;
}

/* All sources of a chunk as it is, where there is no room for close ones: they are looked at one by one. */
__device__ int64_t take_hits(const struct nb6_dev &dev, const struct nb6_dev_viewer &viewer, int64_t m, int32_t *list,
                             struct nb6_dev_sum &sum)
{
    int32_t *close = own_memory().close;
    int64_t n = 0;
    for (int64_t chunk = 0; chunk < nb6_dev_chunks(&dev); chunk++) {
        const uint32_t bits = dev.hit[m * nb6_dev_words(&dev) + chunk];
        const int32_t own = bits >> lane_of() & 1u, at = __popc(bits & ((1u << lane_of()) - 1));
        if (own) close[at] = (int32_t)(chunk * WARP + lane_of());
        __syncwarp();
        n = take_gathered(dev, viewer, close, __popc(bits), list, n, sum);
        __syncwarp();
    }
    return n;
}

/* The list of a target is known to have n neighbours. One that is longer than lists may be gets a smaller sphere, and
 * is made again; one that the row cannot hold ends the block.   @return whether the step can be ended */
__device__ bool accept_list(const struct nb6_dev &dev, struct nb6_device_word *word, int64_t *pending,
                            struct nb6_dev_target *target, int64_t n)
{
    if (n > dev.rules.list_limit) {
        target->r_nb = nb6_smaller_radius(target->r_nb, dev.rules.list_limit, (int32_t)n);
        add_to(&dev.control->overflows_block, 1);
        atomicAdd(reinterpret_cast<unsigned long long *>(pending), 1ull);
        return false;
    }
    target->nnb = (int32_t)n;
    if (n <= dev.row_room) return true;
    dev.flag[target->slot] |= NB6_DEV_TOO_LONG;
    atomicMax(reinterpret_cast<long long *>(&dev.control->longest), (long long)n);
    word->too_long = 1;
    return false;
}

/* A target, and what its steps begin with: fetched while its sums are. */
struct finishing {
    struct nb6_dev_target *target;
    struct nb6_dev_viewer viewer;
    struct nb6_dev_point point;
    component old;
    int32_t *list;
};

__device__ __forceinline__ finishing begin_finish(const struct nb6_dev &dev, int64_t m)
{
    finishing f;
    const int axis = axis_of();
    f.target = &dev.target[m];
    f.viewer = nb6_dev_view(&dev, f.target);
    f.point = nb6_dev_predict(&dev, f.viewer.body);
    f.old = {dev.old_sum[f.target->slot].acc[axis], dev.old_sum[f.target->slot].jerk[axis]};
    f.list = nb6_dev_staged_list(&dev, f.viewer.body);
    return f;
}

/* A warp ends the regular step of a target that has n neighbours.   @param[in] end  its regular force */
__device__ __forceinline__ void finish_step(const struct nb6_dev &dev, struct nb6_device_word *word, int64_t *pending,
                                            const finishing &f, int64_t n, component end)
{
    const int32_t slot = f.target->slot;
    bool is_good = false, is_near;
    __syncwarp();
    if (lane_of() == 0) {
        add_to(&dev.control->pairs_reg_block, (uint64_t)dev.rules.step.n_source);
        is_good = accept_list(dev, word, pending, f.target, n);
    }
    if (!__shfl_sync(ALL, is_good, 0)) return;
    const component irr = force_on(dev, f.point, f.list, (int32_t)n, &is_near);
    const bool is_sound = correct_regular(dev, *f.target, dev.control->t, end, irr, f.old, &dev.corrected[slot]);
    if (lane_of() != 0) return;
    if (is_near) dev.flag[slot] |= NB6_DEV_NEAR;
    if (is_sound) return;
    dev.flag[slot] |= NB6_DEV_UNSOUND_REG;
    note_unsound(word, f.viewer.body, slot);
}

/* One of many targets, by a warp. */
__device__ __forceinline__ void finish_of_many(const struct nb6_dev &dev, struct nb6_device_word *word,
                                               int64_t *pending, int64_t m, int64_t slices)
{
    if (dev.target[m].nnb >= 0) return;
    const finishing f = begin_finish(dev, m);
    struct nb6_dev_sum sum;
    nb6_dev_clear(&sum);
    for (int64_t slice = lane_of(); slice < slices; slice += WARP) nb6_dev_add(&sum, &dev.partial[m * slices + slice]);
    const int64_t n = take_close(dev, f.viewer, m, slices, f.list, sum);
    finish_step(dev, word, pending, f, n, add_lanes(sum));
}

/* One of few targets, by a block of threads, of which the first warp goes on alone when close sources are gathered. */
__device__ __forceinline__ void finish_of_few(const struct nb6_dev &dev, struct nb6_device_word *word, int64_t *pending,
                                              int64_t m, int64_t slices, shared_target &shared)
{
    extern __shared__ float4 dynamic[];
    int32_t *close = reinterpret_cast<int32_t *>(dynamic);
    if (dev.target[m].nnb >= 0) return;
    finishing f;
    if (warp_of() == 0) f = begin_finish(dev, m);
    const int n_close = gather_close(dev, m, slices, close, shared);
    if (warp_of() != 0) return;
    struct nb6_dev_sum sum;
    nb6_dev_clear(&sum);
    const int64_t n = n_close > CLOSE_ROOM_ALL ? take_hits(dev, f.viewer, m, f.list, sum)
                                               : take_gathered(dev, f.viewer, close, n_close, f.list, 0, sum);
    component end = add_lanes(sum);
    for (int w = 0; w < WARPS; w++) {
        end.acc += shared.sum[w][axis_of()].acc;
        end.jerk += shared.sum[w][axis_of()].jerk;
    }
    finish_step(dev, word, pending, f, n, end);
}

__device__ void finish_targets(const struct nb6_dev &dev, struct nb6_device_word *word, int64_t *pending, int64_t n,
                               const cut &c, shared_target &shared)
{
    if (c.width > 0) {
        for (int64_t m = warp_of_all(); m < n; m += warps_of_all()) finish_of_many(dev, word, pending, m, c.slices);
        return;
    }
    for (int64_t m = blockIdx.x; m < n; m += gridDim.x) {
        finish_of_few(dev, word, pending, m, c.slices, shared);
        __syncthreads();
    }
}

} // namespace

#endif
