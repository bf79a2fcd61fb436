/** Communication of the first block of threads with the host (cuda/block.h): questions, answers, and the count of
 *  notes. */
#ifndef NB6_CUDA_HOST_MAILBOX_CUH
#define NB6_CUDA_HOST_MAILBOX_CUH

#include "nbody6/engine/cuda/block.h"
#include "nbody6/engine/cuda/notifier.cuh"
#include "nbody6/engine/cuda/warp.cuh"

namespace
{

/* State of the host service in the first block of threads, for the present block step. Members are *told* when the
 * host gets a note of their step, *shown* when they are copied to the host image. */
struct service_memory {
    uint32_t questions; /* by this kernel so far */
    int32_t n;
    int32_t is_asked;      /* 1: the host was asked before the block */
    int32_t n_told;        /* members whose steps are noted for the host, stored backwards from the end of dev.member */
    int32_t n_watched;     /* watched ones (stages/state.h) among them */
    int32_t told[WARPS];   /* the first of them */
    int32_t centres;       /* index of the first centre of mass in dev.ask; -1: not known yet */
    uint32_t noted, taken; /* notes: written; read by the host, as far as is known */
    int32_t n_look;        /* members of the last block, in dev.reg, that the host may have to examine */
    struct pending_notes pending; /* notes of the last block, which the notifier block writes */
    bool waits_for_tides;         /* 1: all blocks of threads sum tides for the host */
    struct nb6_host_mailbox *mailbox;
    uint32_t *noted_at; /* count of notes of this block of threads, in the mailbox */
    struct nb6_dev_note *note;
    struct nb6_device_reply reply; /* the last reply; from the start on t_ask and n_ask are those of dev.control */
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

/* Select the count of notes of this block of threads: when a kernel begins, also after a large block, when the state
 * of the first block of threads has been restored. */
__device__ __forceinline__ void choose_count(service_memory &s)
{
    if (s.mailbox) s.noted_at = blockIdx.x == NOTIFIER ? &s.mailbox->noted_by_notifier : &s.mailbox->noted;
}

/* Called by one thread: no members for the host service are found yet. */
__device__ __forceinline__ void clear_found(service_memory &s)
{
    s.n = s.n_told = s.n_watched = 0;
}

/* Body i is due. Count it if it is watched, or if its steps are noted for the host. */
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

/* Called by one thread, after a barrier: publish the notes up to the last committed block. The release waits for all
 * writes under way, so a thread does it for which nothing waits. */
__device__ __forceinline__ void publish_notes(const service_memory &s, nb6_time reached)
{
    publish_count(s);
    asm volatile("st.release.sys.global.s64 [%0], %1;" ::"l"(&s.mailbox->reached), "l"(reached) : "memory");
}

/* Send a question to the host, after all that the threads have copied to its image.   @param[in] t  of the block in
 * question */
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

/* ---- answers: a load of host memory takes a microsecond, so that as many as possible are in flight together ---- */

constexpr int REPLY_NUMBERS = sizeof(struct nb6_device_reply) / sizeof(int64_t);
static_assert(REPLY_NUMBERS <= WARP, "the other warps read something else");

/* One number of the answer for each of the first threads. */
__device__ __forceinline__ int64_t fetch_reply(const service_memory &s)
{
    if (threadIdx.x >= REPLY_NUMBERS) return 0;
    return reinterpret_cast<const volatile int64_t *>(&s.mailbox->reply)[threadIdx.x];
}

/* Store the numbers of a reply.   @param[in] number  as fetched by this thread   @return the answer */
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

/* Take the answer after a block, and the indices that it lists into dev.member.   @return the answer */
__device__ __forceinline__ int take_reply_with_places(const int32_t *changed_bodies, service_memory &s)
{
    const volatile int32_t *place = changed_bodies;
    const int64_t k = (int64_t)threadIdx.x - WARP;
    const int64_t number = fetch_reply(s);
    const int32_t guessed = k >= 0 && k < dev.n ? place[k] : 0; /* for the largest possible number of them */
    const int answer = take_reply(number, s);
    const int64_t n = s.reply.n_changed_bodies;
    if (k >= 0 && k < n) dev.member[k] = guessed;
    for (int64_t j = k + THREADS - WARP; k >= 0 && j < n; j += THREADS - WARP) dev.member[j] = place[j];
    __syncthreads();
    return answer;
}

/* Copy one of the 8-byte words of a record. */
template <typename record>
__device__ __forceinline__ void copy_word(const record *from, record *to, int64_t at, int64_t word)
{
    static_assert(sizeof(record) % sizeof(uint64_t) == 0, "whole words");
    reinterpret_cast<uint64_t *>(to + at)[word] = reinterpret_cast<const volatile uint64_t *>(from + at)[word];
}

/* Copy records of members from one array to another. */
template <typename record>
__device__ __forceinline__ void copy_records(const record *from, record *to, const int32_t *member, int64_t n)
{
    constexpr int WORDS = sizeof(record) / sizeof(uint64_t);
    for (int64_t k = threadIdx.x; k < n * WORDS; k += THREADS) copy_word(from, to, member[k / WORDS], k % WORDS);
}

/* Wait until the ring has room for a note of each warp. */
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
