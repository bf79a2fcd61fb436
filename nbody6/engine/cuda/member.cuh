/** Stages of one member of a block by a warp: irregular force, irregular corrector, commit. */
#ifndef NB6_CUDA_MEMBER_CUH
#define NB6_CUDA_MEMBER_CUH

#include "nbody6/engine/cuda/block.h"
#include "nbody6/engine/cuda/corrector.cuh"
#include "nbody6/engine/cuda/warp.cuh"
#include "nbody6/engine/stages/commit.h"
#include "nbody6/engine/stages/force.h"
#include "nbody6/engine/stages/regular.h"
#include "nbody6/engine/stages/select.h"

namespace
{

__device__ __forceinline__ void add_to(uint64_t *counter, uint64_t number)
{
    atomicAdd(reinterpret_cast<unsigned long long *>(counter), (unsigned long long)number);
}

/* Report a member with a NaN: the one with the lowest number, whatever the order of threads. */
__device__ __forceinline__ void note_unsound(int64_t *unsound, int32_t i, int64_t member)
{
    atomicMin(reinterpret_cast<long long *>(unsound), (long long)i << 32 | member);
}

constexpr int32_t NONE_NEAR = -1, SEVERAL_NEAR = -2;

/* The near neighbour among all lanes that alone can be the nearest one after the corrector; SEVERAL_NEAR if there
 * are several. The corrector moves each body by two percent of the distance at most (NB6_DEV_NEAR_MARGIN), which
 * turns two equal distances into 1.04/0.96 of each other, and their squares into less than APART. */
__device__ __forceinline__ int32_t near_of_lanes(const struct nb6_dev_near &own)
{
    constexpr float APART = 1.25f;
    if (!__any_sync(ALL, own.body >= 0)) return NONE_NEAR;
    const float limit = APART * nbc_float_of_bits(lowest_of_lanes(nbc_bits_of_float(own.r2)));
    const uint32_t nearest = __ballot_sync(ALL, own.r2 <= limit);
    const bool is_crowd = __any_sync(ALL, own.next_r2 <= limit) || __popc(nearest) > 1;
    const int32_t body = __shfl_sync(ALL, own.body, __ffs((int)nearest) - 1);
    return is_crowd ? SEVERAL_NEAR : body;
}

/* The irregular force on a member; *near: as near_of_lanes. */
__device__ __forceinline__ component force_on(const struct nb6_dev_point &point, const int32_t *list, int32_t nnb,
                                              nb6_time t, int32_t *near)
{
    struct gpunb_dev_sum sum;
    struct nb6_dev_near own;
    nb6_dev_force_lane(&dev, &point, list, nnb, t, lane_of(), &sum, &own);
    *near = near_of_lanes(own);
    return add_lanes(sum);
}

/* A member that ends its regular step becomes a target. */
__device__ void add_target(struct nb6_device_control_block *control_block, int64_t member)
{
    const int64_t m = atomicAdd(&control_block->n_reg, 1);
    dev.reg[m] = (int32_t)member;
    if (m < dev.targets) nb6_dev_set_target(&dev, 0, m);
}

/* Results of the irregular stages for a member, up to the commit, one component on each axis. */
struct irregular_step {
    int32_t i, nnb, near; /* as near_of_lanes */
    bool is_sound;
    component end; /* the irregular force with additions of systems and field */
    corrected_axis c;
};

/* Wait until the first block of threads has set corrections, while others make forces (serve_beside). */
__device__ __forceinline__ void await_corrections(const int32_t *is_corrected)
{
    int32_t are_there;
    do {
        asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(are_there) : "l"(is_corrected) : "memory");
    } while (!are_there);
}

/* @param[in] is_first  member of the block
 * @param[in] await  called with is_watched; returns when the correction of a watched member is set */
template <typename waiter>
__device__ __forceinline__ irregular_step step_irregular(int32_t i, nb6_time t, bool is_first, const waiter &await)
{
    irregular_step s;
    s.i = i;
    const struct nb6_star &star = dev.star[s.i];
    const int axis = axis_of();
    const component begin = {star.acc_irr[axis], star.jerk_irr[axis]};
    const double acc_reg = star.acc_reg[axis];
    s.nnb = star.nnb;
    const struct nb6_dev_point point = nb6_dev_predict(&dev, s.i, t);
    s.end = force_on(point, nb6_dev_list(&dev, s.i), s.nnb, t, &s.near);
    const double x = on_axis(point.x), v = on_axis(point.v);
    double longest = nb6_device_field_longest_step(&dev.rules.field, nb6_time_to_double(t));
    const bool is_watched = dev.watch[s.i] & (NB6_DEV_ASK | NB6_DEV_REMOTE);
    await(is_watched);
    if (is_watched) {
        const struct nb6_dev_correction &add = dev.correction[s.i];
        s.end = {s.end.acc + add.acc[axis], s.end.jerk + add.jerk[axis]};
        longest = fmin(longest, add.longest);
    }
    if (dev.rules.field.active) s.end = add_field(s.i, t, is_first, x, v, begin, s.end);
    const float error = nb6_dev_is_in_double(&dev) ? INFINITY : nb6_dev_noise_of(&point, s.nnb + NB6_DEV_LEAVING);
    s.c = correct_irregular(s.i, t, x, v, begin, acc_reg, s.end, error, longest);
    s.is_sound = __all_sync(ALL, isfinite(s.c.x + s.c.v + s.end.acc + s.end.jerk));
    return s;
}

__device__ __forceinline__ void make_irregular(struct nb6_device_control_block *control_block, int64_t member)
{
    const nb6_time t = dev.control->t;
    const irregular_step s = step_irregular(dev.irr[member], t, member == 0, [&](bool is_watched) {
        if (is_watched) await_corrections(&control_block->is_corrected);
    });
    const int is_regular = nb6_dev_ends_regular_step(&dev, s.i, t), lane = lane_of();
    store_irregular(s.i, s.end, s.c, &dev.corrected[member]);
    if (lane != 0) return;
    if (!is_regular) dev.level[s.i] = s.c.level;
    dev.flag[member] = (int8_t)((s.near != NONE_NEAR ? NB6_DEV_NEAR : 0) | (s.is_sound ? 0 : NB6_DEV_UNSOUND_IRR));
    dev.is_reg[member] = (int8_t)is_regular;
    dev.near[member] = is_regular ? SEVERAL_NEAR : s.near; /* a new list may have another nearest neighbour */
    add_to(&dev.control->pairs_irr_block, (uint64_t)s.nnb);
    if (!s.is_sound) note_unsound(&control_block->unsound, s.i, member);
    if (is_regular && !control_block->is_known) add_target(control_block, member);
}

/* Commit of a member.   @param[in,out] n_look  members to examine for encounters */
__device__ __forceinline__ void add_look(int32_t *n_look, int64_t member)
{
    dev.reg[atomicAdd(n_look, 1)] = (int32_t)member; /* the list of regular members is not needed any more */
}

/* The block is discarded: restore the level of body i. */
__device__ __forceinline__ void withdraw_level(int32_t i)
{
    if (lane_of() == 0) dev.level[i] = dev.star[i].level_irr;
}

/* Commit of a member, which is body i, without its level. */
__device__ __forceinline__ void commit(struct nb6_device_control_block *control_block, int64_t member, int32_t i)
{
    commit_corrected(member, i);
    if (lane_of() != 0) return;
    nb6_dev_commit_rest(&dev, member, i);
    if (dev.flag[member] & NB6_DEV_LOOK) add_look(&control_block->n_look, member);
}

} // namespace

#endif
