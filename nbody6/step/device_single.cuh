/** What a warp does with one member of a block: irregular force and corrector, commit, the look for an encounter. */
#ifndef NB6_DEVICE_SINGLE_CUH
#define NB6_DEVICE_SINGLE_CUH

#include "nbody6/step/dev_commit.h"
#include "nbody6/step/dev_force.h"
#include "nbody6/step/dev_select.h"
#include "nbody6/step/device_block.h"
#include "nbody6/step/device_corrector.cuh"
#include "nbody6/step/device_warp.cuh"

namespace
{

__device__ __forceinline__ void add_to(uint64_t *counter, uint64_t number)
{
    atomicAdd(reinterpret_cast<unsigned long long *>(counter), (unsigned long long)number);
}

/* The member with the lowest number is named, whatever the order of threads. */
__device__ __forceinline__ void note_unsound(struct nb6_device_word *word, int32_t i, int64_t slot)
{
    atomicMin(reinterpret_cast<long long *>(&word->unsound), (long long)i << 32 | slot);
}

/* The irregular force on a member; *is_near: a neighbour is. */
__device__ __noinline__ component force_on(const struct nb6_dev &dev, const struct nb6_dev_point &point,
                                           const int32_t *list, int32_t nnb, bool *is_near)
{
    struct nb6_dev_sum sum;
    *is_near = __any_sync(ALL, nb6_dev_force_lane(&dev, &point, list, nnb, lane_of(), &sum));
    return add_lanes(sum);
}

/* A regular member is one of the targets. */
__device__ void add_target(const struct nb6_dev &dev, struct nb6_device_word *word, int64_t slot)
{
    const int64_t m = atomicAdd(&word->n_reg, 1);
    dev.reg[m] = (int32_t)slot;
    if (m < dev.targets) nb6_dev_set_target(&dev, 0, m);
}

__device__ __noinline__ void make_irregular(const struct nb6_dev &dev, struct nb6_device_word *word, int64_t slot)
{
    const int32_t i = dev.irr[slot];
    const struct nb6_star &star = dev.star[i];
    const nb6_time t = dev.control->t;
    const int axis = axis_of(), is_regular = nb6_dev_ends_regular_step(&dev, i, t);
    const component begin = {star.acc_irr[axis], star.jerk_irr[axis]};
    const double acc_reg = star.acc_reg[axis];
    const int32_t nnb = star.nnb;
    const struct nb6_dev_point point = nb6_dev_predict(&dev, i);
    bool is_near;
    const component end = force_on(dev, point, nb6_dev_list(&dev, i), nnb, &is_near);
    const bool is_sound =
        correct_irregular(dev, i, t, on_axis(point.x), on_axis(point.v), begin, acc_reg, end, &dev.corrected[slot]);
    if (is_regular && lane_of() < 3) {
        dev.old_sum[slot].acc[axis] = end.acc;
        dev.old_sum[slot].jerk[axis] = end.jerk;
    }
    if (lane_of() != 0) return;
    dev.flag[slot] = (int8_t)((is_near ? NB6_DEV_NEAR : 0) | (is_sound ? 0 : NB6_DEV_UNSOUND_IRR));
    dev.is_reg[slot] = (int8_t)is_regular;
    add_to(&dev.control->pairs_irr_block, (uint64_t)nnb);
    if (!is_sound) note_unsound(word, i, slot);
    if (is_regular) add_target(dev, word, slot);
}

__device__ __noinline__ void commit(const struct nb6_dev &dev, struct nb6_device_word *word, int64_t slot)
{
    const int32_t i = dev.irr[slot];
    commit_corrected(&dev.corrected[slot], dev.control->t, dev.is_reg[slot], &dev.body[i], &dev.star[i]);
    if (lane_of() != 0) return;
    nb6_dev_commit_rest(&dev, slot);
    if (dev.flag[slot] & NB6_DEV_LOOK) dev.reg[atomicAdd(&word->n_look, 1)] = (int32_t)slot;
}

/* Whether the host has to look at a member. */
__device__ __noinline__ bool is_candidate(const struct nb6_dev &dev, int64_t slot)
{
    const int32_t i = dev.irr[slot];
    struct nb6_dev_nearest own;
    nb6_dev_nearest_of_lane(&dev, i, lane_of(), &own);
    double lowest = own.r2;
    for (int half = WARP / 2; half > 0; half /= 2) lowest = fmin(lowest, __shfl_xor_sync(ALL, lowest, half));
    const bool is_found = own.r2 == lowest && nb6_dev_is_candidate(&dev, i, &own);
    return __any_sync(ALL, is_found);
}

} // namespace

#endif
