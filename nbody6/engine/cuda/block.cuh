/** Block steps on a GPU. One kernel stays resident for many blocks. Its blocks of threads, one on each
 *  multiprocessor, meet at barriers between the stages (stages/state.h). The first block of threads selects the
 *  members of a block, and computes small blocks by itself, which saves the barriers: half of all blocks have fewer
 *  than five members. Two units have the kernel: block.cu without the fields of galaxies and gas, whose code needs so
 *  many registers that all blocks take 1.2 times as long, and block_moving.cu with them. */
#ifndef NB6_CUDA_BLOCK_CUH
#define NB6_CUDA_BLOCK_CUH

#include "nbody6/engine/cuda/block.h"

#include "nbody6/engine/cuda/host_service.cuh"
#include "nbody6/engine/cuda/leave.h"
#include "nbody6/engine/cuda/member.cuh"
#include "nbody6/engine/cuda/regular.cuh"
#include "nbody6/engine/cuda/select.cuh"
#include "nbody6/engine/cuda/small.cuh"
#include "nbody6/engine/cuda/sums.cuh"
#include "nbody6/engine/cuda/tides.cuh"
#include "nbody6/engine/cuda/verdict.cuh"

namespace
{

constexpr int FEW = WARPS; /* members of a block that the first block of threads computes alone */

/* Static shared memory of a block of threads; `selected`, `service` and `failed` are for the first one. */
struct block_memory {
    selection selected;
    service_memory service;
    shared_target target;
    verdict failed; /* reason to stop from the last block that left; NB6_DEVICE_GO_ON: none */
};

/* Select the next block; all threads of the first block of threads take part.   @return as select_members */
__device__ int64_t select_block(struct nb6_device_control_block *control_block, const next_block &next, nb6_time t_stop,
                                service_memory &service, selection &s)
{
    struct nb6_dev_control *control = dev.control;
    nb6_time t;
    const int64_t n = select_members(next, t_stop, &t, s, service);
    if (threadIdx.x == 0) {
        control_block->is_corrected = !has_service(service, t);
        control->t = t;
        control->n_irr = n;
        control->n_reg = 0;
        control->pairs_irr_block = control->pairs_reg_block = control->overflows_block = 0;
        control->by_tree_block = 0;
        control_block->is_known = s.is_known;
        control_block->n_reg = s.n_reg;
        control_block->n_look = 0;
        control_block->n_due = 0;
        control_block->most = n == NOT_YET ? s.most : -1;
        control_block->pending[0] = control_block->pending[1] = 0;
        control_block->refused = NB6_DEVICE_GO_ON;
    }
    __syncthreads();
    return n;
}

/* Called by one thread. */
__device__ __forceinline__ void count_block(selection &s)
{
    nb6_dev_count_block(&dev);
    s.ti_now = dev.control->t;
}

/* Wait until the other blocks of threads have committed the last block.   @return the task for all, or
 * NB6_DEVICE_GO_ON */
__device__ __forceinline__ verdict await_commit(const struct nb6_device_control_block *control_block,
                                                const grid_of_blocks &grid, block_memory &memory)
{
    grid.await_others();
    const int32_t n_look = control_block->n_look;
    if (threadIdx.x == 0) memory.service.n_look = n_look;
    __syncthreads();
    return go(n_look > FEW_LOOKS ? NB6_DEVICE_LOOKS : NB6_DEVICE_GO_ON);
}

/* Small blocks without regular members, by the first block of threads alone, until a block is not small or there is
 * a reason to stop.
 * @param[in] is_behind  others may still commit the last block   @return a reason, or the task for all */
__device__ verdict make_small_blocks(struct nb6_device_control_block *control_block, nb6_time t_stop,
                                     int64_t max_blocks, int64_t &done, bool is_behind, const grid_of_blocks &grid,
                                     block_memory &memory)
{
    selection &s = memory.selected;
    for (;; is_behind = false) {
        const next_block next = find_next(s);
        if (is_behind && await_commit(control_block, grid, memory) == go(NB6_DEVICE_LOOKS)) return go(NB6_DEVICE_LOOKS);
        verdict follows = done > 0 ? serve_after(control_block, memory.service) : go(NB6_DEVICE_GO_ON);
        if (follows != go(NB6_DEVICE_GO_ON)) return follows;
        const int64_t n = done < max_blocks ? select_block(control_block, next, t_stop, memory.service, s) : 0;
        if (n == 0 && wait_for_notifier(control_block->deferred_work, memory.service.pending)) continue;
        if (n == 0) return stop(done < max_blocks ? NB6_STOP_REACHED : NB6_STOP_BLOCKS);
        if (n == NOT_YET || n > FEW || !s.is_known || s.n_reg > 0) return go(NB6_DEVICE_GO_ON);
        int beside;
        if ((follows = begin_small_service(control_block, n, &beside, memory.service)) == go(NB6_DEVICE_AGAIN))
            continue;
        if (stops(follows)) return follows;
        if (threadIdx.x == THREADS - 1 && may_publish(memory.service))
            publish_notes(memory.service, dev.control->ti_now); /* a thread of a warp that is rarely busy */
        if (threadIdx.x == 0) memory.service.n_look = 0;
        follows = make_small_block(control_block, n, s.few, dev.control->t, beside, memory.service);
        if (follows == go(NB6_DEVICE_AGAIN)) continue;
        if (stops(follows)) return follows;
        if (threadIdx.x == THREADS - 1) count_block(s);
        done++;
        __syncthreads();
    }
}

/* The barrier at the end of a round.   @param[out] reason  result if the lists of all targets are complete
 * @return whether some lists have to be made again */
__device__ __forceinline__ bool has_to_go_on(const struct nb6_device_control_block *control_block, int round,
                                             grid_of_blocks &grid, verdict *next)
{
    grid.sync();
    const int64_t pending = control_block->pending[round],
                  unsound = control_block->unsound_reg; /* both loads are in flight together */
    const int32_t too_long = control_block->too_long;
    *next = verdict_of_round(unsound, too_long);
    return pending > 0;
}

/* Regular steps of n targets, repeated for targets whose lists are too long, or have to be decided in double.
 * @param[in] has_begun  some targets have their lists   @return a reason, or NB6_DEVICE_GO_ON */
__device__ verdict make_regular_round(struct nb6_device_control_block *control_block, int64_t n, const cut &c,
                                      bool has_begun, block_memory &s, grid_of_blocks &grid)
{
    verdict next;
    for (int round = has_begun;; round ^= 1) {
        make_sums(c, n, has_begun || !are_few(c, n));
        if (threadIdx.x == 0) s.target.fetched = -1; /* the sums overwrite the memory of its old list */
        grid.sync();
        if (has_begun && are_few(c, n)) {
            settle_few(c, n);
            grid.sync();
        }
        if (grid.rank() == 0) control_block->pending[round ^ 1] = 0;
        finish_targets(control_block, &control_block->pending[round], n, c, !has_begun, s.target);
        if (!has_to_go_on(control_block, round, grid, &next)) return next;
        has_begun = true;
    }
}

/* make_regular_round for a few targets whose sums are complete, and for their first round only. Its duration is that
 * of the longest chain of loads and of instruction fetches.   @return as has_to_go_on */
__device__ __forceinline__ bool make_regular_of_few(struct nb6_device_control_block *control_block, int64_t n,
                                                    block_memory &s, grid_of_blocks &grid, verdict *next)
{
    if (grid.rank() == 0) control_block->pending[1] = 0;
    finish_few_targets(control_block, &control_block->pending[0], n, cut_for_few(n), true, s.target);
    return has_to_go_on(control_block, 0, grid, next);
}

/* A member of the regular step says which source it is. */
struct source_of_member {
    __device__ __forceinline__ int32_t operator()(int64_t m) const
    {
        const int32_t member = dev.reg[m], i = dev.irr[member];
        dev.sums.owner[i] = member;
        return i;
    }
};

/* Sort sources and regular members along the curve, and make the tiles. */
__device__ __noinline__ void sort_block(int64_t n_reg, grid_of_blocks &grid)
{
    sort_sources(dev.sums, n_reg, source_of_member{}, grid);
    for (int64_t m = grid.rank(); m < n_reg; m += grid.size()) dev.reg[m] = dev.sums.owner[dev.sums.order[m]];
    make_tiles(dev.sums);
    grid.sync();
}

/* Set the n targets of a round that begins at `first`, and how sorted ones see the sources. */
__device__ __forceinline__ void set_targets(int64_t first, int64_t n, bool are_sorted, const grid_of_blocks &grid)
{
    for (int64_t m = grid.rank(); m < n; m += grid.size()) {
        nb6_dev_set_target(&dev, first, m);
        if (!are_sorted) continue;
        dev.target[m].place = (int32_t)(first + m);
        dev.sums.viewer[m] = nb6_dev_view_from(&dev, &dev.target[m], &dev.sums.source[dev.target[m].body]);
    }
}

/* All rounds of regular steps. Unless targets are sorted, those of the first round are set before. All rounds cut
 * sums as this one does, because the order of threads may decide in which round a target is.
 * @param[in] has_begun  some of few targets have their lists   @return as the last round */
__device__ verdict make_regular(struct nb6_device_control_block *control_block, int64_t n_reg, bool has_begun,
                                block_memory &s, grid_of_blocks &grid)
{
    const int64_t each = targets_of_round(n_reg);
    verdict next = go(NB6_DEVICE_GO_ON);
    const cut c = cut_sums(n_reg, min(n_reg, each));
    if (c.is_sorted) sort_block(n_reg, grid);
    for (int64_t first = 0; first < n_reg; first += each) {
        const int64_t n = min(n_reg - first, each);
        if (first > 0 || c.is_sorted) {
            set_targets(first, n, c.is_sorted, grid);
            grid.sync();
        }
        next = make_regular_round(control_block, n, c, has_begun, s, grid);
    }
    return next;
}

/* The task that the first block of threads gives to all others; n_reg is valid if is_known. */
struct task {
    verdict next;
    int32_t is_known, n_reg, most;
    int64_t n_irr;
};

/* Read the task after a barrier, with a single wait for all its numbers. */
__device__ __forceinline__ task take_task(const struct nb6_device_control_block *control_block)
{
    static_assert(offsetof(struct nb6_device_control_block, most) == 3 * sizeof(int32_t),
                  "four numbers that follow each other");
    const int4 told = __ldcg(reinterpret_cast<const int4 *>(control_block));
    return {static_cast<verdict>(told.x), told.y, told.z, told.w, __ldcg(&dev.control->n_irr)};
}

/* Irregular force and irregular corrector of the members, and prediction of the sources of the regular force. With
 * few known targets each warp sums the sources right after their prediction; warps without sources begin with
 * members, or fetch a target.   @return whether the regular sums are complete */
__device__ bool make_forces(struct nb6_device_control_block *control_block, const task &todo, int64_t n,
                            const places &own, shared_target &target)
{
    const int64_t n_reg = todo.n_reg, warp = own.warp, warps = warps_of_all();
    const bool is_few = todo.is_known && n_reg > 0 && n_reg <= NB6_DEVICE_FEW;
    if (warp_of() == FINISHER && lane_of() == 0) target.fetched = -1;
    if (warp_of() == FINISHER && is_few && own_target() < n_reg) fetch_target(own_target(), target);
    for (int64_t member = own.member; member < n; member += warps) make_irregular(control_block, member);
    if (!is_few) {
        if (!todo.is_known || n_reg > 0) predict_chunks(warp, nb6_dev_chunks(&dev), warps);
        return false;
    }
    const cut c = cut_for_few(n_reg);
    if (warp >= c.slices) return true;
    int64_t first, end;
    nb6_dev_slice(&dev, warp, c.slices, &first, &end);
    predict_chunks(first, end, 1);
    __syncwarp();
    sum_of_few(c, warp, n_reg, false);
    return true;
}

/* Members of the block; all blocks of threads search for them if there are many bodies.   @return their number */
__device__ __forceinline__ int64_t find_members(struct nb6_device_control_block *control_block, const task &todo,
                                                grid_of_blocks &grid)
{
    if (todo.most < 0) return todo.n_irr;
    list_due_by_all(todo.most, &control_block->n_due);
    grid.sync();
    const int32_t n = control_block->n_due;
    if (grid.rank() == 0) dev.control->n_irr = n;
    return n;
}

/* Regular force and regular corrector, if any member ends a regular step. All irregular forces are complete, and the
 * notifier block has arrived.   @return a reason, or NB6_DEVICE_GO_ON */
__device__ __forceinline__ verdict end_regular_steps(struct nb6_device_control_block *control_block, const task &todo,
                                                     bool is_summed, block_memory &s, grid_of_blocks &grid)
{
    const int32_t n_found = control_block->deferred_work.n_found;
    const verdict refused = static_cast<verdict>(control_block->refused);
    const int64_t unsound = control_block->unsound, n_reg = is_summed ? todo.n_reg : control_block->n_reg;
    if (n_found > 0) return go(NB6_DEVICE_AGAIN);
    if (stops(refused)) return refused;
    if (unsound != INT64_MAX) return stop(NB6_STOP_NON_FINITE);
    verdict next = go(NB6_DEVICE_GO_ON);
    if (is_summed && !make_regular_of_few(control_block, n_reg, s, grid, &next)) return next;
    if (leaves(n_reg)) return go(NB6_DEVICE_LEAVES);
    return n_reg > 0 ? make_regular(control_block, n_reg, is_summed, s, grid) : go(NB6_DEVICE_GO_ON);
}

/* All stages after select, by all blocks of threads. The levels of members are set with the irregular corrector, so
 * that the first block of threads can select the next block while others commit; it therefore comes last when
 * members are dealt out.   @return a reason, or NB6_DEVICE_GO_ON */
__device__ __forceinline__ verdict make_block(struct nb6_device_control_block *control_block, const task &todo,
                                              block_memory &s, grid_of_blocks &grid)
{
    const int64_t n = find_members(control_block, todo, grid), warps = warps_of_all();
    const places place = own_places();
    if (blockIdx.x == 0) serve_beside(control_block, todo.is_known, s.service);
    const bool is_summed = make_forces(control_block, todo, n, place, s.target);
    grid.arrive();
    if (blockIdx.x == 0 && threadIdx.x == THREADS - 1 && may_publish(s.service))
        publish_notes(s.service, dev.control->ti_now); /* while others are on their way to the barrier */
    grid.wait_for(grid.expected);
    int32_t i = place.member < n ? dev.irr[place.member] : 0;
    const verdict next = end_regular_steps(control_block, todo, is_summed, s, grid);
    for (int64_t member = place.member; member < n;) {
        if (next == go(NB6_DEVICE_GO_ON))
            commit(control_block, member, i);
        else
            withdraw_level(i);
        member += warps;
        if (member < n) i = dev.irr[member];
    }
    return next;
}

constexpr int KEPT_WORDS = sizeof(service_memory) / sizeof(uint64_t);
static_assert(sizeof(service_memory) % sizeof(uint64_t) == 0 && KEPT_WORDS <= NB6_DEVICE_KEPT,
              "it is kept while the kernel is left");

/* Start of the first block of threads, or its return after a block that GPUNB has made.   @return blocks advanced so
 * far */
__device__ __forceinline__ int64_t begin_blocks(const struct nb6_device_control_block *control_block, block_memory &s)
{
    const int64_t done = control_block->blocks;
    if (threadIdx.x == 0) {
        s.failed = is_own_run(control_block) ? static_cast<verdict>(control_block->verdict) : stop(NB6_STOP_DEVICE);
        s.selected.n_fast = -1;
        s.selected.ti_now = dev.control->ti_now;
        s.selected.try_level = 0;
        s.selected.most = -1;
        if (done == 0) begin_service(control_block, s.service);
    }
    if (done > 0 && threadIdx.x < KEPT_WORDS)
        reinterpret_cast<uint64_t *>(&s.service)[threadIdx.x] = control_block->kept[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) choose_count(s.service);
    if (done > 0 && threadIdx.x == 0) {
        s.service.n_look = control_block->n_look;
        s.service.pending.is_any = 0; /* the notifier block had finished its work before that one */
    }
    __syncthreads();
    return done;
}

/* End of the first block of threads, or its leave for GPUNB. */
__device__ __forceinline__ void end_blocks(struct nb6_device_control_block *control_block, int64_t done,
                                           const block_memory &s)
{
    __syncthreads();
    const bool is_left = control_block->verdict == NB6_DEVICE_LEAVES;
    if (threadIdx.x == 0 && is_left) {
        control_block->blocks = done;
        control_block->t = dev.control->t;
    }
    if (threadIdx.x < KEPT_WORDS && is_left)
        control_block->kept[threadIdx.x] = reinterpret_cast<const uint64_t *>(&s.service)[threadIdx.x];
}

__global__ void __launch_bounds__(THREADS, 1)
    make_blocks(struct nb6_device_control_block *control_block, nb6_time t_stop, int64_t max_blocks)
{
    __shared__ block_memory s;
    grid_of_blocks grid = {&control_block->arrived, 0};
    int64_t done = begin_blocks(control_block, s);
    bool is_behind = false;
    for (;;) {
        if (blockIdx.x == 0) {
            const verdict next = stops(s.failed)
                                     ? s.failed
                                     : make_small_blocks(control_block, t_stop, max_blocks, done, is_behind, grid, s);
            is_behind = false;
            if (threadIdx.x == 0) control_block->verdict = stored(next);
            if (threadIdx.x == 0 && stops(next) && may_publish(s.service))
                publish_notes(s.service, dev.control->ti_now);
        }
        if (blockIdx.x == NOTIFIER && has_notifier())
            serve(control_block, s.service, grid);
        else
            grid.sync();
        const task todo = take_task(control_block);
        if (stops(todo.next)) break;
        if (todo.next == go(NB6_DEVICE_TIDES)) {
            sum_tides(control_block, grid);
            continue;
        }
        if (todo.next == go(NB6_DEVICE_LOOKS)) {
            look_at_many(control_block);
            grid.sync();
            continue;
        }
        const verdict next = make_block(control_block, todo, s, grid);
        if (next == go(NB6_DEVICE_AGAIN)) {
            if (grid.rank() == 0) (void)await_notifier(control_block->deferred_work, s.service.pending);
            grid.sync();
            continue;
        }
        if (next != go(NB6_DEVICE_GO_ON)) {
            if (grid.rank() == 0) control_block->verdict = stored(next);
            break;
        }
        if (grid.rank() == 0) {
            dev.control->n_reg = control_block->n_reg;
            s.service.pending.is_any = 0;
            count_block(s.selected);
        }
        done++;
        if (blockIdx.x == 0) __syncthreads();
        is_behind = true;
    }
    if (blockIdx.x == 0) end_blocks(control_block, done, s);
}

constexpr size_t SHARED_BYTES = WARPS * sizeof(warp_memory);
/* The hardware divides on-chip memory between shared memory and first-level cache in a few fixed ratios, of which
 * this is one. Blocks are slower with a smaller first-level cache (docs/trials.md). Each block of threads
 * reserves one kilobyte. */
constexpr size_t SHARED_STEP = 64 * 1024, SHARED_OF_SYSTEM = 1024;
static_assert(SHARED_BYTES + sizeof(block_memory) + SHARED_OF_SYSTEM <= SHARED_STEP, "or the first cache gets smaller");

/* @param[out] per_one  blocks of threads that a multiprocessor can hold */
inline cudaError_t prepare_kernel(int *per_one)
{
    cudaError_t code =
        cudaFuncSetAttribute(make_blocks, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)SHARED_BYTES);
    if (code == cudaSuccess)
        code = cudaOccupancyMaxActiveBlocksPerMultiprocessor(per_one, make_blocks, THREADS, SHARED_BYTES);
    return code;
}

/* nb6_device_run. */
inline cudaError_t run_kernel(const struct nb6_dev *now, struct nb6_device_control_block *control_block,
                              nb6_time t_stop, int64_t max_blocks, int blocks, cudaStream_t stream)
{
    void *arguments[] = {&control_block, &t_stop, &max_blocks};
    const cudaError_t code = set_dev(now, stream);
    if (code != cudaSuccess) return code;
    return cudaLaunchCooperativeKernel((const void *)make_blocks, dim3((unsigned)blocks), dim3(THREADS), arguments,
                                       SHARED_BYTES, stream);
}

} // namespace

#endif
