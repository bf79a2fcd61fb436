/** Pairs of targets, of gpunb_regf_device, act on each other, and both sums have more than half of the arithmetic in
 *  common, which is done once. It applies to groups of targets along the curve that are *apart*, as nearly all are:
 *  no target of one group is a neighbour of one of the other. The remaining sums are those of slices of tiles
 *  (gpunb/cuda/left.cuh).
 *
 *  Each lane of a warp has some targets, and goes through the sources of a tile in an order of its own. The sums on
 *  these sources pass from lane to lane with them. Sums are added to integers in memory, in a unit for each group
 *  that fits its largest sum: so neither the order of additions nor the GPU that makes them changes the result. */
#ifndef GPUNB_CUDA_MUTUAL_CUH
#define GPUNB_CUDA_MUTUAL_CUH

#include "gpunb/cuda/sorted.cuh"
#include "gpunb/cuda/tiles.cuh"
#include "gpunb/cuda/warp.cuh"
#include "gpunb/device/regular.h"

namespace
{

constexpr int SIDE = GPUNB_DEV_GROUP / WARP; /* tiles in a group of targets, one target of each for a lane */
using job_of_sums = struct gpunb_dev_job;

/* Shared memory of a warp: two tiles in flight without low parts, and the centres of the tiles of its targets. */
struct mutual_memory {
    float4 units[2][TILE_LOW];
    float4 centre[SIDE];
};

/* ---- groups, and which are apart */

struct range_of_lane {
    float low, high;
    __device__ __forceinline__ void add(float x)
    {
        low = fminf(low, x);
        high = fmaxf(high, x);
    }
};

/* The record of a group, but for its units, by a warp, when sources are sorted. */
__device__ __forceinline__ void make_group(const job_of_sums &c, int64_t group)
{
    struct gpunb_dev_group g = {};
    range_of_lane x[3], v[3];
    double mass = 0;
    for (int k = 0; k < 3; k++) x[k] = v[k] = {INFINITY, -INFINITY};
    for (int side = 0; side < SIDE; side++) {
        const int32_t j = c.sums.order[(group * SIDE + side) * WARP + lane_of()];
        const struct gpunb_dev_source &source = c.sums.source[j];
        const struct gpunb_dev_asked &asked = c.asked[c.sums.owner[j]];
        for (int k = 0; k < 3; k++) {
            x[k].add(source.high[k]);
            v[k].add(source.v[k]);
        }
        g.size = fmaxf(g.size, source.size);
        g.h = fmaxf(g.h, (float)sqrt(asked.r_nb2));
        g.dt = fmaxf(g.dt, (float)asked.dt_reg);
        mass += (double)source.mass;
    }
    for (int k = 0; k < 3; k++) {
        g.centre[k] = middle_of_range(x[k].low, x[k].high, true, &g.extent[k]);
        g.v[k] = middle_of_range(v[k].low, v[k].high, true, &g.extent_v[k]);
    }
    g.size = highest_of_lanes(g.size);
    g.h = highest_of_lanes(g.h);
    g.dt = highest_of_lanes(g.dt);
    g.mass = (float)sum_of_lanes(mass);
    g.diagonal = norm3df(g.extent[0], g.extent[1], g.extent[2]);
    if (lane_of() == 0) c.sums.group[group] = g;
}

/* Relation of two groups; bitwise the same in either order. */
struct two_groups {
    bool are_apart;
    float distance2; /* distance of their boxes now, not rounded up */
    float speed;     /* largest velocity of a target relative to one of the other group */
};

/* Groups are apart if no target of one can be a neighbour of a target of the other, or so near that differences need
 * two floats. */
__device__ __forceinline__ two_groups look_at_groups(const struct gpunb_dev_group &a, const struct gpunb_dev_group &b)
{
    const vec3 d = vector_of(a.centre) - vector_of(b.centre), extent = vector_of(a.extent) + vector_of(b.extent);
    const vec3 most_v = most_of(vector_of(a.v) - vector_of(b.v), vector_of(a.extent_v) + vector_of(b.extent_v));
    const float dt = fmaxf(a.dt, b.dt), reach = fmaxf(a.h * b.size, b.h * a.size);
    return {is_far_box(d, times_plus(dt, most_v, extent), {}, {}, 0, reach, fmaxf(a.diagonal, b.diagonal)),
            distance2_to_box(d, extent), norm3df(most_v.x, most_v.y, most_v.z)};
}

/* Whether pairs of a group and a chunk are summed once for both. */
__device__ __forceinline__ bool is_apart(const job_of_sums &c, int64_t group, int64_t chunk)
{
    const int64_t other = chunk / SIDE;
    if (group >= c.groups || other >= c.groups) return false;
    return c.sums.apart[group * gpunb_dev_words(c.groups) + other / WARP] >> other % WARP & 1;
}

/* Groups that are apart from one group: their bits, their number, and the units of the group, which bound the sums
 * of all its targets. Executed by a warp. */
__device__ __forceinline__ void find_apart(const job_of_sums &c, int64_t group)
{
    const struct gpunb_dev_group own = c.sums.group[group];
    double acc = 0, jerk = 0;
    const int64_t words = gpunb_dev_words(c.groups);
    int32_t number = 0;
    for (int64_t word = 0; word < words; word++) {
        const int64_t other = min(word * WARP + lane_of(), c.groups - 1);
        const two_groups two = look_at_groups(own, c.sums.group[other]);
        const bool are_apart = two.are_apart && word * WARP + lane_of() < c.groups;
        if (are_apart) {
            const double r2 = two.distance2, of_one = (double)c.sums.group[other].mass / r2;
            acc += of_one;
            jerk += 4 * of_one * (double)two.speed / sqrt(r2);
        }
        const uint32_t bits = __ballot_sync(ALL, are_apart);
        if (lane_of() == 0) c.sums.apart[group * words + word] = bits;
        number += __popc(bits);
    }
    const int32_t of_acc = gpunb_dev_unit_for(sum_of_lanes(acc)), of_jerk = gpunb_dev_unit_for(sum_of_lanes(jerk));
    if (lane_of() < 2) c.sums.group[group].unit[lane_of()] = lane_of() == 0 ? of_acc : of_jerk;
    if (lane_of() == 0) c.sums.group[group].apart = number;
}

/* Chunks whose sums on PAIR_TARGETS targets remain, plus the constant cost of a slice in chunks. */
__device__ __forceinline__ int32_t cost_of(const job_of_sums &c, int64_t pair)
{
    const int64_t chunks = gpunb_dev_chunks(&c.sums), group = pair * PAIR_TARGETS / GPUNB_DEV_GROUP;
    return (int32_t)(chunks - (group < c.groups ? SIDE * c.sums.group[group].apart : 0) + chunks / 32);
}

/* Slices of a round, by a warp: one for each group, and the others of all warps of all GPUs in proportion to the
 * remaining sums. */
__device__ __forceinline__ void slice_round(const job_of_sums &c, int64_t round)
{
    const int64_t pairs = c.each / PAIR_TARGETS, first = round * pairs;
    const int64_t end = min(first + pairs, (c.n + PAIR_TARGETS - 1) / PAIR_TARGETS);
    const int64_t warps = c.sums.gpus * warps_of_all() - (end - first),
                  most = max(gpunb_dev_chunks(&c.sums) / 4, (int64_t)1);
    int32_t total = 0, before = 0, of_some;
    for (int64_t begin = first; begin < end; begin += WARP) {
        count_up_to(begin + lane_of() < end ? cost_of(c, begin + lane_of()) : 0, &of_some);
        total += of_some;
    }
    for (int64_t begin = first; begin < end; begin += WARP) {
        const int64_t pair = begin + lane_of();
        const int32_t own = pair < end ? cost_of(c, pair) : 0;
        const int32_t up_to = before + count_up_to(own, &of_some);
        const int64_t at = warps * (up_to - own) / total, next = warps * up_to / total;
        before += of_some;
        if (pair < end) c.sums.slices[pair] = {(int32_t)(at + pair - first), (int32_t)min(next - at + 1, most)};
    }
}

/* ---- sums in units */

/* Convert a float to units and add it to a sum of at most 2^GPUNB_DEV_UNIT_BITS units. Added to 1.5 x 2^52 the float
 * becomes an integer in the low bits of the double.   @return not 0: the sum is larger, or not a number */
__device__ __forceinline__ int32_t add_in_units(int64_t *sum, float part, double per_unit)
{
    constexpr double ONE_AND_A_HALF = 6755399441055744.0;
    constexpr int32_t EXPONENT = 1023 + 52;
    const double whole = fma((double)part, per_unit, ONE_AND_A_HALF);
    atomicAdd(reinterpret_cast<unsigned long long *>(sum),
              (unsigned long long)(__double_as_longlong(whole) - __double_as_longlong(ONE_AND_A_HALF)));
    return __double2hiint(whole) >> 20 ^ EXPONENT;
}

__device__ __forceinline__ int64_t mutual_targets(const job_of_sums &c)
{
    return c.groups * GPUNB_DEV_GROUP;
}

/* The units of the six components of a target. */
__device__ __forceinline__ void add_part(const job_of_sums &c, int64_t place, const pair_sums &part,
                                         const double (&per_unit)[2])
{
    int32_t is_spoiled = 0;
#pragma unroll
    for (int k = 0; k < 3; k++) {
        is_spoiled |= add_in_units(&c.sums.mutual[k * mutual_targets(c) + place], part.acc[k], per_unit[0]);
        is_spoiled |= add_in_units(&c.sums.mutual[(3 + k) * mutual_targets(c) + place], part.jerk[k], per_unit[1]);
    }
    if (is_spoiled) c.sums.group[place / GPUNB_DEV_GROUP].is_spoiled = 1;
}

__device__ __forceinline__ void units_of(const job_of_sums &c, int64_t group, double (&per_unit)[2])
{
    per_unit[0] = nbc_power_of_two(-c.sums.group[group].unit[0]);
    per_unit[1] = nbc_power_of_two(-c.sums.group[group].unit[1]);
}

/* Set all sums to zero, by all threads. */
__device__ __forceinline__ void clear_mutual(const job_of_sums &c, const grid_of_blocks &grid)
{
    for (int64_t k = grid.rank(); k < 6 * mutual_targets(c); k += grid.size()) c.sums.mutual[k] = 0;
}

/* ---- pairs */

/* Targets of a lane, one of each tile of a group; x: from the centre of the tile. */
struct group_side {
    vec3 x[SIDE], v[SIDE];
    float mass[SIDE];
    pair_sums part[SIDE];
};

__device__ __forceinline__ void fetch_side(const job_of_sums &c, int64_t group, group_side &side, float4 *centre)
{
    __syncwarp();
#pragma unroll
    for (int w = 0; w < SIDE; w++) {
        const float4 *units = reinterpret_cast<const float4 *>(c.sums.tile[group * SIDE + w].unit);
        const float4 x = units[TILE_X + lane_of()];
        side.x[w] = first3(x);
        side.v[w] = first3(units[TILE_V + lane_of()]);
        side.mass[w] = x.w;
        side.part[w] = {};
        if (lane_of() == 0) centre[w] = units[0];
    }
    __syncwarp();
}

/* A source on its way into the sums, and its relation to a target: the difference of positions, and 1/r. */
struct staged_pair {
    vec3 r;
    float y;
};

__device__ __forceinline__ staged_pair stage_pair(vec3 from, float4 x)
{
    const vec3 r = from + first3(x);
    return {r, rsqrt_hardware(dot(r, r))};
}

/* A target and a source at r relative to it, with velocity v: the terms that each adds to the sum of the other. */
__device__ __forceinline__ void add_both(const staged_pair &pair, vec3 v, float mass, float mass_source,
                                         pair_sums &part, pair_sums &of_source)
{
    const vec3 r = pair.r;
    const float y2 = pair.y * pair.y, y3 = pair.y * y2;
    const float alpha = (-3.0f * y2) * dot(r, v), from_source = mass_source * y3, from_target = mass * y3;
    const vec3 u = times_plus(alpha, r, v);
    add_times(from_source, r, part.acc);
    add_times(from_source, u, part.jerk);
    add_times(-from_target, r, of_source.acc);
    add_times(-from_target, u, of_source.jerk);
}

/* The lane number in a form that stays in a register, instead of being read again in each round of a loop. */
__device__ __forceinline__ unsigned kept_lane()
{
    unsigned lane;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}

/* Each lane takes the values of the next one. */
__device__ __forceinline__ void pass_on(pair_sums &sums, unsigned next)
{
#pragma unroll
    for (int k = 0; k < 3; k++) {
        sums.acc[k] = __shfl_sync(ALL, sums.acc[k], (int)next);
        sums.jerk[k] = __shfl_sync(ALL, sums.jerk[k], (int)next);
    }
}

/* A tile of sources and the targets of this warp, and the reaction on the source with the lane's number. The load
 * and 1/r of the next pair overlap with the sums of the present one. */
__device__ __forceinline__ pair_sums sum_mutual_tile(const float4 *units, const float4 *centre, group_side &side)
{
    const unsigned lane = kept_lane(), next_lane = (lane + 1) % WARP;
    pair_sums of_source = {};
    vec3 from[SIDE];
#pragma unroll
    for (int w = 0; w < SIDE; w++) from[w] = (first3(units[0]) - first3(centre[w])) - side.x[w];
    float4 x = units[TILE_X + lane];
    staged_pair now = stage_pair(from[0], x);
#pragma unroll 8
    for (unsigned k = 0; k < WARP; k++) {
        const float4 v = units[TILE_V + (lane + k) % WARP], x_next = units[TILE_X + (lane + k + 1) % WARP];
#pragma unroll
        for (int w = 0; w < SIDE; w++) {
            const staged_pair next = w < SIDE - 1 ? stage_pair(from[w + 1], x) : stage_pair(from[0], x_next);
            add_both(now, first3(v) - side.v[w], side.mass[w], x.w, side.part[w], of_source);
            now = next;
        }
        x = x_next;
        pass_on(of_source, next_lane);
    }
    return of_source;
}

/* Groups form a ring, and each is summed with the groups up to half way around it. This is their number; with an
 * even number of groups the last one would be met twice. */
__device__ __forceinline__ int64_t half_of_ring(const job_of_sums &c)
{
    return c.groups / 2;
}

__device__ __forceinline__ int64_t on_ring(const job_of_sums &c, int64_t group)
{
    return group < c.groups ? group : group - c.groups;
}

/* Bit k: the group at distance first + k along the ring is apart from this one, for first + k < end. */
__device__ __forceinline__ uint32_t apart_behind(const job_of_sums &c, int64_t group, int64_t first, int64_t end)
{
    const int64_t behind = first + lane_of();
    const bool is_twice = 2 * behind == c.groups && group >= half_of_ring(c);
    return __ballot_sync(ALL, behind < end && !is_twice && is_apart(c, group, on_ring(c, group + behind) * SIDE));
}

/* Sums of the targets of a warp so far. */
__device__ __forceinline__ void flush_side(const job_of_sums &c, int64_t group, group_side &side)
{
    double per_unit[2];
    units_of(c, group, per_unit);
#pragma unroll
    for (int w = 0; w < SIDE; w++) {
        add_part(c, (group * SIDE + w) * WARP + lane_of(), side.part[w], per_unit);
        side.part[w] = {};
    }
}

/* Sum the targets of this warp, which are own_group, with the groups of some bits, from `first` on. */
__device__ __forceinline__ void sum_with_groups(const job_of_sums &c, int64_t first, uint32_t bits, int64_t own_group,
                                                group_side &side, mutual_memory &memory)
{
    int now = 0;
    int64_t group = on_ring(c, first + __ffs((int)bits) - 1);
    begin_copy<TILE_LOW>(memory.units[0], &c.sums.tile[group * SIDE]);
    while (bits) {
        double per_unit[2];
        bits &= bits - 1;
        const int64_t next = bits ? on_ring(c, first + __ffs((int)bits) - 1) : -1;
        units_of(c, group, per_unit);
#pragma unroll 1
        for (int tile = 0; tile < SIDE; tile++, now ^= 1) {
            const int64_t following = tile < SIDE - 1 ? group * SIDE + tile + 1 : next * SIDE;
            await_copy(following >= 0, [&]() { begin_copy<TILE_LOW>(memory.units[now ^ 1], &c.sums.tile[following]); });
            const pair_sums of_source = sum_mutual_tile(memory.units[now], memory.centre, side);
            add_part(c, (group * SIDE + tile) * WARP + lane_of(), of_source, per_unit);
            __syncwarp();
        }
        flush_side(c, own_group, side);
        group = next;
    }
}

/* Columns of a unit of work, which is a part of a row. Units are small enough for each warp to have many of them. */
__device__ __forceinline__ int64_t width_of_units(const job_of_sums &c)
{
    constexpr int64_t WIDEST = 8, UNITS = 16;
    return max(min(c.groups * half_of_ring(c) / (UNITS * c.sums.gpus * warps_of_all()), WIDEST), (int64_t)1);
}

/* Take the next unit of work of this GPU, by a warp. */
__device__ __forceinline__ int64_t take_unit(uint32_t *taken)
{
    uint32_t own = 0;
    if (lane_of() == 0) own = atomicAdd(taken, 1u);
    return __shfl_sync(ALL, own, 0);
}

/* All units of the k-th GPU, by all its threads. */
__device__ __forceinline__ void sum_mutual(const job_of_sums &c, int64_t k, mutual_memory &memory)
{
    uint32_t *taken = &c.sums.counter[GPUNB_DEV_TAKEN];
    const int64_t width = width_of_units(c), each = (half_of_ring(c) + width - 1) / width, units = c.groups * each;
    const int64_t begin = units * k / c.sums.gpus, end = units * (k + 1) / c.sums.gpus;
    for (int64_t unit = begin + take_unit(taken); unit < end; unit = begin + take_unit(taken)) {
        const int64_t group = unit / each, behind = unit % each * width + 1;
        const uint32_t bits = apart_behind(c, group, behind, min(behind + width, half_of_ring(c) + 1));
        group_side side;
        if (bits == 0) continue;
        fetch_side(c, group, side, memory.centre);
        sum_with_groups(c, group + behind, bits, group, side, memory);
    }
}

/* Groups of sorted targets, which of them are apart, and the slices of all rounds, by all threads. */
__device__ __forceinline__ void prepare_mutual(const job_of_sums &c, grid_of_blocks &grid)
{
    const int64_t rounds = (c.n + c.each - 1) / c.each;
    for (int64_t group = warp_of_all(); group < c.groups; group += warps_of_all()) make_group(c, group);
    clear_mutual(c, grid);
    grid.sync();
    for (int64_t group = warp_of_all(); group < c.groups; group += warps_of_all()) find_apart(c, group);
    grid.sync();
    for (int64_t round = warp_of_all(); round < rounds; round += warps_of_all()) slice_round(c, round);
}

} // namespace

#endif
