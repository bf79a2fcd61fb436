/** Regular corrector of the targets of a round, after their sums (cuda/sums.cuh). The noted neighbours become the
 *  list: of many targets each has a warp, of a few each has a block of threads. Then the step is corrected. */
#ifndef NB6_CUDA_REGULAR_CUH
#define NB6_CUDA_REGULAR_CUH

#include "nbody6/engine/cuda/block.h"
#include "nbody6/engine/cuda/cut.cuh"
#include "nbody6/engine/cuda/edge.cuh"
#include "nbody6/engine/cuda/member.cuh"
#include "nbody6/engine/cuda/regular_step.cuh"
#include "nbody6/engine/cuda/sums.cuh"
#include "nbody6/engine/cuda/warp.cuh"
#include "nbody6/engine/stages/regular.h"

namespace
{

/* ---- lists ---- */

/* Words of hits for a thread. */
struct some_words {
    uint32_t bits[NB6_DEV_HIT_GRAIN];
    int64_t first; /* number of the first one */
};

/* @param[in] grain  1, or NB6_DEV_HIT_GRAIN */
__device__ __forceinline__ some_words read_hits(int64_t m, int64_t first, int grain)
{
    const int64_t words = nb6_dev_words(&dev), chunks = nb6_dev_chunks(&dev);
    some_words w = {{}, first};
    if (first >= chunks) return w; /* words beyond the last chunk were never written */
    if (grain == 1) {
        w.bits[0] = dev.hit[m * words + first];
        return w;
    }
    const uint4 four = *reinterpret_cast<const uint4 *>(dev.hit + m * words + first);
    w.bits[0] = four.x;
    w.bits[1] = first + 1 < chunks ? four.y : 0;
    w.bits[2] = first + 2 < chunks ? four.z : 0;
    w.bits[3] = first + 3 < chunks ? four.w : 0;
    return w;
}

__device__ __forceinline__ int32_t count_bits(const some_words &w)
{
    return __popc(w.bits[0]) + __popc(w.bits[1]) + __popc(w.bits[2]) + __popc(w.bits[3]);
}

/* Make the list of one of many targets, by a warp.   @return number of neighbours */
__device__ __noinline__ int64_t list_of_many(int64_t m, const cut &c, int32_t *row)
{
    const auto found_of = [&](int64_t slice) { return own_found(c, m, slice); };
    return make_list(dev.sums, slices_on(c, m), found_of, c.is_sorted, own_memory().list, row, dev.row_room);
}

/* The warp of a block of threads that corrects one of few targets: with 132 multiprocessors it has no slice of up to
 * 33000 sources. */
constexpr int FINISHER = WARPS / 2;

/* The first of few targets of this block of threads. The first blocks of threads come last: block 0 would have to
 * fetch its instructions for small blocks again. */
__device__ __forceinline__ int64_t own_target()
{
    return (blockIdx.x + gridDim.x - gridDim.x / 2) % gridDim.x;
}

/* Shared data of the warps of a block of threads about a target. */
struct shared_target {
    int64_t fetched; /* target of the record; -1: none */
    int64_t limit;   /* of its list */
    int32_t body, member, *row;
    const int32_t *old; /* list [n_old] before the step; if there is room, also in shared memory of the second warp */
    int32_t n_old;
    struct nb6_dev_point point;
    component begin[3];
    nb6_time t0;
    int8_t level;
    int32_t count[WARPS];
    uint32_t bits[2 * LIST_ROOM / WARP]; /* bodies that have come or gone, respectively */
    component sum[WARPS][3];
};

/* Prefetch a target by the warp that will correct it, before its sums are complete. */
__device__ __forceinline__ void fetch_target(int64_t m, shared_target &shared)
{
    const int32_t i = dev.target[m].body, member = dev.target[m].member;
    const struct nb6_dev_point point = nb6_dev_predict(&dev, i, dev.control->t);
    const int32_t *old = nb6_dev_list(&dev, i), n_old = dev.star[i].nnb;
    regular_start r;
    fetch_regular(i, r);
    for (int32_t k = lane_of(); k < n_old && n_old <= LIST_ROOM; k += WARP) memory_of_warp(1).list[k] = old[k];
    if (lane_of() < 3) shared.begin[lane_of()] = r.begin;
    if (lane_of() == 0) {
        shared.fetched = m;
        shared.body = i;
        shared.member = member;
        shared.row = nb6_dev_staged_list(&dev, i);
        shared.old = old;
        shared.n_old = n_old;
        shared.limit = min(dev.row_room, nb6_dev_list_limit(&dev, i));
        shared.point = point;
        shared.t0 = r.t0;
        shared.level = r.level;
    }
    __syncwarp();
}

/* Warps that sum the slices of one of few targets, before one warp adds them. */
__device__ __forceinline__ int summing_warps(const cut &c)
{
    constexpr int EACH = 2; /* of a lane */
    return (int)min((int64_t)WARPS, (c.slices + EACH * WARP - 1) / (EACH * WARP));
}

/* The list of one of few targets from hits, also in shared memory of the first warp.   @return number of neighbours */
__device__ __forceinline__ int64_t list_of_hits(int64_t m, shared_target &shared)
{
    const int64_t words = nb6_dev_words(&dev);
    const int grain = words <= THREADS ? 1 : NB6_DEV_HIT_GRAIN; /* threads append one after the other */
    int64_t n = 0;
    int32_t total;
    for (int64_t begin = 0; begin < words; begin += THREADS * grain, n += total) {
        const some_words now = read_hits(m, begin + (int64_t)threadIdx.x * grain, grain);
        int64_t at = n + count_before(count_bits(now), shared.count, &total);
        const list_writer to = {shared.row, dev.row_room, memory_of_warp(0).list};
#pragma unroll
        for (int g = 0; g < NB6_DEV_HIT_GRAIN; g++) at = write_bits(now.bits[g], now.first + g, at, to);
    }
    return n;
}

/* The same from neighbours that are noted slice by slice. */
__device__ __forceinline__ int64_t list_of_slices(int64_t m, const cut &c, shared_target &shared)
{
    int64_t n = 0;
    int32_t total;
    for (int64_t begin = 0; begin < c.slices; begin += THREADS, n += total) {
        const noted_slice s = read_slice(dev.sums, slices_on(c, m), begin + threadIdx.x,
                                         [&](int64_t slice) { return own_found(c, m, slice); });
        const int64_t at = n + count_before(s.number, shared.count, &total);
        write_slice(s, at, {shared.row, dev.row_room, memory_of_warp(0).list});
    }
    return n;
}

/* Make the list of one of few targets, also in shared memory of the first warp, and the sums of its slices, by a
 * block of threads.   @return number of neighbours */
__device__ int64_t list_by_block(int64_t m, const cut &c, shared_target &shared)
{
    struct gpunb_dev_sum sum;
    gpunb_dev_clear(&sum);
    for (int64_t slice = threadIdx.x; slice < c.slices && warp_of() < summing_warps(c);
         slice += summing_warps(c) * WARP)
        gpunb_dev_add(&sum, &dev.sums.partial[m * c.slices + slice]);
    const int64_t n = c.width == 0 ? list_of_hits(m, shared) : list_of_slices(m, c, shared);
    if (warp_of() < summing_warps(c)) {
        const component own = add_lanes(sum);
        if (lane_of() < 3) shared.sum[warp_of()][lane_of()] = own;
    }
    __syncthreads();
    return n;
}

/* Check the length n of the list of a target. If it exceeds the maximum, the neighbour sphere shrinks, and the list
 * is made again; if it does not fit the row, the block ends.   @return whether the step can be corrected */
__device__ bool accept_list(struct nb6_device_control_block *control_block, int64_t *pending,
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
    dev.flag[target->member] |= NB6_DEV_TOO_LONG;
    atomicMax(reinterpret_cast<long long *>(&dev.control->longest), (long long)n);
    control_block->too_long = 1;
    return false;
}

/* accept_target by a warp, which also counts pairs.   @return whether its step can be corrected */
__device__ __forceinline__ bool accept_target(struct nb6_device_control_block *control_block, int64_t *pending,
                                              struct nb6_dev_target *target, int64_t n)
{
    bool is_good = false;
    __syncwarp();
    if (lane_of() == 0) {
        add_to(&dev.control->pairs_reg_block, (uint64_t)nb6_dev_pairs_of_target(&dev));
        is_good = accept_list(control_block, pending, target, n);
    }
    __syncwarp();
    return __shfl_sync(ALL, is_good, 0);
}

/* Consequences of a corrected target, by a warp. */
__device__ __forceinline__ void note_target(struct nb6_device_control_block *control_block, int32_t i, int32_t member,
                                            bool is_near, bool is_sound)
{
    if (lane_of() != 0) return;
    if (is_near) dev.flag[member] |= NB6_DEV_NEAR;
    if (is_sound) return;
    dev.flag[member] |= NB6_DEV_UNSOUND_REG;
    note_unsound(&control_block->unsound_reg, i, member);
}

/* The step of a target, whose list of n neighbours is in its row, by a warp.   @param[in] list  there, or in shared
 * memory of this warp   @param[in] end  regular force */
__device__ __forceinline__ void correct_of_many(struct nb6_device_control_block *control_block,
                                                const struct nb6_dev_target &target, const int32_t *list, int64_t n,
                                                component end)
{
    const int32_t i = target.body, member = target.member;
    const nb6_time t = dev.control->t;
    const struct nb6_dev_point point = nb6_dev_predict(&dev, i, t);
    struct nb6_corrected *out = &dev.corrected[member];
    regular_start r;
    bool is_near;
    const list_change change = find_change(i, list, (int32_t)n);
    const component come = force_of_change(change, point, t, &is_near);
    set_next_radius(target, (int32_t)n, out);
    fetch_regular(i, r);
    fetch_irregular(member, r);
    const regular_end e = end_regular(t, r, end, come);
    store_derivatives(t, e, change, out);
    note_target(control_block, i, member, is_near, store_end(i, t, r, e, (int32_t)n, out));
}

/* Correct one of many targets, by a warp. */
__device__ __forceinline__ void finish_of_many(struct nb6_device_control_block *control_block, int64_t *pending,
                                               int64_t m, const cut &c)
{
    struct nb6_dev_target *target = &dev.target[m];
    if (target->nnb >= 0) return;
    int32_t *list = nb6_dev_staged_list(&dev, target->body);
    const struct gpunb_dev_sum sum = sum_slices(dev.sums, slices_on(c, m), [&](int64_t slice, int32_t entries) {
        return settle_for(m, c.is_sorted, own_found(c, m, slice), entries);
    });
    const int64_t n = list_of_many(m, c, list);
    const bool is_good = accept_target(control_block, pending, target, n);
    if (c.is_sorted && lane_of() == 0) /* its sums are known, or its sphere is smaller */
        dev.sums.viewer[m] = nb6_dev_view_from(&dev, target, &dev.sums.viewer[m].at);
    if (!is_good) return;
    const bool is_here = c.is_sorted && n <= LIST_ROOM; /* the sorted list is still there */
    correct_of_many(control_block, *target, is_here ? own_memory().list : list, n, add_lanes(sum));
}

/* ---- changes of the list of one of few targets, by a block of threads: each warp compares a piece of a list, first
 * as bits, then as numbers ---- */

/* The first warp of the comparison: correctors have the last warps, and prepare before. */
__device__ __forceinline__ int32_t piece_of_warp()
{
    return (warp_of() - FINISHER - 2 + WARPS) % WARPS;
}

/* A piece of 32 of the new list, or of the old one; pieces of the new one come first. */
struct list_piece {
    const int32_t *list, *other;
    int32_t n, n_other, first;
};

__device__ __forceinline__ list_piece piece_at(const list_change &c, int32_t piece)
{
    const int32_t pieces = (c.n + WARP - 1) / WARP;
    if (piece < pieces) return {c.list, c.old, c.n, c.n_old, piece * WARP};
    return {c.old, c.list, c.n_old, c.n, (piece - pieces) * WARP};
}

__device__ __forceinline__ void note_bits(const list_change &c, int32_t pieces, shared_target &shared)
{
    for (int32_t piece = piece_of_warp(); piece < pieces; piece += WARPS) {
        const list_piece p = piece_at(c, piece);
        const uint32_t bits = bits_of_change(p.list, p.n, p.other, p.n_other, p.first);
        if (lane_of() == 0) shared.bits[piece] = bits;
    }
}

/* Set bits of the first so many pieces, at most 32. */
__device__ __forceinline__ int32_t count_changes(const shared_target &shared, int32_t pieces)
{
    return count_of_lanes(lane_of() < pieces ? __popc(shared.bits[lane_of()]) : 0);
}

__device__ __forceinline__ void note_numbers(const list_change &c, int32_t pieces, const shared_target &shared)
{
    for (int32_t piece = piece_of_warp(); piece < pieces; piece += WARPS) {
        const list_piece p = piece_at(c, piece);
        write_change(shared.bits[piece], p.list, p.first, count_changes(shared, piece), memory_of_warp(2).list,
                     LISTS_ROOM);
    }
}

/* Changes between lists in shared memory, by all warps.   @param[in,out] change  without its numbers on entry */
__device__ __forceinline__ void find_change_by_block(list_change &change, shared_target &shared)
{
    const int32_t pieces_come = (change.n + WARP - 1) / WARP, pieces = pieces_come + (change.n_old + WARP - 1) / WARP;
    note_bits(change, pieces, shared);
    __syncthreads();
    note_numbers(change, pieces, shared);
    change.n_come = count_changes(shared, pieces_come);
    change.n_gone = count_changes(shared, pieces) - change.n_come;
    if (change.n_come + change.n_gone <= LISTS_ROOM) change.number = memory_of_warp(2).list;
    __syncthreads();
}

/* Corrector of one of few targets, by two warps: one completes its step, the other one its derivatives. Both compute
 * the common part, which is shorter than a wait. */
__device__ __forceinline__ void correct_of_few(struct nb6_device_control_block *control_block, const regular_start &r,
                                               component end, const list_change &change, const shared_target &shared)
{
    const nb6_time t = dev.control->t;
    struct nb6_corrected *out = &dev.corrected[shared.member];
    bool is_near;
    const component come = force_of_change(change, shared.point, t, &is_near);
    const regular_end e = end_regular(t, r, end, come);
    if (warp_of() == FINISHER)
        note_target(control_block, shared.body, shared.member, is_near, store_end(shared.body, t, r, e, change.n, out));
    else
        store_derivatives(t, e, change, out);
}

/* The regular force of one of few targets, by one warp, from the sums of all warps. */
__device__ __forceinline__ component add_warps(const cut &c, const shared_target &shared)
{
    component end = {};
    for (int w = 0; w < summing_warps(c); w++) {
        end.acc += shared.sum[w][axis_of()].acc;
        end.jerk += shared.sum[w][axis_of()].jerk;
    }
    return end;
}

/* Whether some pairs of one of few targets have to be decided in double: it is summed again, with care. */
__device__ __forceinline__ bool is_undecided(const cut &c, const shared_target &shared)
{
    double sum = 0;
    for (int w = 0; w < summing_warps(c); w++) sum += shared.sum[w][0].acc;
    return isnan(sum);
}

/* The end of an undecided target for now, by a warp. */
__device__ __forceinline__ void put_off(int64_t *pending)
{
    if (lane_of() != 0) return;
    add_to(&dev.control->pairs_reg_block, (uint64_t)dev.rules.step.n_source);
    atomicAdd(reinterpret_cast<unsigned long long *>(pending), 1ull);
}

/* Correct one of few targets, by a block of threads, of which few warps go on once the list is made.
 * @param[in] is_first  all sums are new, and made without care */
__device__ __forceinline__ void finish_of_few(struct nb6_device_control_block *control_block, int64_t *pending,
                                              int64_t m, const cut &c, bool is_first, shared_target &shared)
{
    constexpr int WITH_RADIUS = 0, WITH_COUNTS = 1;
    if (!is_first && dev.target[m].nnb >= 0) return;
    const bool corrects = warp_of() == FINISHER || warp_of() == FINISHER + 1;
    component end = {};
    if (shared.fetched != m) {
        __syncthreads();
        if (warp_of() == FINISHER) fetch_target(m, shared);
        __syncthreads();
    }
    regular_start r = {shared.begin[axis_of()], shared.t0, shared.level, 0, 0, {}};
    if (corrects) fetch_irregular(shared.member, r);
    const int64_t n = list_by_block(m, c, shared);
    const bool waits = is_first && is_undecided(c, shared);
    const bool is_good = n <= shared.limit && !waits; /* same result as accept_target, without a wait for it */
    const bool is_here = max(n, (int64_t)shared.n_old) <= LIST_ROOM;
    list_change change = {shared.row, shared.old, (int32_t)n, shared.n_old, nullptr, 0, 0};
    if (is_here) {
        change.list = memory_of_warp(0).list;
        change.old = memory_of_warp(1).list;
    }
    if (corrects) end = add_warps(c, shared);
    if (is_here && is_good) find_change_by_block(change, shared);
    if (is_good && corrects) correct_of_few(control_block, r, end, change, shared);
    if (is_good && warp_of() == WITH_RADIUS) set_next_radius(dev.target[m], change.n, &dev.corrected[shared.member]);
    if (warp_of() == WITH_COUNTS && waits) put_off(pending);
    if (warp_of() == WITH_COUNTS && !waits) (void)accept_target(control_block, pending, &dev.target[m], n);
}

__device__ __forceinline__ void finish_few_targets(struct nb6_device_control_block *control_block, int64_t *pending,
                                                   int64_t n, const cut &c, bool is_first, shared_target &shared)
{
    for (int64_t m = own_target(); m < n; m += gridDim.x) {
        finish_of_few(control_block, pending, m, c, is_first, shared);
        __syncthreads();
    }
}

/* Whether each of n targets is finished by a block of threads. */
__device__ __forceinline__ bool are_few(const cut &c, int64_t n)
{
    return !c.is_sorted && (c.width == 0 || n <= 2 * (int64_t)gridDim.x); /* with width 0 sums note hits */
}

__device__ void finish_targets(struct nb6_device_control_block *control_block, int64_t *pending, int64_t n,
                               const cut &c, bool is_first, shared_target &shared)
{
    if (are_few(c, n)) return finish_few_targets(control_block, pending, n, c, is_first, shared);
    for (int64_t m = warp_of_all(); m < n; m += warps_of_all()) finish_of_many(control_block, pending, m, c);
}

} // namespace

#endif
