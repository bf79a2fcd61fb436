/** Neighbours of few targets that floats do not tell from others, in double, between the sums of a round and its end.
 */
#ifndef NB6_CUDA_EDGE_CUH
#define NB6_CUDA_EDGE_CUH

#include "gpunb/cuda/lists.cuh"
#include "nbody6/engine/cuda/block.h"
#include "nbody6/engine/cuda/cut.cuh"
#include "nbody6/engine/cuda/warp.cuh"
#include "nbody6/engine/stages/regular.h"

namespace
{

/* Sources in the order of places. */
struct source_at_place {
    bool is_sorted;
    __device__ __forceinline__ const struct gpunb_dev_source &operator()(int64_t place) const
    {
        return dev.sums.source[is_sorted ? dev.sums.order[place] : place];
    }
};

/* settle_entries of a target of the engine. Not inlined: one pair in 10^5 comes here. */
__device__ __noinline__ struct gpunb_dev_sum settle_for(int64_t m, bool is_sorted, struct gpunb_dev_found *found,
                                                        int32_t entries)
{
    const struct gpunb_dev_viewer viewer = nb6_dev_view(&dev, &dev.target[m]);
    return settle_entries(found, entries, source_at_place{is_sorted}, viewer, dev.rules.weighted);
}

/* Add what all lanes have to a partial sum of target m. */
__device__ __forceinline__ void add_to_partial(const cut &c, int64_t m, const struct gpunb_dev_sum &own)
{
    struct gpunb_dev_sum all;
    for (int k = 0; k < 3; k++) {
        all.acc[k] = sum_of_lanes(own.acc[k]);
        all.jerk[k] = sum_of_lanes(own.jerk[k]);
    }
    if (lane_of() == 0) gpunb_dev_add(&dev.sums.partial[m * c.slices], &all);
}

/* Entries of a target that are marked, or all of its hits, by a warp. */
__device__ __forceinline__ void settle_target(const cut &c, int64_t m)
{
    struct gpunb_dev_sum sum;
    gpunb_dev_clear(&sum);
    for (int64_t chunk = lane_of(); c.width == 0 && chunk < nb6_dev_chunks(&dev); chunk += WARP) {
        struct gpunb_dev_found entry = {(uint32_t)chunk, dev.hit[m * nb6_dev_words(&dev) + chunk]};
        const struct gpunb_dev_sum settled = settle_for(m, false, &entry, 1);
        gpunb_dev_add(&sum, &settled);
        dev.hit[m * nb6_dev_words(&dev) + chunk] = entry.bits;
    }
    for (int64_t slice = lane_of(); c.width > 0 && slice < c.slices; slice += WARP) {
        int32_t &entries = dev.sums.n_found[m * c.slices + slice];
        if (!(entries & GPUNB_DEV_HAS_EDGE)) continue;
        entries &= ~GPUNB_DEV_HAS_EDGE;
        const struct gpunb_dev_sum settled = settle_for(m, false, own_found(c, m, slice), entries);
        gpunb_dev_add(&sum, &settled);
    }
    add_to_partial(c, m, sum);
}

/* All of n targets, by all threads of the device; the first block of threads comes last. */
__device__ __noinline__ void settle_few(const cut &c, int64_t n)
{
    for (int64_t m = warps_of_all() - 1 - warp_of_all(); m < n; m += warps_of_all())
        if (dev.target[m].nnb < 0) settle_target(c, m);
}

} // namespace

#endif
