/** The ends of regular steps of the targets of a round, when their sums are there (device_sums.cuh): neighbours that
 *  were noted make the list, by a warp for each of many targets, or a block of threads for each of few; then the step
 * is corrected. */
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

/* Places of some bits of a chunk, the first of them at `at`, as far as there is room.
 *  @return the place after the last of them */
__device__ __forceinline__ int64_t write_bits(uint32_t bits, int64_t chunk, int64_t at, int32_t *list, int64_t room)
{
    for (; bits; bits &= bits - 1, at++)
        if (at < room) list[at] = (int32_t)(chunk * WARP + __ffs((int)bits) - 1);
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
            for (int k = lane_of(); 2 * k - (k & (step - 1)) < n; k += WARP) {
                const int low = 2 * k - (k & (step - 1));
                compare_at(list, low, step == size ? low ^ (2 * size - 1) : low + step, n);
            }
        }
    }
    __syncwarp();
}

/* n places along the curve that a warp has noted, as bodies in ascending order, to their row. */
__device__ void sort_row(const struct nb6_dev &dev, int32_t *noted, int32_t *row, int n)
{
    __syncwarp();
    for (int k = lane_of(); k < n; k += WARP) noted[k] = dev.order[noted[k]];
    sort_list(noted, n);
    if (noted == row) return;
    for (int k = lane_of(); k < n; k += WARP) row[k] = noted[k];
    __syncwarp();
}

/* Neighbours of a target in this slice. */
struct noted_slice {
    const struct nb6_dev_found *found;
    int32_t entries, number;
};

__device__ __forceinline__ noted_slice read_slice(const struct nb6_dev &dev, const cut &c, int64_t m, int64_t slice)
{
    noted_slice s = {};
    if (slice >= c.slices) return s;
    s.entries = dev.n_found[m * c.slices + slice];
    s.found = own_found(dev, c, m, slice);
    for (int32_t k = 0; k < s.entries; k++) s.number += __popc(s.found[k].bits);
    return s;
}

__device__ __forceinline__ void write_slice(const noted_slice &s, int64_t at, int32_t *list, int64_t room)
{
    for (int32_t k = 0; k < s.entries; k++) at = write_bits(s.found[k].bits, s.found[k].chunk, at, list, room);
}

/* The list of one of many targets, by a warp, a lane for each slice.   @return neighbours */
__device__ __noinline__ int64_t list_of_many(const struct nb6_dev &dev, int64_t m, const cut &c, int32_t *row)
{
    int32_t *noted = c.is_sorted ? own_memory().list : row;
    int64_t n = 0, room = c.is_sorted ? min((int64_t)LIST_ROOM, dev.row_room) : dev.row_room;
    for (;;) {
        n = 0;
        for (int64_t begin = 0; begin < c.slices; begin += WARP) {
            const noted_slice s = read_slice(dev, c, m, begin + lane_of());
            int32_t total;
            const int32_t up_to = count_up_to(s.number, &total);
            write_slice(s, n + up_to - s.number, noted, room);
            n += total;
        }
        if (n <= room || room == dev.row_room) break;
        noted = row; /* as it is longer than shared memory */
        room = dev.row_room;
    }
    if (c.is_sorted && n <= room) sort_row(dev, noted, row, (int)n);
    __syncwarp();
    return n;
}

/* What the warps of a block of threads tell each other of a target. */
struct shared_target {
    int32_t count[WARPS];
    component sum[WARPS][3];
};

/* Numbers of the threads before this one, whose warp counts as number `warp`; *total is that of all. */
__device__ __forceinline__ int32_t count_before(int32_t own, int warp, shared_target &shared, int32_t *total)
{
    int32_t of_warp, before = count_up_to(own, &of_warp) - own;
    *total = 0;
    __syncthreads();
    if (lane_of() == 0) shared.count[warp] = of_warp;
    __syncthreads();
    for (int w = 0; w < WARPS; w++) {
        if (w < warp) before += shared.count[w];
        *total += shared.count[w];
    }
    return before;
}

/* The list of one of few targets, and the sums of its slices, by a block of threads. The first warp, which has other
 * things to do as well, takes the last part.
 *  @return neighbours */
