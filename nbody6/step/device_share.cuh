/** The host's share in blocks of the device engine (share.h): the first block of threads finds who is watched, shows
 *  members, and waits for answers. */
#ifndef NB6_DEVICE_SHARE_CUH
#define NB6_DEVICE_SHARE_CUH

#include "nbody6/step/dev_quiet.h"
#include "nbody6/step/device_block.h"
#include "nbody6/step/device_member.cuh"
#include "nbody6/step/device_remote.cuh"
#include "nbody6/step/device_scribe.cuh"
#include "nbody6/step/device_sums.cuh"
#include "nbody6/step/device_warp.cuh"
#include "nbody6/step/share.h"
#include "nbody6/step/stop_reason.h"

namespace
{

/* Of the first block of threads, for the block that is being made. */
struct share_memory {
    uint32_t questions;
    int32_t n;
    int32_t is_asked;      /* before the block */
    int32_t n_told;        /* members of the block of whose steps the host is told, from the end of dev.member on */
    int32_t n_watched;     /* of them: those that are watched */
    int32_t told[WARPS];   /* the first of them */
    int32_t centres;       /* where centres of mass begin in dev.ask */
    uint32_t noted, taken; /* notes: written, taken by the host as far as is known */
    int32_t n_look;        /* members of the last block, in dev.reg, that may be shown */
    struct pending_notes pending; /* those of the last block, which the scribe writes */
    bool waits_for_tides;         /* all blocks of threads sum tides, which the host has asked for */
    struct nb6_device_mail *mail;
    struct nb6_dev_note *note;
    struct nb6_device_reply reply; /* the last one; t_ask and n_ask are those of dev.control from the begin on */
};

__device__ __forceinline__ void begin_share(const struct nb6_dev &dev, const struct nb6_device_word *word,
                                            share_memory &s)
{
    s.questions = s.noted = s.taken = 0;
    s.is_asked = s.n_told = s.n_watched = s.n_look = 0;
    s.reply.t_ask = dev.control->t_ask;
    s.reply.n_ask = dev.control->n_ask;
    s.waits_for_tides = false;
    s.pending = {};
    s.mail = word->home.mail;
    s.note = word->home.note;
}

/* ---- questions ---- */

/* Whether the first block of threads has to. */
__device__ __forceinline__ bool may_publish(const share_memory &s)
{
    return s.reply.n_ask > 0 && s.mail && !s.pending.is_any;
}

/* By one thread, after a barrier: the host may read what was noted, up to the last committed block. This waits for all
 * that is on its way, so that it is done where nobody waits for the thread. */
__device__ __forceinline__ void publish_notes(const struct nb6_dev &dev, const share_memory &s)
{
    asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(&s.mail->noted), "r"(s.noted) : "memory");
    asm volatile("st.release.sys.global.s64 [%0], %1;" ::"l"(&s.mail->reached), "l"(dev.control->ti_now) : "memory");
}

/* A question to the host, with all that the threads have shown. */
__device__ __forceinline__ void ask_host(const struct nb6_dev &dev, const struct nb6_device_word *word, bool is_after,
                                         bool has_tides, share_memory &s)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        struct nb6_device_mail *mail = word->home.mail;
        uint32_t answered, looks = 0;
        mail->is_after = is_after;
        mail->has_tides = has_tides;
        mail->n = s.n;
        mail->now = dev.control->ti_now;
        mail->t = dev.control->t;
        s.questions++;
        asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(&mail->noted), "r"(s.noted) : "memory");
        asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(&mail->asked), "r"(s.questions) : "memory");
        do {
            end_if_failed(&mail->has_failed, ++looks);
            asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(answered) : "l"(&mail->answered) : "memory");
        } while (answered != s.questions);
    }
    __syncthreads();
}

/* Its answer, to which all else that the threads have fetched belongs.   @return that of the share */
__device__ __forceinline__ int take_reply(const struct nb6_dev &dev, const struct nb6_device_word *word,
                                          share_memory &s)
{
    constexpr int NUMBERS = sizeof(struct nb6_device_reply) / sizeof(int64_t);
    if (threadIdx.x < NUMBERS)
        reinterpret_cast<int64_t *>(&s.reply)[threadIdx.x] =
            reinterpret_cast<const volatile int64_t *>(&word->home.mail->reply)[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
        dev.control->t_ask = s.reply.t_ask;
        dev.control->n_ask = s.reply.n_ask;
    }
    return (int)s.reply.answer;
}

/* Words of 8 bytes from one array to another, of members. */
template <typename record>
__device__ __forceinline__ void copy_records(const record *from, record *to, const int32_t *place, int64_t n,
                                             int64_t first_place)
{
    static_assert(sizeof(record) % sizeof(uint64_t) == 0, "whole words");
    constexpr int WORDS = sizeof(record) / sizeof(uint64_t);
    for (int64_t k = threadIdx.x; k < n * WORDS; k += THREADS) {
        const int64_t at = place[k / WORDS] - first_place;
        if (at < 0) continue;
        const volatile uint64_t *source = reinterpret_cast<const volatile uint64_t *>(from + at);
        reinterpret_cast<uint64_t *>(to + at)[k % WORDS] = source[k % WORDS];
    }
}

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
        dev.member[dev.n - 1 - at] = i;
    }
    __syncthreads();
    return s.n;
}

