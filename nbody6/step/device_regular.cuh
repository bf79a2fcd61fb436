/** The ends of regular steps of the targets of a round, when their sums are there (device_sums.cuh): close sources are
 *  looked at one by one, by a warp for each of many targets, or a block of threads for each of few; they make its list,
 *  or are added; then the step is corrected. */
#ifndef NB6_DEVICE_REGULAR_CUH
#define NB6_DEVICE_REGULAR_CUH

#include "nbody6/step/dev_regular.h"
#include "nbody6/step/device_block.h"
#include "nbody6/step/device_member.cuh"
#include "nbody6/step/device_sums.cuh"
#include "nbody6/step/device_warp.cuh"

namespace
{

/* ---- lists ---- */

/* Close sources that were gathered, in this order: into the list as far as there is room, or to the sum.
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

/* Compare and exchange, so that a list is ascending at the end: the bitonic network in which all comparators put the
 * smaller number first, so that numbers that are not there would stay at the end (Batcher 1968). */
__device__ __forceinline__ void compare_at(int32_t *list, int low, int high, int n)
{
    if (high >= n) return;
    const int32_t a = list[low], b = list[high];
    if (a <= b) return;
    list[low] = b;
    list[high] = a;
}

/* Of a warp, in any memory. */
__device__ void sort_list(int32_t *list, int n)
{
    for (int size = 1; size < n; size *= 2) {
        for (int step = size; step > 0; step /= 2) {
            __syncwarp();
            for (int k = lane_of(); k < n; k += WARP) { /* comparators: fewer than n */
                const int low = 2 * k - (k & (step - 1));
                if (low >= n) break;
                compare_at(list, low, step == size ? low ^ (2 * size - 1) : low + step, n);
            }
        }
    }
    __syncwarp();
}

/* The numbers of a row, ascending. */
__device__ void sort_row(const struct nb6_dev &dev, int32_t *row, int n)
{
    int32_t *close = own_memory().close;
    if (n > dev.row_room) return; /* it is made again */
    __syncwarp();
    if (n > CLOSE_ROOM) {
        sort_list(row, n);
        return;
    }
    for (int k = lane_of(); k < n; k += WARP) close[k] = row[k];
    sort_list(close, n);
    for (int k = lane_of(); k < n; k += WARP) row[k] = close[k];
    __syncwarp();
}

/* Bodies in place of places along the curve. */
__device__ __forceinline__ void name_bodies(const struct nb6_dev &dev, int32_t *close, int n)
{
    for (int k = lane_of(); k < n; k += WARP) close[k] = dev.order[close[k]];
    __syncwarp();
}

/* The list of one of many targets, and the sum of close sources that are not in it, by a warp; a lane for each slice.
 *  @return neighbours */
__device__ __noinline__ int64_t take_close(const struct nb6_dev &dev, const struct nb6_dev_viewer &viewer, int64_t m,
                                           const cut &c, int32_t *list, struct nb6_dev_sum &sum)
{
    int32_t *close = own_memory().close;
    int64_t n = 0;
    for (int64_t begin = 0; begin < c.slices; begin += WARP) {
        const int64_t slice = begin + lane_of();
        const int32_t entries = slice < c.slices ? dev.n_close[m * c.slices + slice] : 0;
        const struct nb6_dev_close *own = own_close(dev, c, m, entries > 0 ? slice : 0);
        int32_t bits = 0, total;
        for (int32_t k = 0; k < entries; k++) bits += __popc(own[k].bits);
        const int32_t before = count_up_to(bits, &total) - bits;
        for (int from = 0; from < total; from += CLOSE_ROOM) {
            const int gathered = min(total - from, CLOSE_ROOM);
            int at = before - from;
            for (int32_t k = 0; k < entries; k++) at = write_bits(own[k].bits, own[k].chunk, at, close, CLOSE_ROOM);
            __syncwarp();
            if (c.is_sorted) name_bodies(dev, close, gathered);
            n = take_gathered(dev, viewer, close, gathered, list, n, sum);
            __syncwarp();
        }
    }
    if (c.is_sorted) sort_row(dev, list, (int)n);
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
                                               int64_t *pending, int64_t m, const cut &c)
{
    const int64_t slices = c.slices;
    if (dev.target[m].nnb >= 0) return;
    const finishing f = begin_finish(dev, m);
    struct nb6_dev_sum sum;
    nb6_dev_clear(&sum);
    for (int64_t slice = lane_of(); slice < slices; slice += WARP) nb6_dev_add(&sum, &dev.partial[m * slices + slice]);
    const int64_t n = take_close(dev, f.viewer, m, c, f.list, sum);
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
        for (int64_t m = warp_of_all(); m < n; m += warps_of_all()) finish_of_many(dev, word, pending, m, c);
        return;
    }
    for (int64_t m = blockIdx.x; m < n; m += gridDim.x) {
        finish_of_few(dev, word, pending, m, c.slices, shared);
        __syncthreads();
    }
}

} // namespace

#endif