__device__ int64_t list_by_block(const struct nb6_dev &dev, int64_t m, const cut &c, int32_t *row,
                                 shared_target &shared)
{
    const int warp = (warp_of() + WARPS - 1) % WARPS, thread = warp * WARP + lane_of();
    const int64_t words = c.width == 0 ? nb6_dev_words(&dev) : c.slices;
    int64_t n = 0;
    int32_t total;
    struct nb6_dev_sum sum;
    nb6_dev_clear(&sum);
    for (int64_t slice = thread; slice < c.slices; slice += THREADS)
        nb6_dev_add(&sum, &dev.partial[m * c.slices + slice]);
    if (c.width == 0) {
        for (int64_t begin = 0; begin < words; begin += THREADS * NB6_DEV_HIT_GRAIN, n += total) {
            const four_words now = read_hits(dev, m, begin + (int64_t)thread * NB6_DEV_HIT_GRAIN);
            int64_t at = n + count_before(count_bits(now), warp, shared, &total);
#pragma unroll
            for (int g = 0; g < NB6_DEV_HIT_GRAIN; g++)
                at = write_bits(now.bits[g], now.first + g, at, row, dev.row_room);
        }
    } else {
        for (int64_t begin = 0; begin < c.slices; begin += THREADS, n += total) {
            const noted_slice s = read_slice(dev, c, m, begin + thread);
            write_slice(s, n + count_before(s.number, warp, shared, &total), row, dev.row_room);
        }
    }
    const component own = add_lanes(sum);
    if (lane_of() < 3) shared.sum[warp][lane_of()] = own;
    __syncthreads();
    return n;
}

/* The list of a target is known to have n neighbours. One that is longer than lists may be gets a smaller sphere, and
 * is made again; one that the row cannot hold ends the block.   @return whether the step can be ended */
__device__ bool accept_list(const struct nb6_dev &dev, struct nb6_device_word *word, int64_t *pending,
                            struct nb6_dev_target *target, int64_t n)
{
    const int64_t limit = nb6_dev_list_limit(&dev, target->body);
    if (n > limit) {
        target->r_nb = nb6_smaller_radius(target->r_nb, limit, (int32_t)n);
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
    int32_t body;
    struct nb6_dev_point point;
    component old;
    int32_t *list;
};

__device__ __forceinline__ finishing begin_finish(const struct nb6_dev &dev, int64_t m)
{
    finishing f;
    const int axis = axis_of();
    f.target = &dev.target[m];
    f.body = f.target->body;
    f.point = nb6_dev_predict(&dev, f.body);
    f.old = {dev.old_sum[f.target->slot].acc[axis], dev.old_sum[f.target->slot].jerk[axis]};
    f.list = nb6_dev_staged_list(&dev, f.body);
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
    __syncwarp();
    if (!__shfl_sync(ALL, is_good, 0)) return;
    const component irr = force_on(dev, f.point, f.list, (int32_t)n, &is_near);
    const bool is_sound = correct_regular(dev, *f.target, dev.control->t, end, irr, f.old, &dev.corrected[slot]);
    if (lane_of() != 0) return;
    if (is_near) dev.flag[slot] |= NB6_DEV_NEAR;
    if (is_sound) return;
    dev.flag[slot] |= NB6_DEV_UNSOUND_REG;
    note_unsound(word, f.body, slot);
}

/* One of many targets, by a warp. */
__device__ __forceinline__ void finish_of_many(const struct nb6_dev &dev, struct nb6_device_word *word,
                                               int64_t *pending, int64_t m, const cut &c)
{
    if (dev.target[m].nnb >= 0) return;
    const finishing f = begin_finish(dev, m);
    struct nb6_dev_sum sum;
    nb6_dev_clear(&sum);
    for (int64_t slice = lane_of(); slice < c.slices; slice += WARP)
        nb6_dev_add(&sum, &dev.partial[m * c.slices + slice]);
    const int64_t n = list_of_many(dev, m, c, f.list);
    finish_step(dev, word, pending, f, n, add_lanes(sum));
}

/* One of few targets, by a block of threads, of which the first warp goes on alone when there is a list. */
__device__ __forceinline__ void finish_of_few(const struct nb6_dev &dev, struct nb6_device_word *word, int64_t *pending,
                                              int64_t m, const cut &c, shared_target &shared)
{
    if (dev.target[m].nnb >= 0) return;
    finishing f;
    if (warp_of() == 0) f = begin_finish(dev, m);
    const int64_t n = list_by_block(dev, m, c, nb6_dev_staged_list(&dev, dev.target[m].body), shared);
    if (warp_of() != 0) return;
    component end = {};
    for (int w = 0; w < WARPS; w++) {
        end.acc += shared.sum[w][axis_of()].acc;
        end.jerk += shared.sum[w][axis_of()].jerk;
    }
    finish_step(dev, word, pending, f, n, end);
}

__device__ void finish_targets(const struct nb6_dev &dev, struct nb6_device_word *word, int64_t *pending, int64_t n,
                               const cut &c, shared_target &shared)
{
    if (c.is_sorted || n > 2 * (int64_t)gridDim.x) {
        for (int64_t m = warp_of_all(); m < n; m += warps_of_all()) finish_of_many(dev, word, pending, m, c);
        return;
    }
    for (int64_t m = blockIdx.x; m < n; m += gridDim.x) {
        finish_of_few(dev, word, pending, m, c, shared);
        __syncthreads();
    }
}

} // namespace

#endif
