/** Search for encounters among the members of the last block: members that the host has to examine. */
#ifndef NB6_CUDA_CANDIDATES_CUH
#define NB6_CUDA_CANDIDATES_CUH

#include "nbody6/engine/cuda/block.h"
#include "nbody6/engine/cuda/cut.cuh"
#include "nbody6/engine/cuda/host_mailbox.cuh"
#include "nbody6/engine/cuda/member.cuh"
#include "nbody6/engine/cuda/warp.cuh"
#include "nbody6/engine/stages/candidates.h"
#include "nbody6/engine/stages/quiet.h"

namespace
{

/* Whether the host has to examine a star. */
__device__ __noinline__ bool is_candidate(int32_t i)
{
    struct nb6_dev_seen own;
    nb6_dev_nearest_of_lane(&dev, i, lane_of(), &own);
    const bool is_found = own.r2 == lowest_of_lanes(own.r2) && nb6_dev_is_candidate(&dev, i, &own);
    return __any_sync(ALL, is_found);
}

/* Whether a quiet pair (stages/state.h) has found a perturber; if not, the time of its next search is set. */
__device__ __noinline__ bool finds_perturber(int32_t i)
{
    double safe;
    const bool found = __any_sync(ALL, nb6_dev_quiet_lane(&dev, i, lane_of(), WARP, &safe));
    safe = lowest_of_lanes(safe);
    if (!found && lane_of() == 0) nb6_dev_quiet_goes_on(&dev, i, safe);
    return found;
}

/* Whether the host has to examine a member; executed by one warp. */
__device__ __forceinline__ bool is_to_be_shown(int32_t i)
{
    return i < dev.first_centre ? is_candidate(i) : finds_perturber(i);
}

/* With more candidates than this, all blocks of threads examine them. */
constexpr int FEW_LOOKS = 2 * WARPS;

/* Executed by all blocks of threads, before serve_after. */
__device__ __forceinline__ void look_at_many(const struct nb6_device_control_block *control_block)
{
    const int32_t n_look = control_block->n_look;
    for (int64_t k = warp_of_all(); k < n_look; k += warps_of_all()) {
        const int32_t member = dev.reg[k];
        if (!is_to_be_shown(dev.irr[member])) continue;
        if (lane_of() == 0) dev.flag[member] |= NB6_DEV_CANDIDATE;
    }
}

/* Unless stars may touch, a body with a single near neighbour needs no search for the nearest one. The first warp
 * drops those whose near neighbour is no candidate.   @return the member left for this lane; -1: none */
__device__ __forceinline__ int32_t leave_out(int32_t n_look, service_memory &s)
{
    const int lane = lane_of();
    const int32_t member = lane < n_look ? dev.reg[lane] : 0, i = lane < n_look ? dev.irr[member] : -1;
    bool stays = i >= 0;
    if (stays && i < dev.first_centre && dev.near[member] >= 0 && !(dev.rules.encounter.touch > 0)) {
        struct nb6_dev_seen nearest;
        nb6_dev_look_from(&dev, i, dev.near[member], &nearest);
        stays = nb6_dev_is_candidate(&dev, i, &nearest);
    }
    const uint32_t all = __ballot_sync(ALL, stays);
    if (stays) dev.reg[__popc(all & ((1u << lane) - 1))] = member;
    if (lane == 0) s.n_look = __popc(all);
    return stays ? i : -1;
}

/* ---- by a squad ---- */

/* Result of one warp of a squad for a member. */
__device__ __forceinline__ void look_by_squad(int32_t i, const squad &together)
{
    double safe = INFINITY;
    bool is_found = false;
    if (i >= dev.first_centre)
        is_found = nb6_dev_quiet_lane(&dev, i, together.rank * WARP + lane_of(), together.warps * WARP, &safe);
    else if (together.rank == 0)
        is_found = is_candidate(i);
    is_found = __any_sync(ALL, is_found);
    safe = lowest_of_lanes(safe);
    if (lane_of() != 0) return;
    own_memory().share.sum[0] = safe;
    own_memory().share.is_found = is_found;
}

/* Executed by the first warp of the squad, after a barrier.   @return as is_to_be_shown */
__device__ __forceinline__ bool end_look(int32_t i, const squad &together)
{
    double safe = INFINITY;
    int32_t is_found = 0;
    for (int w = 0; w < together.warps; w++) {
        safe = fmin(safe, memory_of_warp(warp_of() + w).share.sum[0]);
        is_found |= memory_of_warp(warp_of() + w).share.is_found;
    }
    if (i >= dev.first_centre && !is_found && lane_of() == 0) nb6_dev_quiet_goes_on(&dev, i, safe);
    return is_found;
}

} // namespace

#endif
