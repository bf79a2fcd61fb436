/** Notes of steps, of which the host is told (nb6_share_note): by the first block of threads, or by the scribe
 *  (device_scribe.cuh), which also looks at members of the last block. */
#ifndef NB6_DEVICE_NOTES_CUH
#define NB6_DEVICE_NOTES_CUH

#include "nbody6/step/device_block.h"
#include "nbody6/step/device_look.cuh"
#include "nbody6/step/device_mail.cuh"
#include "nbody6/step/device_remote.cuh"
#include "nbody6/step/device_scribe.cuh"
#include "nbody6/step/device_warp.cuh"

namespace
{

__device__ __forceinline__ int32_t told_member(const struct nb6_dev &dev, const share_memory &s, int32_t k)
{
    return k < WARPS ? s.told[k] : dev.member[2 * dev.n - 1 - k];
}

/* The host is told of steps.   @param[in,out] found [s.n]  those of whom it has to do more */
__device__ __forceinline__ void tell_all(const struct nb6_dev &dev, share_memory &s, int32_t *found)
{
    const int32_t n = s.n_told;
    const squad together = squad_for(n);
    const int squads = WARPS / together.warps, own = warp_of() / together.warps;
    for (int32_t first = 0; first < n; first += squads) {
        const int32_t k = first + own, i = k < n ? told_member(dev, s, k) : -1;
        wait_for_room(s);
        if (i >= 0) look_from_afar(dev, i, together);
        __syncthreads();
        if (i >= 0 && together.rank == 0) {
            const bool is_found = write_note(dev, i, together, s.note + (s.noted + own) % NB6_DEVICE_NOTES);
            if (is_found && lane_of() == 0) {
                dev.shown[i] = NB6_DEV_WITH_OTHERS;
                found[atomicAdd(&s.n, 1)] = i;
            }
        }
        __syncthreads();
        if (threadIdx.x == 0) s.noted += min(squads, n - first);
        __syncthreads();
    }
}

/* Whether the scribe writes notes of the last block and looks at its members, who are few. Notes of watched members,
 * which need no look, and looks at stars alone take no longer than it would have to be waited for. */
__device__ __forceinline__ bool is_for_scribe(const struct nb6_dev &dev, const share_memory &s)
{
    const int32_t n_look = s.n_look;
    if (!has_scribe(dev) || s.n_told > NB6_DEVICE_DICTATED || n_look > NB6_DEVICE_DICTATED) return false;
    if (s.n_told > s.n_watched) return true;
    return __syncthreads_or(threadIdx.x < n_look && dev.irr[dev.reg[threadIdx.x]] >= dev.first_centre);
}

__device__ __forceinline__ void dictate_notes(const struct nb6_dev &dev, struct nb6_device_word *word, share_memory &s)
{
    struct nb6_device_dictation &dictation = word->dictation;
    const int32_t n = s.n_told, n_look = s.n_look;
    if (threadIdx.x < n) dictation.told[threadIdx.x] = s.told[threadIdx.x];
    if (threadIdx.x < n_look) dictation.look[threadIdx.x] = dev.irr[dev.reg[threadIdx.x]];
    __syncthreads();
    if (threadIdx.x != 0) return;
    dictation.noted = s.noted;
    dictation.n_told = n;
    dictation.n_look = n_look;
    call_scribe(word, s.pending);
    s.noted += (uint32_t)n;
    s.n = 0;
}

/* The scribe has found that the host has to look at members of the last block. */
__device__ __forceinline__ void take_found(const struct nb6_dev &dev, struct nb6_device_word *word, share_memory &s)
{
    const int32_t n = s.pending.n_found;
    if (threadIdx.x < n) dev.member[threadIdx.x] = word->dictation.found[threadIdx.x];
    __syncthreads();
    if (threadIdx.x != 0) return;
    dev.control->t = dev.control->ti_now;
    word->unsound = INT64_MAX;
    word->dictation.n_found = s.pending.n_found = 0;
    s.n = n;
    s.is_asked = s.n_told = s.n_look = 0;
}

/* ---- the scribe ---- */

/* Notes that were dictated, which the host may read then. */
__device__ __forceinline__ void write_notes_beside(const struct nb6_dev &dev, struct nb6_device_word *word,
                                                   share_memory &s)
{
    struct nb6_device_dictation &dictation = word->dictation;
    static_assert(NB6_DEVICE_DICTATED == WARPS, "a warp for each look");
    const int32_t n_look = dictation.n_look;
    if (threadIdx.x < WARPS) s.told[threadIdx.x] = dictation.told[threadIdx.x];
    if (threadIdx.x == 0) {
        s.n_told = dictation.n_told;
        s.noted = dictation.noted;
        s.n = 0;
    }
    __syncthreads();
    tell_all(dev, s, dictation.found);
    if (warp_of() < n_look) {
        const int32_t i = dictation.look[warp_of()];
        if (is_to_be_shown(dev, i) && lane_of() == 0) {
            dev.shown[i] = NB6_DEV_WITH_OTHERS;
            dictation.found[atomicAdd(&s.n, 1)] = i;
        }
    }
    __syncthreads();
    if (threadIdx.x != 0) return;
    if (s.n_told > 0) publish_notes(dev, s);
    dictation.n_found = s.n;
    end_dictation(dictation, s.pending);
}

/* The scribe comes to the barrier at which all wait for the first block of threads, and writes notes meanwhile. */
__device__ __noinline__ void serve(const struct nb6_dev &dev, struct nb6_device_word *word, share_memory &s,
                                   grid_of_blocks &grid)
{
    grid.arrive();
    while (is_called_for(word, s.pending, grid)) write_notes_beside(dev, word, s);
}

} // namespace

#endif
