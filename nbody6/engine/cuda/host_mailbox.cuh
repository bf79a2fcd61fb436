/** What the first block of threads says to the host and hears from it (cuda/block.h): questions and answers, and how
 *  far notes are written. */
#ifndef NB6_CUDA_HOST_MAILBOX_CUH
#define NB6_CUDA_HOST_MAILBOX_CUH

#include "nbody6/engine/cuda/block.h"
#include "nbody6/engine/cuda/notifier.cuh"
#include "nbody6/engine/cuda/warp.cuh"

namespace
{

/* Of the first block of threads, for the block that is being made. */
struct service_memory {
    uint32_t questions; /* of the kernel so far */
    int32_t n;
    int32_t is_asked;      /* before the block */
    int32_t n_told;        /* members of the block of whose steps the host is told, from the end of dev.member on */
    int32_t n_watched;     /* of them: those that are watched */
    int32_t told[WARPS];   /* the first of them */
    int32_t centres;       /* where centres of mass begin in dev.ask; -1: not looked for yet */
    uint32_t noted, taken; /* notes: written, taken by the host as far as is known */
    int32_t n_look;        /* members of the last block, in dev.reg, that may be shown */
    struct pending_notes pending; /* those of the last block, which the notifier block writes */
    bool waits_for_tides;         /* all blocks of threads sum tides, which the host has asked for */
    struct nb6_host_mailbox *mailbox;
    uint32_t *noted_at; /* in the mail: where this block of threads says how far notes are written */
    struct nb6_dev_note *note;
    struct nb6_device_reply reply; /* the last one; t_ask and n_ask are those of dev.control from the begin on */
};

__device__ __forceinline__ void begin_service(const struct nb6_device_control_block *control_block, service_memory &s)
{
    s.questions = s.noted = s.taken = 0;
    s.is_asked = s.n_told = s.n_watched = s.n_look = 0;
    s.reply.t_ask = dev.control->t_ask;
    s.reply.n_ask = dev.control->n_ask;
    s.centres = -1;
    s.waits_for_tides = false;
    s.pending = {};
    s.mailbox = control_block->home.mailbox;
    s.note = control_block->home.note;
}

/* Where this block of threads says how far notes are written: chosen when a kernel begins, also after a large block,
 * with what the first one has kept. */
__device__ __forceinline__ void choose_count(service_memory &s)
{
    if (s.mailbox) s.noted_at = blockIdx.x == NOTIFIER ? &s.mailbox->noted_by_notifier : &s.mailbox->noted;
}

/* By one thread: nobody is found yet who has to do with few-body systems. */
__device__ __forceinline__ void clear_found(service_memory &s)
{
    s.n = s.n_told = s.n_watched = 0;
}

/* Body i, if it is watched or the host is told of its steps, is due. */
__device__ __forceinline__ void find_service_of(int32_t i, service_memory &s)
{
    const int8_t watch = dev.watch[i];
    if (watch & NB6_DEV_ASK) dev.member[atomicAdd(&s.n, 1)] = i;
    if ((watch & (NB6_DEV_ASK | NB6_DEV_REMOTE)) != NB6_DEV_REMOTE) return;
    const int32_t at = atomicAdd(&s.n_told, 1);
    if (at < WARPS) s.told[at] = i;
    dev.member[2 * dev.n - 1 - at] = i;
}

/* Whether there may be notes that the host does not know of. */
__device__ __forceinline__ bool may_publish(const service_memory &s)
{
    return s.reply.n_ask > 0 && s.mailbox && !s.pending.is_any;
}

__device__ __forceinline__ void publish_count(const service_memory &s)
{
    asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(s.noted_at), "r"(s.noted) : "memory");
}

/* By one thread, after a barrier: the host may read what was noted, up to the last committed block. This waits for all
 * that is on its way, so that it is done where nobody waits for the thread. */
__device__ __forceinline__ void publish_notes(const service_memory &s, nb6_time reached)
{
    publish_count(s);
    asm volatile("st.release.sys.global.s64 [%0], %1;" ::"l"(&s.mailbox->reached), "l"(reached) : "memory");
}

