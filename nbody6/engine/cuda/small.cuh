/** Small blocks, which the first block of threads advances alone. */
#ifndef NB6_CUDA_SMALL_CUH
#define NB6_CUDA_SMALL_CUH

#include "nbody6/engine/cuda/block.h"
#include "nbody6/engine/cuda/host_service.cuh"
#include "nbody6/engine/cuda/member.cuh"
#include "nbody6/engine/cuda/notifier.cuh"
#include "nbody6/engine/cuda/remote.cuh"
#include "nbody6/engine/cuda/verdict.cuh"
#include "nbody6/engine/cuda/warp.cuh"

namespace
{

/* ---- corrections ---- */

/* Warps left for each correction while others make the forces on n members: a power of two up to four; 0: there are
 * not enough, or the host has to be asked before. */
__device__ __forceinline__ int warps_for_each(int64_t n, const service_memory &s)
{
    const int left = WARPS - 1 - (int)n, n_told = s.n_told; /* the last warp has more to do */
    if (n_told == 0 || n_told > left || s.n > 0 || !s.mailbox || s.reply.t_ask <= dev.control->t) return 0;
    return 4 * n_told <= left ? 4 : 2 * n_told <= left ? 2 : 1;
}

/* Host service of a small block of n members, and forces of remote pairs. If there are enough warps without members,
 * these set the corrections meanwhile.
 * @param[out] beside  warps for each correction; 0: corrections are complete   @return as serve_before */
__device__ __forceinline__ verdict begin_small_service(struct nb6_device_control_block *control_block, int64_t n,
                                                       int *beside, service_memory &s)
{
    *beside = 0;
    if (s.n == 0 && s.n_told == 0 && s.reply.t_ask > dev.control->t) return go(NB6_DEVICE_GO_ON);
    *beside = warps_for_each(n, s);
    if (*beside == 0) return serve_before(control_block, true, s);
    if (s.centres < 0) find_centres(s);
    return go(NB6_DEVICE_GO_ON);
}

/* Set corrections, by the warps after the last one with a member; the others call await_squads. */
__device__ __noinline__ void correct_beside(int first, int warps, const service_memory &s)
{
    const int own = warp_of() - first, k = own / warps;
    const squad together = {own % warps, warps};
    const int32_t i = k < s.n_told ? s.told[k] : -1;
    if (i >= 0) sum_from_afar(i, s.centres, s.reply.n_ask, together);
    __syncthreads();
    if (i >= 0 && together.rank == 0) set_correction(i, together);
    __syncthreads();
}

/* Called by warps with members, before the corrector: the same two barriers as in correct_beside. */
__device__ __forceinline__ void await_squads()
{
    __syncthreads();
    __syncthreads();
}

/* ---- the block ---- */

/* A small block without regular members, at most one member for each warp of this block of threads. Results stay in
 * registers until the commit.
 * @param[in] member [n], in shared memory   @param[in] beside  as in begin_small_service
 * @param[in,out] service  n_look: members to examine for encounters
 * @return NB6_DEVICE_GO_ON: it was committed; NB6_DEVICE_AGAIN; a reason to stop */
__device__ __forceinline__ verdict make_small_block(struct nb6_device_control_block *control_block, int64_t n,
                                                    const int32_t *members, nb6_time t, int beside,
                                                    service_memory &service)
{
    pending_notes &pending = service.pending;
    const int64_t member = warp_of();
    const bool is_busy = member < n;
    irregular_step s = {};
    if (is_busy)
        s = step_irregular(members[member], t, member == 0, [&](bool) {
            if (beside > 0) await_squads();
        });
    else if (beside > 0)
        correct_beside((int)n, beside, service);
    if (is_busy && lane_of() == 0) add_to(&dev.control->pairs_irr_block, (uint64_t)s.nnb);
    const bool waits = threadIdx.x == THREADS - 1; /* a thread of a warp that is rarely busy */
    const int32_t n_found = waits ? await_notifier(control_block->deferred_work, pending) : 0;
    if (__syncthreads_or((is_busy && !s.is_sound) || n_found > 0)) {
        if (pending.n_found > 0) return go(NB6_DEVICE_AGAIN);
        if (is_busy && !s.is_sound) {
            store_irregular(s.i, s.end, s.c, &dev.corrected[member]);
            if (lane_of() == 0) dev.flag[member] = NB6_DEV_UNSOUND_IRR;
            if (lane_of() == 0) note_unsound(&control_block->unsound, s.i, member);
        }
        return stop(NB6_STOP_NON_FINITE);
    }
    if (!is_busy) return go(NB6_DEVICE_GO_ON);
    commit_irregular(s.i, t, s.end, s.c);
    const double acc[3] = {__shfl_sync(ALL, s.end.acc, 0), __shfl_sync(ALL, s.end.acc, 1),
                           __shfl_sync(ALL, s.end.acc, 2)};
    if (lane_of() != 0) return go(NB6_DEVICE_GO_ON);
    const bool looks = s.i >= dev.first_centre
                           ? nb6_dev_quiet_looks(&dev, s.i, 0)
                           : s.near != NONE_NEAR &&
                                 nb6_encounter_is_looked_at(&dev.rules.encounter, s.c.level, acc, dev.body[s.i].mass);
    if (!looks) return go(NB6_DEVICE_GO_ON);
    dev.near[member] = s.near;
    add_look(&service.n_look, member);
    return go(NB6_DEVICE_GO_ON);
}

} // namespace

#endif
