/** The host's share in blocks of the device engine (share.h): the first block of threads finds who is watched, and
 *  asks. */
#ifndef NB6_DEVICE_SHARE_CUH
#define NB6_DEVICE_SHARE_CUH

#include "nbody6/step/device_block.h"
#include "nbody6/step/device_look.cuh"
#include "nbody6/step/device_mail.cuh"
#include "nbody6/step/device_member.cuh"
#include "nbody6/step/device_notes.cuh"
#include "nbody6/step/device_remote.cuh"
#include "nbody6/step/device_scribe.cuh"
#include "nbody6/step/device_show.cuh"
#include "nbody6/step/device_warp.cuh"
#include "nbody6/step/share.h"
#include "nbody6/step/stop_reason.h"

namespace
{

/* ---- before a block ---- */

/* Watched bodies that are due at t, and those that the host is told of, s.n_told.   @return the number of the first,
 * s.n
 */
__device__ __forceinline__ int32_t find_watched(const struct nb6_dev &dev, nb6_time t, share_memory &s)
{
    const int64_t n_ask = s.reply.n_ask;
    if (threadIdx.x == 0) {
        s.n = s.n_told = s.n_watched = 0;
        s.centres = (int32_t)n_ask;
    }
    __syncthreads();
    for (int64_t k = threadIdx.x; k < n_ask; k += THREADS) {
        const int32_t i = dev.ask[k];
        if (i >= dev.first_centre) atomicMin(&s.centres, (int32_t)k);
        if ((t & (nb6_step_ticks(dev.level[i]) - 1)) != 0) continue;
        if (dev.watch[i] & NB6_DEV_ASK) {
            dev.member[atomicAdd(&s.n, 1)] = i;
            continue;
        }
        const int32_t at = atomicAdd(&s.n_told, 1);
        if (at < WARPS) s.told[at] = i;
        dev.member[2 * dev.n - 1 - at] = i;
    }
    __syncthreads();
    return s.n;
}

/* What remote pairs add to forces on those that the host is told of. */
__device__ __forceinline__ void correct_all_from_afar(const struct nb6_dev &dev, const share_memory &s)
{
    const int32_t n = s.n_told;
    const squad together = squad_for(n);
    const int squads = WARPS / together.warps;
    for (int32_t first = 0; first < n; first += squads) {
        const int32_t k = first + warp_of() / together.warps;
        const int32_t i = k < n ? told_member(dev, s, k) : -1;
        if (i >= 0) sum_from_afar(dev, i, s.centres, s.reply.n_ask, together);
        __syncthreads();
        if (i >= 0 && together.rank == 0) set_correction(dev, i, together);
        __syncthreads();
    }
}

/* The host need not be asked after the block, but is told of the watched members as well, if they are few. */
__device__ __forceinline__ void tell_of_watched(const struct nb6_dev &dev, share_memory &s)
{
    const int32_t n = s.n, n_told = s.n_told;
    if (n + n_told > WARPS) return;
    __syncthreads();
    if (threadIdx.x < n) s.told[n_told + threadIdx.x] = dev.member[threadIdx.x];
    if (threadIdx.x == 0) {
        s.n_told = n_told + n;
        s.n_watched = n;
        s.n = s.is_asked = 0;
    }
    __syncthreads();
}

/* The host moves few-body systems, if any of them is due or has a part in this block.   @return a reason to stop;
 * NB6_DEVICE_AGAIN; or -1 */
__device__ int share_before(const struct nb6_dev &dev, struct nb6_device_word *word, share_memory &s)
{
    const nb6_time t = dev.control->t;
    if (s.reply.n_ask == 0 && s.reply.t_ask > t) return -1;
    const int32_t n = find_watched(dev, t, s);
    correct_all_from_afar(dev, s);
    if (threadIdx.x == 0) s.is_asked = n > 0 || s.reply.t_ask <= t;
    __syncthreads();
    const bool is_for_host = !s.mail && (s.is_asked || s.n_told > 0);
    if (!s.is_asked && !is_for_host) return -1;
    if (wait_for_scribe(word->dictation, s.pending)) return NB6_DEVICE_AGAIN;
    if (is_for_host) return NB6_STOP_HOST;
    for (int32_t k = threadIdx.x; k < n; k += THREADS) word->home.member[k] = dev.member[k];
    ask_host(dev, word, false, false, s);
    copy_records(word->home.correction, dev.correction, dev.member, n, 0); /* which are nothing if there is no block */
    switch (take_reply(dev, word, s)) {
    case NB6_SHARE_TELL:
        tell_of_watched(dev, s);
        return -1;
    case NB6_SHARE_GO:
        return -1;
    case NB6_SHARE_PAUSED:
        return NB6_STOP_PAUSED;
    default:
        return NB6_STOP_HOST;
    }
}

/* ---- after it ---- */

/* Members at whom the host has to look are shown, after those that are watched: s.n in all. */
__device__ __forceinline__ void find_shown(const struct nb6_dev &dev, share_memory &s)
{
    const int32_t n_look = s.n_look, n_watched = s.is_asked ? s.n : 0;
    __syncthreads();
    if (threadIdx.x == 0) s.n = n_watched;
    for (int32_t k = threadIdx.x; k < n_watched; k += THREADS) {
        const int32_t i = dev.member[k];
        dev.shown[i] = dev.watch[i] & NB6_DEV_SHOW ? NB6_DEV_WITH_OTHERS : NB6_DEV_ALONE;
    }
    __syncthreads();
    tell_all(dev, s, dev.member);
    for (int32_t k = warp_of(); k < n_look; k += WARPS) {
        const int32_t slot = dev.reg[k], i = dev.irr[slot];
        const bool is_watched = s.is_asked && dev.watch[i] & NB6_DEV_ASK;
        const bool was_looked_at = n_look > FEW_LOOKS;
        if (!is_watched && !(was_looked_at ? dev.flag[slot] & NB6_DEV_CANDIDATE : is_to_be_shown(dev, i))) continue;
        if (lane_of() != 0) continue;
        dev.shown[i] = NB6_DEV_WITH_OTHERS;
        if (!is_watched) dev.member[atomicAdd(&s.n, 1)] = i;
    }
    __syncthreads();
}

/* What the host has changed of who is watched. */
__device__ void take_changes(const struct nb6_dev &dev, const struct nb6_device_home &home,
                             const struct nb6_device_reply &reply)
{
    const int64_t n = reply.n_concerned, n_ask = reply.n_ask;
    if (n == 0) return;
    for (int64_t k = threadIdx.x; k < n; k += THREADS) {
        const int32_t i = *(volatile int32_t *)&home.concerned[k];
        dev.watch[i] = *(volatile int8_t *)&home.watch[i];
    }
    for (int64_t k = threadIdx.x; k < n_ask; k += THREADS) dev.ask[k] = *(volatile int32_t *)&home.ask[k];
    copy_records(home.system, dev.system, home.concerned, n, dev.first_centre);
    copy_records(home.remote, dev.remote, home.concerned, n, dev.first_centre);
    __syncthreads();
}

/* The places of those whom the host has named, where all blocks of threads read them. */
__device__ __forceinline__ void take_systems_of_tides(const struct nb6_dev &dev, struct nb6_device_word *word,
                                                      share_memory &s)
{
    const int64_t n = s.reply.n_concerned;
    for (int64_t k = threadIdx.x; k < n; k += THREADS) dev.member[k] = *(volatile int32_t *)&word->home.concerned[k];
    if (threadIdx.x == 0) word->n_tides = (int32_t)n;
}

/* @return a reason to stop; NB6_DEVICE_GO_ON; NB6_DEVICE_TIDES, after which share_after goes on */
__device__ __forceinline__ int heed_reply(const struct nb6_dev &dev, struct nb6_device_word *word, share_memory &s)
{
    const int answer = take_reply(dev, word, s);
    const bool wants_tides = answer == NB6_SHARE_TIDES;
    if (threadIdx.x == 0) s.waits_for_tides = wants_tides;
    if (wants_tides)
        take_systems_of_tides(dev, word, s);
    else if (answer == NB6_SHARE_GO)
        take_changes(dev, word->home, s.reply);
    __syncthreads();
    return wants_tides ? NB6_DEVICE_TIDES : answer == NB6_SHARE_GO ? NB6_DEVICE_GO_ON : NB6_STOP_ENCOUNTER;
}

__device__ __noinline__ int show_and_ask(const struct nb6_dev &dev, struct nb6_device_word *word, share_memory &s)
{
    const struct nb6_device_home home = word->home;
    const int32_t n = s.n;
    const int warps = max(WARPS / max(n, 1), 1); /* of a member */
    if (!home.mail) return NB6_STOP_ENCOUNTER;
    const bool has_tides = s.waits_for_tides; /* all were shown before */
    for (int32_t k = warp_of() / warps; k < n && !has_tides; k += WARPS / warps)
        show_member(dev, home, dev.member[k], warp_of() % warps, warps);
    for (int32_t k = threadIdx.x; k < n && !has_tides; k += THREADS) home.member[k] = dev.member[k];
    ask_host(dev, word, true, has_tides, s);
    return heed_reply(dev, word, s);
}

/* What the last block has brought, if it has. This is a function of its own, as serve is, since few blocks need it:
 * with both in the kernel small blocks are two percent slower.   @return as heed_reply */
__device__ __noinline__ int heed_block(const struct nb6_dev &dev, struct nb6_device_word *word, share_memory &s)
{
    const bool is_asked = s.is_asked, may_show = s.n_look > 0 || is_asked;
    if (s.waits_for_tides) return show_and_ask(dev, word, s);
    if (s.pending.n_found > 0)
        take_found(dev, word, s);
    else if (!is_asked && is_for_scribe(dev, s))
        dictate_notes(dev, word, s);
    else if (may_show)
        find_shown(dev, s);
    else
        tell_all(dev, s, dev.member); /* s.n is 0 before */
    __syncthreads();
    const int32_t n = s.n;
    __syncthreads();
    if (threadIdx.x == 0) s.is_asked = s.n_told = 0;
    return n == 0 && !is_asked ? NB6_DEVICE_GO_ON : show_and_ask(dev, word, s);
}

__device__ __forceinline__ int share_after(const struct nb6_dev &dev, struct nb6_device_word *word, share_memory &s)
{
    const int32_t n_look = s.n_look;
    if (n_look > 0 && n_look <= WARP) {
        __syncthreads();
        if (warp_of() == 0) leave_out(dev, n_look, s);
        __syncthreads();
    }
    const bool has_any = s.n_told > 0 || s.n_look > 0 || s.is_asked || s.waits_for_tides || s.pending.n_found > 0;
    return has_any ? heed_block(dev, word, s) : NB6_DEVICE_GO_ON;
}

} // namespace

#endif
