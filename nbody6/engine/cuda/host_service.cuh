/** The host service in blocks of the device engine (engine/host_service.h): the first block of threads finds watched
 *  members (stages/state.h), and asks the host. */
#ifndef NB6_CUDA_HOST_SERVICE_CUH
#define NB6_CUDA_HOST_SERVICE_CUH

#include "nbody6/engine/cuda/block.h"
#include "nbody6/engine/cuda/candidates.cuh"
#include "nbody6/engine/cuda/host_mailbox.cuh"
#include "nbody6/engine/cuda/member.cuh"
#include "nbody6/engine/cuda/notes.cuh"
#include "nbody6/engine/cuda/notifier.cuh"
#include "nbody6/engine/cuda/remote.cuh"
#include "nbody6/engine/cuda/show.cuh"
#include "nbody6/engine/cuda/verdict.cuh"
#include "nbody6/engine/cuda/warp.cuh"
#include "nbody6/engine/host_service.h"

namespace
{

/* ---- before a block ---- */

/* For a block with many members, in which the selection has not found them: watched bodies that are due at t, s.n of
 * them, and members whose steps are noted for the host, s.n_told. Levels in dev.level may be those of the end of the
 * block already. */
__device__ __forceinline__ void find_watched(nb6_time t, service_memory &s)
{
    for (int64_t k = threadIdx.x; k < s.reply.n_ask; k += THREADS) {
        const int32_t i = dev.ask[k];
        if ((t & (nb6_step_ticks(dev.star[i].level_irr) - 1)) == 0) find_service_of(i, s);
    }
    __syncthreads();
}

/* Find where centres of mass begin in dev.ask. */
__device__ __forceinline__ void find_centres(service_memory &s)
{
    __syncthreads();
    if (threadIdx.x == 0) s.centres = (int32_t)s.reply.n_ask;
    __syncthreads();
    for (int64_t k = threadIdx.x; k < s.reply.n_ask; k += THREADS)
        if (dev.ask[k] >= dev.first_centre) atomicMin(&s.centres, (int32_t)k);
    __syncthreads();
}

/* Forces of remote pairs on members whose steps are noted for the host. */
__device__ __forceinline__ void correct_all_from_afar(service_memory &s)
{
    const int32_t n = s.n_told;
    if (n > 0 && s.centres < 0) find_centres(s);
    const squad together = squad_for(n);
    const int squads = WARPS / together.warps;
    for (int32_t first = 0; first < n; first += squads) {
        const int32_t k = first + warp_of() / together.warps;
        const int32_t i = k < n ? told_member(s, k) : -1;
        if (i >= 0) sum_from_afar(i, s.centres, s.reply.n_ask, together);
        __syncthreads();
        if (i >= 0 && together.rank == 0) set_correction(i, together);
        __syncthreads();
    }
}

/* The host does not have to be asked after the block; if the watched members are few, their steps are noted instead. */
__device__ __forceinline__ void tell_of_watched(service_memory &s)
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

/* Whether few-body systems can take part in a block at t. */
__device__ __forceinline__ bool has_service(const service_memory &s, nb6_time t)
{
    return s.reply.n_ask > 0 || s.reply.t_ask <= t;
}

/* Let the host move few-body systems, if any of them is due or takes part in this block.   @param[in] is_found
 * watched members are known   @return a reason to stop; NB6_DEVICE_AGAIN; or NB6_DEVICE_GO_ON */
__device__ __noinline__ verdict serve_before(struct nb6_device_control_block *control_block, bool is_found,
                                             service_memory &s)
{
    const nb6_time t = dev.control->t;
    if (!is_found) find_watched(t, s);
    const int32_t n = s.n;
    const bool has_question = n > 0 || s.reply.t_ask <= t, is_for_host = !s.mailbox && (has_question || s.n_told > 0);
    if (has_question || is_for_host) {
        if (wait_for_notifier(control_block->deferred_work, s.pending)) return go(NB6_DEVICE_AGAIN);
        if (is_for_host) return stop(NB6_STOP_HOST);
        for (int32_t k = threadIdx.x; k < n; k += THREADS) control_block->home.member[k] = dev.member[k];
        if (threadIdx.x == 0) s.is_asked = 1;
        send_question(false, false, dev.control->ti_now, t, s);
    }
    correct_all_from_afar(s); /* while the host is at work */
    if (!has_question) return go(NB6_DEVICE_GO_ON);
    await_answer(s);
    const int64_t number = fetch_reply(s);
    copy_records(control_block->home.correction, dev.correction, dev.member,
                 n); /* without meaning if the block is refused */
    switch (take_reply(number, s)) {
    case NB6_HOST_SERVICE_TELL:
        tell_of_watched(s);
        return go(NB6_DEVICE_GO_ON);
    case NB6_HOST_SERVICE_GO:
        return go(NB6_DEVICE_GO_ON);
    case NB6_HOST_SERVICE_PAUSED:
        return stop(NB6_STOP_PAUSED);
    default:
        return stop(NB6_STOP_HOST);
    }
}

/* serve_before by the first block of threads while others make forces; watched members wait for it before their
 * corrector. If the block is refused, all learn of it at the next barrier. */
__device__ __forceinline__ void serve_beside(struct nb6_device_control_block *control_block, bool is_found,
                                             service_memory &s)
{
    if (!has_service(s, dev.control->t)) return;
    const verdict next = serve_before(control_block, is_found, s);
    __syncthreads();
    if (threadIdx.x != 0) return;
    if (stops(next)) control_block->refused = stored(next);
    asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(&control_block->is_corrected), "r"(1) : "memory");
}