/* A question to the host, with all that the threads have shown.   @param[in] t  of the block it is about */
__device__ __forceinline__ void send_question(bool is_after, bool has_tides, nb6_time now, nb6_time t,
                                              service_memory &s)
{
    __syncthreads();
    if (threadIdx.x != 0) return;
    struct nb6_host_mailbox *mailbox = s.mailbox;
    mailbox->is_after = is_after;
    mailbox->has_tides = has_tides;
    mailbox->n = s.n;
    mailbox->now = now;
    mailbox->t = t;
    s.questions++;
    mailbox->noted_before = s.noted;
    asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(&mailbox->asked), "r"(s.questions) : "memory");
}

__device__ __forceinline__ void await_answer(const service_memory &s)
{
    if (threadIdx.x == 0) {
        uint32_t answered, looks = 0;
        do {
            end_if_failed(&s.mailbox->has_failed, ++looks);
            asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(answered) : "l"(&s.mailbox->answered) : "memory");
        } while (answered != s.questions);
    }
    __syncthreads();
}

/* ---- answers: memory of the host is read, a microsecond away, so that as much as can be is on its way at once ---- */

constexpr int REPLY_NUMBERS = sizeof(struct nb6_device_reply) / sizeof(int64_t);
static_assert(REPLY_NUMBERS <= WARP, "the other warps read something else");

/* A number of the answer, for each of the first threads. */
__device__ __forceinline__ int64_t fetch_reply(const service_memory &s)
{
    if (threadIdx.x >= REPLY_NUMBERS) return 0;
    return reinterpret_cast<const volatile int64_t *>(&s.mailbox->reply)[threadIdx.x];
}

/* @param[in] number  as they were fetched   @return that of the share */
__device__ __forceinline__ int take_reply(int64_t number, service_memory &s)
{
    if (threadIdx.x < REPLY_NUMBERS) reinterpret_cast<int64_t *>(&s.reply)[threadIdx.x] = number;
    __syncthreads();
    if (threadIdx.x == 0) {
        dev.control->t_ask = s.reply.t_ask;
        dev.control->n_ask = s.reply.n_ask;
    }
    return (int)s.reply.answer;
}

/* The answer after a block, with the places that it concerns, in dev.member.   @return that of the share */
__device__ __forceinline__ int take_reply_with_places(const int32_t *changed_bodies, service_memory &s)
{
    const volatile int32_t *place = changed_bodies;
    const int64_t k = (int64_t)threadIdx.x - WARP;
    const int64_t number = fetch_reply(s);
    const int32_t guessed = k >= 0 && k < dev.n ? place[k] : 0; /* there may be so many */
    const int answer = take_reply(number, s);
    const int64_t n = s.reply.n_changed_bodies;
    if (k >= 0 && k < n) dev.member[k] = guessed;
    for (int64_t j = k + THREADS - WARP; k >= 0 && j < n; j += THREADS - WARP) dev.member[j] = place[j];
    __syncthreads();
    return answer;
}

/* One of the words of 8 bytes of a record. */
template <typename record>
__device__ __forceinline__ void copy_word(const record *from, record *to, int64_t at, int64_t word)
{
    static_assert(sizeof(record) % sizeof(uint64_t) == 0, "whole words");
    reinterpret_cast<uint64_t *>(to + at)[word] = reinterpret_cast<const volatile uint64_t *>(from + at)[word];
}

/* Records of members from one array to another. */
template <typename record>
__device__ __forceinline__ void copy_records(const record *from, record *to, const int32_t *member, int64_t n)
{
    constexpr int WORDS = sizeof(record) / sizeof(uint64_t);
    for (int64_t k = threadIdx.x; k < n * WORDS; k += THREADS) copy_word(from, to, member[k / WORDS], k % WORDS);
}

/* Room in the ring for a note of each warp. */
__device__ __forceinline__ void wait_for_room(service_memory &s)
{
    if (s.noted + WARPS - s.taken <= NB6_DEVICE_NOTES) return;
    __syncthreads();
    if (threadIdx.x == 0) {
        publish_count(s);
        uint32_t looks = 0;
        do {
            end_if_failed(&s.mailbox->has_failed, ++looks);
            asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(s.taken) : "l"(&s.mailbox->taken) : "memory");
        } while (s.noted + WARPS - s.taken > NB6_DEVICE_NOTES);
    }
    __syncthreads();
}

} // namespace

#endif
