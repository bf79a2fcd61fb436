/** What a warp does with one member of a block: irregular force and corrector, commit, the look for an encounter. */
#ifndef NB6_DEVICE_SINGLE_CUH
#define NB6_DEVICE_SINGLE_CUH

#include "nbody6/step/dev_commit.h"
#include "nbody6/step/dev_correct.h"
#include "nbody6/step/dev_force.h"
#include "nbody6/step/dev_select.h"
#include "nbody6/step/device_block.h"
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

/* The irregular force on a member; *is_near: a neighbour is.   @return lane 0: the sum */
__device__ __noinline__ struct nb6_dev_sum force_on(const struct nb6_dev &dev, const struct nb6_dev_point &point,
                                                    const int32_t *list, int32_t nnb, bool *is_near)
{
    struct nb6_dev_sum sum;
    const int near = nb6_dev_force_lane(&dev, &point, list, nnb, lane_of(), &sum);
    add_lanes(sum);
    *is_near = __any_sync(ALL, near);
    return sum;
}

__device__ __noinline__ void make_irregular(const struct nb6_dev &dev, struct nb6_device_word *word, int64_t slot)
{
    const int32_t i = dev.irr[slot], nnb = dev.star[i].nnb;
    const struct nb6_dev_point point = nb6_dev_predict(&dev, i);
    bool is_near;
    const struct nb6_dev_sum sum = force_on(dev, point, nb6_dev_list(&dev, i), nnb, &is_near);
    if (lane_of() != 0) return;
    const int is_regular = nb6_dev_ends_regular_step(&dev, i, dev.control->t);
    dev.flag[slot] = is_near ? NB6_DEV_NEAR : 0;
    dev.is_reg[slot] = (int8_t)is_regular;
    nb6_dev_correct_irregular(&dev, slot, &point, &sum);
    add_to(&dev.control->pairs_irr_block, (uint64_t)nnb);
    if (dev.flag[slot] & NB6_DEV_UNSOUND_IRR) note_unsound(word, i, slot);
    if (!is_regular) return;
    const int64_t m = atomicAdd(&word->n_reg, 1);
    dev.reg[m] = (int32_t)slot;
    if (m < dev.targets) nb6_dev_set_target(&dev, 0, m);
}

__device__ __noinline__ void commit(const struct nb6_dev &dev, struct nb6_device_word *word, int64_t slot)
{
    const int32_t i = dev.irr[slot];
    copy_record(&dev.body[i], &dev.next[slot].body);
    copy_record(&dev.star[i], &dev.next[slot].star);
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