__device__ __forceinline__ int32_t told_member(const struct nb6_dev &dev, const share_memory &s, int32_t k)
{
    return k < WARPS ? s.told[k] : dev.member[dev.n - 1 - k];
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
    if (!s.mail && (s.is_asked || s.n_told > 0)) return NB6_STOP_HOST;
    if (!s.is_asked) return -1;
    if (wait_for_scribe(word->dictation, s.pending)) return NB6_DEVICE_AGAIN;
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

/* Whether a quiet pair has found a perturber; if not, when it looks next is set. */
__device__ __noinline__ bool finds_perturber(const struct nb6_dev &dev, int32_t i)
{
    double safe;
    const bool found = __any_sync(ALL, nb6_dev_quiet_lane(&dev, i, lane_of(), &safe));
    for (int half = WARP / 2; half > 0; half /= 2) safe = fmin(safe, __shfl_xor_sync(ALL, safe, half));
    if (!found && lane_of() == 0) nb6_dev_quiet_goes_on(&dev, i, safe);
    return found;
}

/* Whether the host has to look at a member, by a warp. */
__device__ __forceinline__ bool is_to_be_shown(const struct nb6_dev &dev, int32_t i)
{
    return i < dev.first_centre ? is_candidate(dev, i) : finds_perturber(dev, i);
}

/* More looks than this are made by all blocks of threads. */
constexpr int FEW_LOOKS = 2 * WARPS;

/* By all, before share_after. */
__device__ __forceinline__ void look_at_many(const struct nb6_dev &dev, const struct nb6_device_word *word)
{
    const int32_t n_look = word->n_look;
    for (int64_t k = warp_of_all(); k < n_look; k += warps_of_all()) {
        const int32_t slot = dev.reg[k];
        if (!is_to_be_shown(dev, dev.irr[slot])) continue;
        if (lane_of() == 0) dev.flag[slot] |= NB6_DEV_CANDIDATE;
    }
}

/* Room in the ring for a note of each warp. */
__device__ __forceinline__ void wait_for_room(share_memory &s)
{
    if (s.noted + WARPS - s.taken <= NB6_DEVICE_NOTES) return;
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(&s.mail->noted), "r"(s.noted) : "memory");
        uint32_t looks = 0;
        do {
            end_if_failed(&s.mail->has_failed, ++looks);
            asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(s.taken) : "l"(&s.mail->taken) : "memory");
        } while (s.noted + WARPS - s.taken > NB6_DEVICE_NOTES);
    }
    __syncthreads();
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

/* What others see of a body, by half a warp. */
__device__ __forceinline__ void show_body(const struct nb6_dev &dev, const struct nb6_device_home &home, int32_t i)
{
    constexpr int HALF = WARP / 2;
    static_assert(sizeof(struct nb6_body) == HALF * sizeof(double), "a number for each lane");
    const int lane = lane_of() % HALF;
    reinterpret_cast<double *>(home.body + i)[lane] = reinterpret_cast<const double *>(dev.body + i)[lane];
    if (lane == 0) home.level[i] = dev.level[i];
    constexpr int OF_SYSTEM = sizeof(struct nb6_dev_system) / sizeof(double);
    static_assert(OF_SYSTEM <= HALF, "a number for each lane");
    if (i < dev.first_centre || lane >= OF_SYSTEM) return;
    reinterpret_cast<double *>(home.system + (i - dev.first_centre))[lane] =
        reinterpret_cast<const double *>(dev.system + (i - dev.first_centre))[lane];
}

/* A member, by some warps. */
__device__ __forceinline__ void show_member(const struct nb6_dev &dev, const struct nb6_device_home &home, int32_t i,
                                            int warp, int warps)
{
    constexpr int OF_STAR = sizeof(struct nb6_star) / sizeof(double);
    static_assert(sizeof(struct nb6_star) % sizeof(double) == 0, "whole numbers");
    const int lane = lane_of(), half = lane / (WARP / 2), shown = dev.shown[i];
    const int32_t nnb = dev.star[i].nnb, *list = nb6_dev_list(&dev, i);
    for (int k = lane; warp == 0 && k < OF_STAR; k += WARP)
        reinterpret_cast<double *>(home.star + i)[k] = reinterpret_cast<const double *>(dev.star + i)[k];
    for (int32_t k = warp * WARP + lane; k < nnb; k += warps * WARP) home.row[(int64_t)i * dev.row_room + k] = list[k];
    if (warp == 0 && lane == 0) home.shown[i] = (int8_t)shown;
    if (warp == 0 && half == 0) show_body(dev, home, i);
    if (shown != NB6_DEV_WITH_OTHERS) return;
    for (int32_t k = 2 * warp + half; k < nnb; k += 2 * warps) show_body(dev, home, list[k]);
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

/* Whoever has one near neighbour alone needs no search for the nearest one: those for whom that is no candidate are
 * left out, by the first warp. */
__device__ __forceinline__ void leave_out(const struct nb6_dev &dev, int32_t n_look, share_memory &s)
{
    const int lane = lane_of();
    const int32_t slot = lane < n_look ? dev.reg[lane] : 0, i = lane < n_look ? dev.irr[slot] : -1;
    bool stays = i >= 0;
    if (stays && i < dev.first_centre && dev.near[slot] >= 0) {
        struct nb6_dev_nearest nearest;
        nb6_dev_look_from(&dev, i, dev.near[slot], &nearest);
        stays = nb6_dev_is_candidate(&dev, i, &nearest);
    }
    const uint32_t all = __ballot_sync(ALL, stays);
    if (stays) dev.reg[__popc(all & ((1u << lane) - 1))] = slot;
    if (lane == 0) s.n_look = __popc(all);
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