/* ---- after it ---- */

/* Copy to the host image: watched members first, then members that the host has to examine; s.n in all. */
__device__ __forceinline__ void find_shown(service_memory &s)
{
    const int32_t n_look = s.n_look, n_watched = s.is_asked ? s.n : 0;
    __syncthreads();
    if (threadIdx.x == 0) s.n = n_watched;
    for (int32_t k = threadIdx.x; k < n_watched; k += THREADS) {
        const int32_t i = dev.member[k];
        dev.shown[i] = dev.watch[i] & NB6_DEV_SHOW ? NB6_DEV_WITH_OTHERS : NB6_DEV_ALONE;
    }
    __syncthreads();
    tell_and_look(nullptr, 0, s, dev.member);
    for (int32_t k = warp_of(); k < n_look; k += WARPS) {
        const int32_t member = dev.reg[k], i = dev.irr[member];
        const bool is_watched = s.is_asked && dev.watch[i] & NB6_DEV_ASK;
        const bool was_looked_at = n_look > FEW_LOOKS;
        if (!is_watched && !(was_looked_at ? dev.flag[member] & NB6_DEV_CANDIDATE : is_to_be_shown(i))) continue;
        if (lane_of() != 0) continue;
        dev.shown[i] = NB6_DEV_WITH_OTHERS;
        if (!is_watched) dev.member[atomicAdd(&s.n, 1)] = i;
    }
    __syncthreads();
}

/* Take over changes of the host for the bodies in dev.member, word by word: dev.watch, dev.system, dev.remote; and
 * the list dev.ask. */
__device__ void take_changes(const struct nb6_device_home &home, service_memory &s)
{
    constexpr int OF_SYSTEM = sizeof(struct nb6_dev_system) / sizeof(uint64_t);
    constexpr int OF_REMOTE = sizeof(struct nb6_remote) / sizeof(uint64_t), EACH = 1 + OF_SYSTEM + OF_REMOTE;
    const int64_t n = s.reply.n_changed_bodies, n_ask = s.reply.n_ask;
    if (n == 0) return;
    if (threadIdx.x == 0) s.centres = -1;
    for (int64_t k = threadIdx.x; k < n * EACH + n_ask; k += THREADS) {
        const int64_t part = k % EACH, listed = k - n * EACH;
        if (listed >= 0) {
            dev.ask[listed] = static_cast<const volatile int32_t *>(home.ask)[listed];
            continue;
        }
        const int32_t i = dev.member[k / EACH];
        if (part == 0)
            dev.watch[i] = static_cast<const volatile int8_t *>(home.watch)[i];
        else if (i >= dev.first_centre && part <= OF_SYSTEM)
            copy_word(home.system, dev.system, i - dev.first_centre, part - 1);
        else if (i >= dev.first_centre)
            copy_word(home.remote, dev.remote, i - dev.first_centre, part - 1 - OF_SYSTEM);
    }
    __syncthreads();
}

