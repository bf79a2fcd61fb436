/* Blocks of single stars on a GPU. One kernel stays for many blocks; its thread blocks, one on each multiprocessor,
 * meet at barriers between the stages (dev_state.h). The first of them selects the members of a block, and makes small
 * ones by itself, which saves the barriers: half of all blocks have fewer than five members. */
#include "nbody6/step/device_block.h"

#include "nbody6/step/dev_commit.h"
#include "nbody6/step/dev_correct.h"
#include "nbody6/step/dev_force.h"
#include "nbody6/step/dev_regular.h"
#include "nbody6/step/dev_select.h"
#include "nbody6/step/stop_reason.h"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

namespace
{

constexpr int THREADS = 512, WARP = NB6_DEV_LANES, WARPS = THREADS / WARP;
constexpr int LEVELS = 16;  /* that a thread reads at a time */
constexpr int FEW = WARPS;  /* members of a block that the first thread block makes alone */
constexpr int TOGETHER = 2; /* targets that share a source */
constexpr unsigned ALL = 0xffffffffu;

struct shared {
    int32_t before[WARPS], lowest[WARPS];
};

__device__ __forceinline__ int lane_of()
{
    return threadIdx.x % WARP;
}

__device__ __forceinline__ int warp_of()
{
    return threadIdx.x / WARP;
}

/* Sums of all lanes by halves, as the emulation makes them; lane 0 has the result. */
__device__ void add_lanes(struct nb6_dev_sum &sum)
{
#pragma unroll
    for (int half = WARP / 2; half > 0; half /= 2)
        for (int k = 0; k < 3; k++) {
            sum.acc[k] += __shfl_down_sync(ALL, sum.acc[k], half);
            sum.jerk[k] += __shfl_down_sync(ALL, sum.jerk[k], half);
        }
}

/* Numbers of the threads before this one; *total is that of all. All threads of the block take part. */
__device__ int32_t count_before(int32_t own, shared &s, int32_t *total)
{
    int32_t up_to = own;
    for (int k = 1; k < WARP; k *= 2) {
        const int32_t other = __shfl_up_sync(ALL, up_to, k);
        if (lane_of() >= k) up_to += other;
    }
    __syncthreads();
    if (lane_of() == WARP - 1) s.before[warp_of()] = up_to;
    __syncthreads();
    int32_t before = up_to - own, all = 0;
    for (int w = 0; w < WARPS; w++) {
        if (w < warp_of()) before += s.before[w];
        all += s.before[w];
    }
    *total = all;
    return before;
}

/* ---- who is due ---- */

__device__ __forceinline__ uint4 levels_at(const struct nb6_dev &dev, int64_t i)
{
    return *reinterpret_cast<const uint4 *>(dev.level + i);
}

/* The lowest level; who takes no part has the highest as a number without sign. */
__device__ int lowest_level(const struct nb6_dev &dev, shared &s)
{
    uint32_t lowest = 0xffffffffu;
    for (int64_t i = (int64_t)threadIdx.x * LEVELS; i < dev.n; i += THREADS * LEVELS) {
        const uint4 l = levels_at(dev, i);
        lowest = __vminu4(lowest, __vminu4(__vminu4(l.x, l.y), __vminu4(l.z, l.w)));
    }
    for (int half = WARP / 2; half > 0; half /= 2) lowest = __vminu4(lowest, __shfl_xor_sync(ALL, lowest, half));
    lowest = __vminu4(lowest, lowest >> 16);
    lowest = __vminu4(lowest, lowest >> 8) & 0xffu;
    if (lane_of() == 0) s.lowest[warp_of()] = (int32_t)lowest;
    __syncthreads();
    int32_t all = s.lowest[0];
    for (int w = 1; w < WARPS; w++) all = min(all, s.lowest[w]);
    return all;
}

/* A bit for each of four levels that are at most `most`. */
__device__ __forceinline__ uint32_t due_of_four(uint32_t levels, uint32_t most)
{
    const uint32_t is = __vcmpleu4(levels, most) & 0x08040201u;
    return (is | is >> 8 | is >> 16 | is >> 24) & 0xfu;
}

/* Members of the block at t, ascending: those whose step, a power of two, divides t. */
__device__ int64_t list_due(const struct nb6_dev &dev, int64_t t, shared &s)
{
    const uint32_t most = (uint32_t)(__ffsll(t) - 1) * 0x01010101u;
    int64_t n = 0;
    for (int64_t begin = 0; begin < dev.n; begin += THREADS * LEVELS) {
        const int64_t i = begin + (int64_t)threadIdx.x * LEVELS;
        uint32_t due = 0;
        if (i < dev.n) {
            const uint4 l = levels_at(dev, i);
            due = due_of_four(l.x, most) | due_of_four(l.y, most) << 4 | due_of_four(l.z, most) << 8 |
                  due_of_four(l.w, most) << 12;
        }
        int32_t total;
        int64_t at = n + count_before(__popc(due), s, &total);
        for (; due; due &= due - 1) dev.irr[at++] = (int32_t)(i + __ffs((int)due) - 1);
        n += total;
    }
    return n;
}

/* Slots of regular members, ascending. */
__device__ int64_t list_regular(const struct nb6_dev &dev, shared &s)
{
    const int64_t n_irr = dev.control->n_irr;
    int64_t n = 0;
    for (int64_t begin = 0; begin < n_irr; begin += THREADS) {
        const int64_t slot = begin + threadIdx.x;
        const int is_regular = slot < n_irr && dev.is_reg[slot];
        int32_t total;
        const int64_t at = n + count_before(is_regular, s, &total);
        if (is_regular) dev.reg[at] = (int32_t)slot;
        n += total;
    }
    return n;
}

/* ---- stages of bodies ---- */

__device__ struct nb6_dev_sum force_on(const struct nb6_dev &dev, const struct nb6_dev_point &point,
                                       const int32_t *list, int32_t nnb)
{
    struct nb6_dev_sum sum;
    nb6_dev_force_lane(&dev, &point, list, nnb, lane_of(), &sum);
    add_lanes(sum);
    return sum;
}

/* One warp for a member. */
__device__ void make_irregular(const struct nb6_dev &dev, struct nb6_device_word *word, int64_t slot)
{
    const int32_t i = dev.irr[slot];
    const struct nb6_dev_point point = nb6_dev_predict(&dev, i);
    const struct nb6_dev_sum sum = force_on(dev, point, nb6_dev_list(&dev, i), dev.star[i].nnb);
    if (lane_of() != 0) return;
    const int is_regular = nb6_dev_ends_regular_step(&dev, i);
    dev.flag[slot] = 0;
    dev.is_reg[slot] = (int8_t)is_regular;
    nb6_dev_correct_irregular(&dev, slot, &point, &sum);
    atomicAdd((unsigned long long *)&dev.control->pairs_irr_block, (unsigned long long)dev.star[i].nnb);
    if (is_regular) word->any_regular = 1;
    if (dev.flag[slot] & NB6_DEV_UNSOUND_IRR) atomicMin((long long *)&word->unsound, (long long)slot);
}

/* ---- regular forces ---- */

/* Sums of one slice of the sources on some targets, and the bits of neighbours. */
__device__ void make_slice(const struct nb6_dev &dev, int64_t first_target, int64_t n_target, int slice)
{
    const int64_t chunks = nb6_dev_chunks(&dev);
    struct nb6_dev_source own[TOGETHER];
    struct nb6_dev_sum sum[TOGETHER];
    float h2[TOGETHER], dt[TOGETHER];
    int32_t body[TOGETHER];
    bool wanted[TOGETHER], any = false;
    int64_t first, end;
    nb6_dev_slice(&dev, slice, &first, &end);
    for (int m = 0; m < TOGETHER; m++) {
        const int64_t number = first_target + m < n_target ? first_target + m : n_target - 1;
        const struct nb6_dev_target target = dev.target[number];
        wanted[m] = first_target + m < n_target && target.nnb < 0;
        any |= wanted[m];
        body[m] = dev.irr[target.slot];
        own[m] = dev.source[body[m]];
        h2[m] = (float)(target.r_nb * target.r_nb / dev.rules.neighbour_unit);
        dt[m] = (float)nb6_step_length(dev.star[body[m]].level_reg);
        nb6_dev_clear(&sum[m]);
    }
    if (!any) return;
    for (int64_t tile = first; tile < end; tile += NB6_DEV_FLUSH) {
        const int64_t tile_end = min(tile + NB6_DEV_FLUSH, end);
        float part[TOGETHER][6] = {};
        for (int64_t chunk = tile; chunk < tile_end; chunk++) {
            const int64_t j = chunk * WARP + lane_of();
            const struct nb6_dev_source source = dev.source[j];
#pragma unroll
            for (int m = 0; m < TOGETHER; m++) {
                int hit = 0;
                if (j != body[m]) hit = nb6_dev_add_source(&own[m], &source, dt[m], h2[m], dev.rules.weighted, part[m]);
                const uint32_t bits = __ballot_sync(ALL, hit);
                if (lane_of() == 0 && wanted[m]) dev.hit[(first_target + m) * chunks + chunk] = bits;
            }
        }
        for (int m = 0; m < TOGETHER; m++) nb6_dev_flush(part[m], &sum[m]);
    }
    for (int m = 0; m < TOGETHER; m++) {
        add_lanes(sum[m]);
        if (lane_of() == 0 && wanted[m]) dev.partial[(first_target + m) * NB6_DEV_SLICES + slice] = sum[m];
    }
}

/* The list of a target from its bits, by all threads of the block. A target whose list is too long is pending again. */
__device__ void make_list(const struct nb6_dev &dev, struct nb6_device_word *word, int64_t *pending, int64_t m,
                          shared &s)
{
    struct nb6_dev_target *target = &dev.target[m];
    if (target->nnb >= 0) return;
    const int64_t chunks = nb6_dev_chunks(&dev);
    const uint32_t *hit = dev.hit + m * chunks;
    int32_t *list = nb6_dev_staged_list(&dev, dev.irr[target->slot]);
    int64_t n = 0;
    for (int64_t begin = 0; begin < chunks; begin += THREADS) {
        const int64_t chunk = begin + threadIdx.x;
        uint32_t bits = chunk < chunks ? hit[chunk] : 0;
        int32_t total;
        int64_t at = n + count_before(__popc(bits), s, &total);
        for (; bits; bits &= bits - 1, at++)
            if (at < dev.row_room) list[at] = (int32_t)(chunk * WARP + __ffs((int)bits) - 1);
        n += total;
    }
    __syncthreads();
    if (threadIdx.x != 0) return;
    atomicAdd((unsigned long long *)&dev.control->pairs_reg_block, (unsigned long long)dev.rules.step.n_source);
    if (n > dev.rules.list_limit) {
        target->r_nb = nb6_smaller_radius(target->r_nb, dev.rules.list_limit, (int32_t)n);
        atomicAdd((unsigned long long *)&dev.control->overflows_block, 1ull);
        atomicAdd((unsigned long long *)pending, 1ull);
        return;
    }
    target->nnb = (int32_t)n;
    if (n <= dev.row_room) return;
    dev.flag[target->slot] |= NB6_DEV_TOO_LONG;
    atomicMax((long long *)&dev.control->longest, (long long)n);
    word->too_long = 1;
}

/* One warp for a target that has its list. */
__device__ void make_regular(const struct nb6_dev &dev, struct nb6_device_word *word, int64_t m)
{
    const struct nb6_dev_target *target = &dev.target[m];
    const int32_t i = dev.irr[target->slot];
    const struct nb6_dev_point point = nb6_dev_predict(&dev, i);
    const struct nb6_dev_sum sum = force_on(dev, point, nb6_dev_staged_list(&dev, i), target->nnb);
    if (lane_of() != 0) return;
    nb6_dev_correct_regular(&dev, m, &sum);
    if (dev.flag[target->slot] & NB6_DEV_UNSOUND_REG) atomicMin((long long *)&word->unsound, (long long)target->slot);
}

/* Lists of the targets of this thread block, then the corrections of those that are new. */
__device__ void finish_targets(const struct nb6_dev &dev, struct nb6_device_word *word, int64_t *pending, int64_t n,
                               shared &s)
{
    for (int64_t begin = blockIdx.x; begin < n; begin += (int64_t)gridDim.x * WARPS) {
        uint32_t fresh = 0;
        for (int k = 0; k < WARPS; k++) {
            const int64_t m = begin + (int64_t)k * gridDim.x;
            if (m >= n) break;
            fresh |= (uint32_t)(dev.target[m].nnb < 0) << k;
            __syncthreads();
            make_list(dev, word, pending, m, s);
        }
        __syncthreads();
        const int64_t m = begin + (int64_t)warp_of() * gridDim.x;
        if (m < n && fresh >> warp_of() & 1u && dev.target[m].nnb >= 0 && dev.target[m].nnb <= dev.row_room)
            make_regular(dev, word, m);
        __syncthreads();
    }
}

__device__ void make_regular_round(const struct nb6_dev &dev, struct nb6_device_word *word, int64_t first, int64_t n,
                                   shared &s, cg::grid_group &grid)
{
    const int64_t warp = (int64_t)warp_of() * gridDim.x + blockIdx.x, warps = (int64_t)WARPS * gridDim.x;
    const int64_t groups = (n + TOGETHER - 1) / TOGETHER;
    for (int64_t m = grid.thread_rank(); m < n; m += grid.size()) nb6_dev_set_target(&dev, first, m);
    if (grid.thread_rank() == 0) word->pending[0] = word->pending[1] = 0;
    grid.sync();
    for (int round = 0;; round ^= 1) {
        for (int64_t item = warp; item < groups * NB6_DEV_SLICES; item += warps)
            make_slice(dev, item % groups * TOGETHER, n, (int)(item / groups));
        grid.sync();
        if (grid.thread_rank() == 0) word->pending[round ^ 1] = 0;
        finish_targets(dev, word, &word->pending[round], n, s);
        grid.sync();
        if (word->pending[round] == 0) return;
    }
}

/* ---- one block ---- */

/* What is left to be said of the last block: a member that the host has to look at. */
__device__ bool has_candidate(const struct nb6_dev &dev, shared &s)
{
    const int64_t n = dev.control->n_irr;
    int found = 0;
    for (int64_t slot = threadIdx.x; slot < n; slot += THREADS) {
        nb6_dev_look(&dev, slot);
        found |= dev.flag[slot] & NB6_DEV_CANDIDATE;
    }
    return __syncthreads_or(found) != 0;
}

/* The next block, for all threads of the first thread block.   @return 0: the time is beyond t_stop */
__device__ bool select_block(const struct nb6_dev &dev, struct nb6_device_word *word, nb6_time t_stop, shared &s)
{
    struct nb6_dev_control *control = dev.control;
    const int lowest = lowest_level(dev, s);
    const nb6_time t = lowest > NB6_TIME_BITS ? INT64_MAX : ((control->ti_now >> lowest) + 1) << lowest;
    __syncthreads();
    if (threadIdx.x == 0) control->t = t;
    if (t > t_stop) return false;
    const int64_t n = list_due(dev, t, s);
    if (threadIdx.x == 0) {
        control->n_irr = n;
        control->n_reg = 0;
        control->pairs_irr_block = control->pairs_reg_block = control->overflows_block = 0;
        word->any_regular = 0;
        word->is_alone = n <= FEW;
    }
    __syncthreads();
    return true;
}

/* Small blocks without regular members, by the first thread block alone, up to one that is not or a reason to stop.
 *  @return a reason, or -1: all have to make the block that is selected */
__device__ int make_small_blocks(const struct nb6_dev &dev, struct nb6_device_word *word, nb6_time t_stop,
                                 int64_t max_blocks, int64_t &done, shared &s)
{
    struct nb6_dev_control *control = dev.control;
    for (;;) {
        if (done > 0 && has_candidate(dev, s)) return NB6_STOP_ENCOUNTER;
        if (done >= max_blocks) return NB6_STOP_BLOCKS;
        if (!select_block(dev, word, t_stop, s)) return NB6_STOP_REACHED;
        const int64_t n = control->n_irr;
        if (n > FEW) return -1;
        if (warp_of() < n) make_irregular(dev, word, warp_of());
        __syncthreads();
        if (word->unsound != INT64_MAX) return NB6_STOP_NON_FINITE;
        if (word->any_regular) return -1;
        if (threadIdx.x < n) nb6_dev_commit(&dev, threadIdx.x);
        if (threadIdx.x == 0) nb6_dev_count_block(&dev);
        done++;
        __syncthreads();
    }
}

/* Stages 4 to 8 by all.   @return a reason, or -1 */
__device__ int make_block(const struct nb6_dev &dev, struct nb6_device_word *word, shared &s, cg::grid_group &grid)
{
    struct nb6_dev_control *control = dev.control;
    const int64_t n = control->n_irr, warp = (int64_t)warp_of() * gridDim.x + blockIdx.x;
    if (!word->is_alone) {
        for (int64_t slot = warp; slot < n; slot += (int64_t)WARPS * gridDim.x) make_irregular(dev, word, slot);
        grid.sync();
    }
    if (word->any_regular && word->unsound == INT64_MAX) {
        if (blockIdx.x == 0) {
            const int64_t n_reg = list_regular(dev, s);
            if (threadIdx.x == 0) control->n_reg = n_reg;
        }
        const int64_t padded = nb6_dev_chunks(&dev) * WARP;
        for (int64_t j = grid.thread_rank(); j < padded; j += grid.size()) nb6_dev_predict_source(&dev, j);
        grid.sync();
        const int64_t n_reg = control->n_reg;
        for (int64_t first = 0; first < n_reg; first += NB6_DEV_TARGETS)
            make_regular_round(dev, word, first, min(n_reg - first, (int64_t)NB6_DEV_TARGETS), s, grid);
    }
    if (word->unsound != INT64_MAX) return NB6_STOP_NON_FINITE;
    if (word->too_long) return NB6_STOP_OVERFLOW;
    for (int64_t slot = grid.thread_rank(); slot < n; slot += grid.size()) nb6_dev_commit(&dev, slot);
    return -1;
}

__global__ void __launch_bounds__(THREADS, 1)
    make_blocks(const __grid_constant__ struct nb6_dev dev, struct nb6_device_word *word, nb6_time t_stop,
                int64_t max_blocks)
{
    __shared__ shared s;
    cg::grid_group grid = cg::this_grid();
    int64_t done = 0;
    for (;;) {
        if (blockIdx.x == 0) {
            const int reason = make_small_blocks(dev, word, t_stop, max_blocks, done, s);
            if (threadIdx.x == 0) word->reason = reason;
        }
        grid.sync();
        if (word->reason >= 0) return;
        const int reason = make_block(dev, word, s, grid);
        if (reason >= 0) {
            if (grid.thread_rank() == 0) word->reason = reason;
            return;
        }
        grid.sync();
        if (grid.thread_rank() == 0) nb6_dev_count_block(&dev);
        done++;
        if (blockIdx.x == 0) __syncthreads();
    }
}

} // namespace

cudaError_t nb6_device_blocks(int device, int *blocks)
{
    int multiprocessors = 0, cooperative = 0, per_one = 0;
    *blocks = 0;
    cudaError_t code = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    if (code == cudaSuccess) code = cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, device);
    if (code == cudaSuccess) code = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_one, make_blocks, THREADS, 0);
    if (code == cudaSuccess && cooperative && per_one > 0) *blocks = multiprocessors;
    return code;
}

cudaError_t nb6_device_run(const struct nb6_dev *dev, struct nb6_device_word *word, nb6_time t_stop, int64_t max_blocks,
                           int blocks, cudaStream_t stream)
{
    struct nb6_dev copy = *dev;
    void *arguments[] = {&copy, &word, &t_stop, &max_blocks};
    return cudaLaunchCooperativeKernel((const void *)make_blocks, dim3((unsigned)blocks), dim3(THREADS), arguments, 0,
                                       stream);
}
