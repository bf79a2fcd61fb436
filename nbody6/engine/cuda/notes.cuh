/** Notes of steps for the host (nb6_host_service_note), and the search for encounters among members of the last
 *  block: by the first block of threads, or by the notifier block (cuda/notifier.cuh). */
#ifndef NB6_CUDA_NOTES_CUH
#define NB6_CUDA_NOTES_CUH

#include "nbody6/engine/cuda/block.h"
#include "nbody6/engine/cuda/candidates.cuh"
#include "nbody6/engine/cuda/host_mailbox.cuh"
#include "nbody6/engine/cuda/notifier.cuh"
#include "nbody6/engine/cuda/remote.cuh"
#include "nbody6/engine/cuda/show.cuh"
#include "nbody6/engine/cuda/warp.cuh"

namespace
{

__device__ __forceinline__ int32_t told_member(const service_memory &s, int32_t k)
{
    return k < WARPS ? s.told[k] : dev.member[2 * dev.n - 1 - k];
}

/* Write notes of steps for the host, and examine members of the last block.
 * @param[in] look [n_look]   @param[in,out] found [s.n]  members that the host has to examine */
__device__ __forceinline__ void tell_and_look(const int32_t *look, int32_t n_look, service_memory &s, int32_t *found)
{
    const int32_t n_told = s.n_told, n = n_told + n_look;
    const squad together = squad_for(n_told > 0 ? n_told : n);
    const int squads = WARPS / together.warps, own = warp_of() / together.warps;
    for (int32_t first = 0; first < n; first += squads) {
        const int32_t k = first + own, i = k < n_told ? told_member(s, k) : k < n ? look[k - n_told] : -1;
        wait_for_room(s);
        if (k < n_told)
            look_from_afar(i, together);
        else if (i >= 0)
            look_by_squad(i, together);
        __syncthreads();
        if (i >= 0 && together.rank == 0) {
            struct nb6_dev_note *note = s.note + (s.noted + own) % NB6_DEVICE_NOTES;
            const bool is_found = k < n_told ? write_note(i, together, note) : end_look(i, together);
            if (is_found && lane_of() == 0) {
                dev.shown[i] = NB6_DEV_WITH_OTHERS;
                found[atomicAdd(&s.n, 1)] = i;
            }
        }
        __syncthreads();
        if (threadIdx.x == 0) s.noted += max(min(squads, n_told - first), 0);
        __syncthreads();
    }
}

/* Whether work on the last block is deferred to the notifier block: it has to be little. Notes of watched members
 * and the examination of stars take no longer than the hand-over, so alone they are not deferred. */
__device__ __forceinline__ bool is_for_notifier(int32_t n_look, bool has_centre, const service_memory &s)
{
    if (s.is_asked || s.waits_for_tides || !has_notifier()) return false;
    if (s.n_told > NB6_DEVICE_DEFERRED || n_look > NB6_DEVICE_DEFERRED) return false;
    return s.n_told > s.n_watched || has_centre;
}

/* Defer notes and members of the last block to the notifier block; executed by the first warp.
 * @param[in] look  a member of this lane, -1: none   @return whether they are deferred */
__device__ __noinline__ bool defer_work(struct nb6_device_control_block *control_block, int32_t look, bool has_centre,
                                        service_memory &s)
{
    struct nb6_deferred_work &deferred_work = control_block->deferred_work;
    const int lane = lane_of();
    const uint32_t looks = __ballot_sync(ALL, look >= 0);
    const int32_t n_told = s.n_told, n_look = __popc(looks);
    if (!is_for_notifier(n_look, has_centre, s)) return false;
    if (lane < n_told) deferred_work.told[lane] = s.told[lane];
    if (look >= 0) deferred_work.look[__popc(looks & ((1u << lane) - 1))] = look;
    __syncwarp();
    if (lane != 0) return true;
    deferred_work.noted = s.noted;
    deferred_work.questions = s.questions;
    deferred_work.n_told = n_told;
    deferred_work.n_look = n_look;
    call_notifier(control_block, s.pending);
    s.noted += (uint32_t)n_told;
    return true;
}

/* Take over the question that the notifier block has asked the host about members of the last block. */
__device__ __forceinline__ void take_found(struct nb6_device_control_block *control_block, service_memory &s)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        dev.control->t = dev.control->ti_now;
        control_block->unsound = INT64_MAX;
        s.n = s.pending.n_found;
        control_block->deferred_work.n_found = s.pending.n_found = 0;
        s.is_asked = s.n_told = s.n_look = 0;
        s.questions++;
    }
    __syncthreads();
}

/* ---- the notifier block ---- */

/* Ask the host about the members that it has to examine. The first block of threads waits for the answer after it
 * has discarded the block under way. */
__device__ __forceinline__ void ask_beside(const struct nb6_device_control_block *control_block, nb6_time t,
                                           service_memory &s)
{
    show_members(control_block->home, control_block->deferred_work.found, s.n);
    send_question(true, false, t, t, s);
}

/* Do the deferred work: write notes and examine members. The result goes to the first block of threads first; then
 * the notes are published, or the host is asked. */
__device__ __forceinline__ void write_notes_beside(struct nb6_device_control_block *control_block, service_memory &s)
{
    struct nb6_deferred_work &deferred_work = control_block->deferred_work;
    static_assert(NB6_DEVICE_DEFERRED == WARPS, "as many as there is room for");
    const nb6_time t = dev.control->ti_now; /* the next block is not committed before this request is done */
    if (threadIdx.x < WARPS) s.told[threadIdx.x] = deferred_work.told[threadIdx.x];
    if (threadIdx.x == 0) {
        s.n_told = deferred_work.n_told;
        s.noted = deferred_work.noted;
        s.questions = deferred_work.questions;
        s.n = 0;
    }
    __syncthreads();
    tell_and_look(deferred_work.look, deferred_work.n_look, s, deferred_work.found);
    if (threadIdx.x == 0) {
        deferred_work.n_found = s.n;
        end_deferred_work(deferred_work, s.pending);
    }
    if (s.n > 0 && s.mailbox)
        ask_beside(control_block, t, s);
    else if (threadIdx.x == 0 && s.n_told > 0)
        publish_notes(s, t);
}

/* The notifier block arrives at the barrier where all wait for the first block of threads, and does deferred work
 * meanwhile. */
__device__ __noinline__ void serve(struct nb6_device_control_block *control_block, service_memory &s,
                                   grid_of_blocks &grid)
{
    grid.arrive();
    while (is_called_for(control_block, s.pending, grid)) write_notes_beside(control_block, s);
}

} // namespace

#endif