/* Act on the reply.   @return a reason to stop; NB6_DEVICE_GO_ON; NB6_DEVICE_TIDES, for the systems in dev.member,
 * where all blocks of threads read them: after it serve_after has to be called again */
__device__ __forceinline__ verdict heed_reply(struct nb6_device_control_block *control_block, service_memory &s)
{
    const int answer = take_reply_with_places(control_block->home.changed_bodies, s);
    const bool wants_tides = answer == NB6_HOST_SERVICE_TIDES;
    if (threadIdx.x == 0) s.waits_for_tides = wants_tides;
    if (threadIdx.x == 0 && wants_tides) control_block->n_tides = (int32_t)s.reply.n_changed_bodies;
    if (answer == NB6_HOST_SERVICE_GO) take_changes(control_block->home, s);
    __syncthreads();
    return wants_tides                     ? go(NB6_DEVICE_TIDES)
           : answer == NB6_HOST_SERVICE_GO ? go(NB6_DEVICE_GO_ON)
                                           : stop(NB6_STOP_ENCOUNTER);
}

__device__ __noinline__ verdict show_and_ask(struct nb6_device_control_block *control_block, service_memory &s)
{
    const bool has_tides = s.waits_for_tides; /* all members were copied before */
    if (!s.mailbox) return stop(NB6_STOP_ENCOUNTER);
    if (!has_tides) show_members(control_block->home, dev.member, s.n);
    send_question(true, has_tides, dev.control->ti_now, dev.control->t, s);
    await_answer(s);
    return heed_reply(control_block, s);
}

/* show_and_ask where the notifier block has asked the question. */
__device__ __noinline__ verdict hear_notifier(struct nb6_device_control_block *control_block, service_memory &s)
{
    take_found(control_block, s);
    if (!s.mailbox) return stop(NB6_STOP_ENCOUNTER);
    await_answer(s);
    return heed_reply(control_block, s);
}

/* Consequences of the last block for few-body systems. Not inlined, nor is serve: few blocks need them, and small
 * blocks are slower with both in the kernel (docs/trials.md).   @return as heed_reply */
__device__ __noinline__ verdict heed_block(struct nb6_device_control_block *control_block, service_memory &s)
{
    const bool is_asked = s.is_asked, may_show = s.n_look > 0 || is_asked;
    if (s.waits_for_tides) return show_and_ask(control_block, s);
    if (s.pending.n_found > 0) return hear_notifier(control_block, s);
    if (may_show)
        find_shown(s);
    else
        tell_and_look(nullptr, 0, s, dev.member); /* s.n is 0 before */
    __syncthreads();
    const int32_t n = s.n;
    __syncthreads();
    if (threadIdx.x == 0) s.is_asked = s.n_told = 0;
    return n == 0 && !is_asked ? go(NB6_DEVICE_GO_ON) : show_and_ask(control_block, s);
}

/* Executed by the first warp: drop members of the last block that are no candidates, and defer notes and the others
 * to the notifier block, or leave both to heed_block.   @return whether they are deferred */
__device__ __forceinline__ bool settle_few(struct nb6_device_control_block *control_block, int32_t n_look,
                                           service_memory &s)
{
    const int32_t i = n_look > 0 ? leave_out(n_look, s) : -1;
    const bool has_centre = __any_sync(ALL, i >= dev.first_centre);
    return (s.n_told > 0 || has_centre) && defer_work(control_block, i, has_centre, s);
}

__device__ __forceinline__ verdict serve_after(struct nb6_device_control_block *control_block, service_memory &s)
{
    const int32_t n_look = s.n_look;
    if (s.pending.n_found == 0 && n_look <= WARP && (s.n_told > 0 || n_look > 0)) {
        bool is_settled = false;
        __syncthreads();
        if (warp_of() == 0) is_settled = settle_few(control_block, n_look, s);
        if (__syncthreads_or(is_settled)) return go(NB6_DEVICE_GO_ON);
    }
    const bool has_any = s.n_told > 0 || s.n_look > 0 || s.is_asked || s.waits_for_tides || s.pending.n_found > 0;
    return has_any ? heed_block(control_block, s) : go(NB6_DEVICE_GO_ON);
}

} // namespace

#endif
