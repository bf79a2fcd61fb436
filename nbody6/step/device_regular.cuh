/** The ends of regular steps of the targets of a round, when their sums are there (device_sums.cuh): neighbours that
 *  were noted make the list, by a warp for each of many targets, or a block of threads for each of few; then the step
 * is corrected. */
#ifndef NB6_DEVICE_REGULAR_CUH
#define NB6_DEVICE_REGULAR_CUH

#include "nbody6/step/dev_regular.h"
#include "nbody6/step/device_block.h"
#include "nbody6/step/device_cut.cuh"
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

/* Where a list is written to, and how long it may become; a copy of its begin in shared memory, NULL: none. */
struct list_writer {
    int32_t *list;
    int64_t room;
    int32_t *copy;
};

/* Places of some bits of a chunk, the first of them at `at`, as far as there is room.
 *  @return the place after the last of them */
__device__ __forceinline__ int64_t write_bits(uint32_t bits, int64_t chunk, int64_t at, const list_writer &to)
{
    for (; bits; bits &= bits - 1, at++) {
        const int32_t place = (int32_t)(chunk * WARP + __ffs((int)bits) - 1);
        if (at < to.room) to.list[at] = place;
        if (to.copy && at < LIST_ROOM) to.copy[at] = place;
    }
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

template <typename cut_type>
__device__ __forceinline__ noted_slice read_slice(const struct nb6_dev &dev, const cut_type &c, int64_t m,
                                                  const slices_of &slices, int64_t slice)
{
    noted_slice s = {};
    if (slice >= slices.number) return s;
    s.entries = dev.n_found[slices.at + slice];
    s.found = found_of(dev, c, m, slices.number, slice);
    for (int32_t k = 0; k < s.entries; k++) s.number += __popc(s.found[k].bits);
    return s;
}

__device__ __forceinline__ void write_slice(const noted_slice &s, int64_t at, const list_writer &to)
{
    for (int32_t k = 0; k < s.entries; k++) at = write_bits(s.found[k].bits, s.found[k].chunk, at, to);
}

/* The list of one of many targets, by a warp, a lane for each slice.   @return neighbours */
template <typename cut_type>
__device__ __noinline__ int64_t list_of_many(const struct nb6_dev &dev, int64_t m, const cut_type &c, int32_t *row)
{
    const bool is_sorted = are_sorted(c);
    const slices_of slices = slices_on(dev, c, m);
    int32_t *noted = is_sorted ? own_memory().list : row;
    int64_t n = 0, room = is_sorted ? min((int64_t)LIST_ROOM, dev.row_room) : dev.row_room;
    for (;;) {
        n = 0;
        for (int64_t begin = 0; begin < slices.number; begin += WARP) {
            const noted_slice s = read_slice(dev, c, m, slices, begin + lane_of());
            int32_t total;
            const int32_t up_to = count_up_to(s.number, &total);
            write_slice(s, n + up_to - s.number, {noted, room, nullptr});
            n += total;
        }
        if (n <= room || room == dev.row_room) break;
        noted = row; /* as it is longer than shared memory */
        room = dev.row_room;
    }
    if (is_sorted && n <= room) sort_row(dev, noted, row, (int)n);
    __syncwarp();
    return n;
}

/* The warp of a block of threads that ends the step of one of few targets: with 132 multiprocessors it has no slice of
 * up to 33000 sources. */
constexpr int FINISHER = WARPS / 2;

/* What the warps of a block of threads know of a target. */
struct shared_target {
    int64_t fetched; /* whose record this is; -1: nobody's */
    int32_t body, slot, *row;
    struct nb6_dev_point point;
    component begin[3];
    nb6_time t0;
    int8_t level;
    int32_t count[WARPS];
    int32_t changes[2]; /* neighbours that have come, and gone */
    component sum[WARPS][3];
};

/* By the warp that will end its step: what is known before its sums are. */
__device__ __forceinline__ void fetch_target(const struct nb6_dev &dev, int64_t m, shared_target &shared)
{
    const int32_t i = dev.target[m].body, slot = dev.target[m].slot;
    const struct nb6_dev_point point = nb6_dev_predict(&dev, i, dev.control->t);
    int32_t *row = nb6_dev_staged_list(&dev, i);
    regular_start r;
    fetch_regular(dev, i, r);
    if (lane_of() < 3) shared.begin[lane_of()] = r.begin;
    if (lane_of() == 0) {
        shared.fetched = m;
        shared.body = i;
        shared.slot = slot;
        shared.row = row;
        shared.point = point;
        shared.t0 = r.t0;
        shared.level = r.level;
    }
    __syncwarp();
}

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

/* The list of one of few targets, also in shared memory, of the first warp, and the sums of its slices, by a block of
 * threads. The warp that has other things to do as well takes the last part of the list, and no slices.
 *  @return neighbours */
__device__ int64_t list_by_block(const struct nb6_dev &dev, int64_t m, const cut &c, shared_target &shared)
{
    const int warp = (warp_of() + WARPS - 1 - FINISHER) % WARPS, thread = warp * WARP + lane_of();
    const int64_t words = c.width == 0 ? nb6_dev_words(&dev) : c.slices;
    int64_t n = 0;
    int32_t total;
    struct nb6_dev_sum sum;
    nb6_dev_clear(&sum);
    for (int64_t slice = thread; slice < c.slices && warp < WARPS - 1; slice += THREADS - WARP)
        nb6_dev_add(&sum, &dev.partial[m * c.slices + slice]);
    if (c.width == 0) {
        for (int64_t begin = 0; begin < words; begin += THREADS * NB6_DEV_HIT_GRAIN, n += total) {
            const four_words now = read_hits(dev, m, begin + (int64_t)thread * NB6_DEV_HIT_GRAIN);
            int64_t at = n + count_before(count_bits(now), warp, shared, &total);
            const list_writer to = {shared.row, dev.row_room, memory_of_warp(0).list};
#pragma unroll
            for (int g = 0; g < NB6_DEV_HIT_GRAIN; g++) at = write_bits(now.bits[g], now.first + g, at, to);
        }
    } else {
        for (int64_t begin = 0; begin < c.slices; begin += THREADS, n += total) {
            const noted_slice s = read_slice(dev, c, m, slices_on(dev, c, m), begin + thread);
            const int64_t at = n + count_before(s.number, warp, shared, &total);
            write_slice(s, at, {shared.row, dev.row_room, memory_of_warp(0).list});
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

/* A warp counts the pairs of a target that has n neighbours.   @return whether its step can be ended */
__device__ __forceinline__ bool accept_target(const struct nb6_dev &dev, struct nb6_device_word *word, int64_t *pending,
                                              struct nb6_dev_target *target, int64_t n)
{
    bool is_good = false;
    __syncwarp();
    if (lane_of() == 0) {
        add_to(&dev.control->pairs_reg_block, (uint64_t)dev.rules.step.n_source);
        is_good = accept_list(dev, word, pending, target, n);
    }
    __syncwarp();
    return __shfl_sync(ALL, is_good, 0);
}

/* What follows from a corrected target, by a warp. */
__device__ __forceinline__ void note_target(const struct nb6_dev &dev, struct nb6_device_word *word, int32_t i,
                                            int32_t slot, bool is_near, bool is_sound)
{
    if (lane_of() != 0) return;
    if (is_near) dev.flag[slot] |= NB6_DEV_NEAR;
    if (is_sound) return;
    dev.flag[slot] |= NB6_DEV_UNSOUND_REG;
    note_unsound(&word->unsound_reg, i, slot);
}

/* What a target has besides the sums of its slices. */
__device__ __forceinline__ void add_others(const struct nb6_dev &, const cut &, int64_t, struct nb6_dev_sum &)
{
}

/* Its derivatives follow the change of its list. */
__device__ __forceinline__ void change_by_lists(const struct nb6_dev &dev, const cut &,
                                                const struct nb6_dev_target &target, nb6_time t,
                                                struct nb6_corrected *out)
{
    change_derivatives(dev, target, t, out);
}

/* One of many targets, by a warp. */
template <typename cut_type>
__device__ __forceinline__ void finish_of_many(const struct nb6_dev &dev, struct nb6_device_word *word,
                                               int64_t *pending, int64_t m, const cut_type &c)
{
    struct nb6_dev_target *target = &dev.target[m];
    if (target->nnb >= 0) return;
    const int32_t i = target->body, slot = target->slot;
    const struct nb6_dev_point point = nb6_dev_predict(&dev, i, dev.control->t);
    int32_t *list = nb6_dev_staged_list(&dev, i);
    struct nb6_corrected *out = &dev.corrected[slot];
    const nb6_time t = dev.control->t;
    struct nb6_dev_sum sum;
    regular_start r;
    int32_t near;
    nb6_dev_clear(&sum);
    const slices_of slices = slices_on(dev, c, m);
    for (int64_t slice = lane_of(); slice < slices.number; slice += WARP)
        nb6_dev_add(&sum, &dev.partial[slices.at + slice]);
    if (lane_of() == 0) add_others(dev, c, m, sum);
    const int64_t n = list_of_many(dev, m, c, list);
    if (!accept_target(dev, word, pending, target, n)) return;
    const component irr = force_on(dev, point, list, (int32_t)n, t, &near);
    set_next_radius(dev, *target, (int32_t)n, out);
    fetch_regular(dev, i, r);
    fetch_irregular(dev, slot, r);
    const bool is_sound = correct_regular(dev, t, r, add_lanes(sum), irr, (int32_t)n, {}, out);
    if (dev.rules.step.seen_between_steps) change_by_lists(dev, c, *target, t, out);
    note_target(dev, word, i, slot, near != NOBODY_NEAR, is_sound);
}

/* Changes of the list of one of few targets, in the shared memory of a warp: with their numbers behind them. */
constexpr int32_t CHANGES = sizeof(warp_memory) / (sizeof(list_change) + sizeof(int32_t));

__device__ __forceinline__ list_change *changes_of_warp(int warp)
{
    return reinterpret_cast<list_change *>(&memory_of_warp(warp));
}

/* What other warps do while one sums the force over the new list. */
__device__ __forceinline__ void help_finisher(const struct nb6_dev &dev, int64_t m, const int32_t *list, int32_t n,
                                              shared_target &shared)
{
    const int32_t i = shared.body, *old = nb6_dev_list(&dev, i), n_old = dev.star[i].nnb;
    const nb6_time t = dev.control->t;
    const int warp = warp_of();
    if (warp == 3) set_next_radius(dev, dev.target[m], n, &dev.corrected[shared.slot]);
    if (warp < 1 || warp > 2 || !dev.rules.step.seen_between_steps) return;
    const int32_t number = warp == 1 ? note_changes(dev, t, list, n, old, n_old, changes_of_warp(1), CHANGES)
                                     : note_changes(dev, t, old, n_old, list, n, changes_of_warp(2), CHANGES);
    if (lane_of() == 0) shared.changes[warp - 1] = number;
}

/* The corrector of one of few targets, by the warp that ends its step, when the others have helped. */
__device__ __forceinline__ void correct_of_few(const struct nb6_dev &dev, struct nb6_device_word *word, int64_t m,
                                               const regular_start &r, component end, component irr, int32_t n,
                                               bool is_near, const shared_target &shared)
{
    const nb6_time t = dev.control->t;
    struct nb6_corrected *out = &dev.corrected[shared.slot];
    noted_changes noted = {changes_of_warp(1), changes_of_warp(2), shared.changes[0], shared.changes[1]};
    const bool are_all = noted.n_come <= CHANGES && noted.n_gone <= CHANGES;
    if (!are_all) noted.n_come = noted.n_gone = 0;
    const bool is_sound = correct_regular(dev, t, r, end, irr, n, noted, out);
    if (!are_all) change_derivatives(dev, dev.target[m], t, out);
    note_target(dev, word, shared.body, shared.slot, is_near, is_sound);
}

/* One of few targets, by a block of threads, of which one warp goes on alone when there is a list. */
__device__ __forceinline__ void finish_of_few(const struct nb6_dev &dev, struct nb6_device_word *word, int64_t *pending,
                                              int64_t m, const cut &c, bool is_first, shared_target &shared)
{
    if (!is_first && dev.target[m].nnb >= 0) return;
    const bool is_finisher = warp_of() == FINISHER;
    regular_start r;
    bool is_good = false;
    int32_t near = NOBODY_NEAR;
    component irr, end = {};
    if (is_finisher) {
        const bool is_fetched = shared.fetched == m;
        __syncwarp();
        if (!is_fetched) fetch_target(dev, m, shared);
        r.begin = shared.begin[axis_of()];
        r.t0 = shared.t0;
        r.level = shared.level;
        fetch_irregular(dev, shared.slot, r);
    }
    if (threadIdx.x < 2) shared.changes[threadIdx.x] = 0;
    const int64_t n = list_by_block(dev, m, c, shared);
    const int32_t *list = n <= LIST_ROOM ? memory_of_warp(0).list : shared.row;
    const bool may_be_good = n <= min(dev.row_room, nb6_dev_list_limit(&dev, shared.body));
    if (!is_finisher && may_be_good) help_finisher(dev, m, list, (int32_t)n, shared);
    if (is_finisher) {
        for (int w = 0; w < WARPS - 1; w++) {
            end.acc += shared.sum[w][axis_of()].acc;
            end.jerk += shared.sum[w][axis_of()].jerk;
        }
        is_good = accept_target(dev, word, pending, &dev.target[m], n);
        if (is_good) irr = force_on(dev, shared.point, list, (int32_t)n, dev.control->t, &near);
    }
    __syncthreads();
    if (is_good) correct_of_few(dev, word, m, r, end, irr, (int32_t)n, near != NOBODY_NEAR, shared);
}

__device__ void finish_targets(const struct nb6_dev &dev, struct nb6_device_word *word, int64_t *pending, int64_t n,
                               const cut &c, bool is_first, shared_target &shared)
{
    if (c.is_sorted || (c.width > 0 && n > 2 * (int64_t)gridDim.x)) { /* others have noted hits, not slices */
        for (int64_t m = warp_of_all(); m < n; m += warps_of_all()) finish_of_many(dev, word, pending, m, c);
        return;
    }
    for (int64_t m = blockIdx.x; m < n; m += gridDim.x) {
        finish_of_few(dev, word, pending, m, c, is_first, shared);
        __syncthreads();
    }
}

} // namespace

#endif
