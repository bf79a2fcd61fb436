/** Select: the members of the next block, found by one block of threads, or by all if there are many bodies.
 *
 *  Levels of all bodies are scanned, 16 at a time. Most blocks have a few members with the shortest steps. So the
 *  bodies up to some level, the *fast* ones, are kept in a list, and only their levels are scanned until a block has
 *  members with longer steps: in no other block can a body become a fast one. All fast bodies are members of that
 *  block, so that the next list is found among its members. If there are many bodies, all threads search for these. */
#ifndef NB6_CUDA_SELECT_CUH
#define NB6_CUDA_SELECT_CUH

#include "nbody6/engine/cuda/host_mailbox.cuh"
#include "nbody6/engine/cuda/warp.cuh"
#include "nbody6/engine/stages/regular.h"
#include "nbody6/engine/stages/select.h"

namespace
{

constexpr int LEVELS = 16; /* levels that a thread reads at a time */
constexpr int FAST_EACH = 2, FAST = FAST_EACH * THREADS;
constexpr int NO_LEVEL = NB6_TIME_BITS + 1; /* above all levels */
/* From so many bodies on all threads scan. Members of a block are searched for fast bodies if they are at most such
 * a part of all bodies; otherwise levels of all bodies are scanned. */
constexpr int64_t SCANNED_BY_ALL = 8 * THREADS * LEVELS, PART_OF_ALL = 32;
constexpr int64_t NOT_YET = -1; /* result: all threads have to search for the members */

struct selection {
    int32_t fast[FAST];
    int32_t n_fast;     /* -1: the list has to be made anew */
    int32_t fast_level; /* level of the longest steps in the list */
    int32_t try_level;  /* level to begin with when the list is made */
    int32_t lowest, found;
    int32_t n_reg;      /* members that end their regular step, */
    int32_t is_known;   /* if this is 1 */
    int32_t few[WARPS]; /* members of a block, if all are fast ones, as far as there is room */
    nb6_time ti_now;    /* time of the last block */
    int32_t most;       /* level of the longest steps of the block, if these are longer than those of fast bodies */
};

__device__ __forceinline__ uint4 levels_at(int64_t i)
{
    return *reinterpret_cast<const uint4 *>(dev.level + i);
}

/* A bit for each of four levels that are at most `most`. The level of bodies that take no part is the largest
 * unsigned number. */
__device__ __forceinline__ uint32_t up_to_level(uint32_t levels, uint32_t most)
{
    const uint32_t is = __vcmpleu4(levels, most) & 0x08040201u;
    return (is | is >> 8 | is >> 16 | is >> 24) & 0xfu;
}

/* The same for 16 levels. */
__device__ __forceinline__ uint32_t all_up_to_level(uint4 l, uint32_t most)
{
    return up_to_level(l.x, most) | up_to_level(l.y, most) << 4 | up_to_level(l.z, most) << 8 |
           up_to_level(l.w, most) << 12;
}

__device__ __forceinline__ uint32_t lowest_of_four(uint32_t levels)
{
    levels = __vminu4(levels, levels >> 16 | 0xffff0000u);
    return __vminu4(levels, levels >> 8 | 0xffffff00u) & 0xffu;
}

/* List bodies of levels up to `level`, in any order, as far as there is room, and find the lowest level of all.
 * @return their number, s.lowest */
__device__ __noinline__ int list_levels(int level, int32_t *list, int64_t room, selection &s)
{
    const uint32_t most = (uint32_t)level * 0x01010101u;
    uint32_t lowest = 0xffffffffu;
    __syncthreads();
    if (threadIdx.x == 0) {
        s.found = 0;
        s.lowest = NO_LEVEL;
    }
    __syncthreads();
    for (int64_t begin = 0; begin < dev.n; begin += THREADS * LEVELS) {
        const int64_t i = begin + (int64_t)threadIdx.x * LEVELS;
        uint32_t is = 0;
        if (i < dev.n) {
            const uint4 l = levels_at(i);
            lowest = __vminu4(lowest, __vminu4(__vminu4(l.x, l.y), __vminu4(l.z, l.w)));
            is = all_up_to_level(l, most);
        }
        int32_t total, base = 0;
        const int32_t up_to = count_up_to(__popc(is), &total);
        if (total == 0) continue;
        if (lane_of() == 0) base = atomicAdd(&s.found, total);
        int64_t at = __shfl_sync(ALL, base, 0) + up_to - __popc(is);
        for (; is; is &= is - 1, at++)
            if (at < room) list[at] = (int32_t)(i + __ffs((int)is) - 1);
    }
    const uint32_t own = min(lowest_of_four(lowest), (uint32_t)NO_LEVEL);
    const uint32_t of_warp = lowest_of_lanes(own);
    if (lane_of() == 0) atomicMin(&s.lowest, (int32_t)of_warp);
    __syncthreads();
    return s.found;
}

/* List bodies of levels up to `most` by all threads of the device: the members of the block. *found, which was zero,
 * is their number. */
__device__ __noinline__ void list_due_by_all(int level, int32_t *found)
{
    const uint32_t most = (uint32_t)level * 0x01010101u;
    const int64_t warp = (int64_t)warp_of() * gridDim.x + blockIdx.x, step = (int64_t)gridDim.x * THREADS * LEVELS;
    for (int64_t begin = warp * WARP * LEVELS; begin < dev.n; begin += step) {
        const int64_t i = begin + lane_of() * LEVELS;
        const uint32_t due = i < dev.n ? all_up_to_level(levels_at(i), most) : 0;
        int32_t total, base = 0;
        const int32_t up_to = count_up_to(__popc(due), &total);
        if (total == 0) continue;
        if (lane_of() == 0) base = atomicAdd(found, total);
        int64_t at = __shfl_sync(ALL, base, 0) + up_to - __popc(due);
        for (uint32_t is = due; is; is &= is - 1, at++) dev.irr[at] = (int32_t)(i + __ffs((int)is) - 1);
    }
}

/* list_levels among the n members of the last block. */
__device__ __noinline__ int list_levels_of(int64_t n, int level, int32_t *list, int64_t room, selection &s)
{
    constexpr int AT_A_TIME = 4;
    uint32_t lowest = NO_LEVEL;
    __syncthreads();
    if (threadIdx.x == 0) {
        s.found = 0;
        s.lowest = NO_LEVEL;
    }
    __syncthreads();
    for (int64_t begin = threadIdx.x; begin < n; begin += AT_A_TIME * THREADS) {
        int32_t member[AT_A_TIME];
        uint32_t own[AT_A_TIME];
#pragma unroll
        for (int k = 0; k < AT_A_TIME; k++) member[k] = dev.irr[min(begin + k * THREADS, n - 1)];
#pragma unroll
        for (int k = 0; k < AT_A_TIME; k++) own[k] = begin + k * THREADS < n ? (uint8_t)dev.level[member[k]] : NO_LEVEL;
#pragma unroll
        for (int k = 0; k < AT_A_TIME; k++) {
            lowest = min(lowest, own[k]);
            if (own[k] > (uint32_t)level) continue;
            const int32_t at = atomicAdd(&s.found, 1);
            if (at < room) list[at] = member[k];
        }
    }
    lowest = lowest_of_lanes(lowest);
    if (lane_of() == 0) atomicMin(&s.lowest, (int32_t)lowest);
    __syncthreads();
    return s.found;
}

/* List the fast bodies, of a level for which the list has room, and up to `highest`: among the n members of the last
 * block; n < 0: among all bodies.   @return the lowest level of those */
__device__ int find_fast_among(int64_t n_members, int highest, selection &s)
{
    int level = min(s.try_level, highest);
    for (;;) {
        const int n =
            n_members < 0 ? list_levels(level, s.fast, FAST, s) : list_levels_of(n_members, level, s.fast, FAST, s);
        const int lowest = s.lowest;
        __syncthreads();
        if (lowest > highest) return lowest;
        if (n == 0 && lowest < NO_LEVEL) {
            level = min(lowest + 1, highest);
        } else if (n > FAST && level > lowest) {
            level--;
        } else {
            if (threadIdx.x == 0) {
                s.n_fast = n > FAST ? -1 : n;
                s.fast_level = level;
                s.try_level = n < FAST / 4 && level < NB6_TIME_BITS ? level + 1 : level;
            }
            __syncthreads();
            return lowest;
        }
    }
}

/* @return the lowest level of all */
__device__ int find_fast(selection &s)
{
    const int64_t n = dev.control->n_irr;
    const int highest = s.most;
    if (highest >= 0 && n <= dev.n / PART_OF_ALL) {
        const int lowest = find_fast_among(n, highest, s);
        if (lowest <= highest) return lowest;
    }
    return find_fast_among(-1, NB6_TIME_BITS, s);
}

/* Levels of the fast bodies, and the lowest one. */
__device__ int lowest_of_fast(int (&levels)[FAST_EACH], selection &s)
{
    if (threadIdx.x == 0) s.lowest = NO_LEVEL;
    uint32_t lowest = NO_LEVEL;
#pragma unroll
    for (int k = 0; k < FAST_EACH; k++) {
        const int at = k * THREADS + threadIdx.x;
        levels[k] = at < s.n_fast ? (uint8_t)dev.level[s.fast[at]] : NO_LEVEL;
        lowest = min(lowest, (uint32_t)levels[k]);
    }
    lowest = lowest_of_lanes(lowest);
    __syncthreads();
    if (lane_of() == 0) atomicMin(&s.lowest, (int32_t)lowest);
    __syncthreads();
    return s.lowest;
}

__device__ __forceinline__ void take_due(const int (&levels)[FAST_EACH], nb6_time t, int most, selection &s,
                                         service_memory &service)
{
    const bool has_service = service.reply.n_ask > 0;
#pragma unroll
    for (int k = 0; k < FAST_EACH; k++) {
        if (levels[k] > most) continue;
        const int32_t i = s.fast[k * THREADS + threadIdx.x], member = atomicAdd(&s.found, 1);
        dev.irr[member] = i;
        if (member < WARPS) s.few[member] = i;
        if (has_service) find_service_of(i, service);
        if (!nb6_dev_ends_regular_step(&dev, i, t)) continue;
        const int32_t m = atomicAdd(&s.n_reg, 1);
        dev.reg[m] = member;
        if (m < dev.targets) nb6_dev_set_target(&dev, 0, m);
    }
}

/* Level of the longest steps that end at t. */
__device__ __forceinline__ int most_at(nb6_time t)
{
    return min(__ffsll(t) - 1, NB6_TIME_BITS);
}

/* Levels that decide about the next block. */
struct next_block {
    int levels[FAST_EACH]; /* levels of the fast bodies of this thread, if they are known */
    int lowest;            /* lowest level of all bodies */
};

/* Called when levels are those at the end of the last block, which may still be under way to its commit. */
__device__ __forceinline__ next_block find_next(selection &s)
{
    next_block next;
    const bool is_known = s.n_fast >= 0;
    next.lowest = is_known ? lowest_of_fast(next.levels, s) : NO_LEVEL;
    __syncthreads();
    if (!is_known || next.lowest > s.fast_level) {
        next.lowest = find_fast(s);
        if (s.n_fast >= 0) lowest_of_fast(next.levels, s);
    }
    return next;
}

/* Select the block after s.ti_now: its time, its members in any order, s.is_known and s.n_reg, and members for the
 * host service, if all members are fast bodies.
 * @return their number; 0: *t is later than t_stop; NOT_YET: members are the bodies of levels up to s.most */
__device__ __forceinline__ int64_t select_members(const next_block &next, nb6_time t_stop, nb6_time *t, selection &s,
                                                  service_memory &service)
{
    const int lowest = next.lowest;
    *t = lowest >= NO_LEVEL ? INT64_MAX : ((s.ti_now >> lowest) + 1) << lowest;
    if (*t > t_stop) return 0;
    const int most = most_at(*t);
    const bool is_among_fast = s.n_fast >= 0 && most <= s.fast_level;
    __syncthreads();
    if (threadIdx.x == 0) {
        s.found = s.n_reg = 0;
        s.is_known = is_among_fast;
        if (!is_among_fast) s.n_fast = -1;
        s.most = is_among_fast ? -1 : most;
        clear_found(service);
    }
    if (!is_among_fast && dev.n >= SCANNED_BY_ALL) return NOT_YET;
    if (!is_among_fast) return list_levels(most, dev.irr, dev.n, s);
    __syncthreads();
    take_due(next.levels, *t, most, s, service);
    __syncthreads();
    return s.found;
}

} // namespace

#endif
