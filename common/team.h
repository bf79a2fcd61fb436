/** A team of threads for parallel parts that last microseconds.
 *
 *  OpenMP sets how many threads there are (OMP_NUM_THREADS, omp_set_num_threads) and where they are bound. The team
 *  sets how they wait, unless OMP_WAIT_POLICY does: with `passive` they always sleep at once, with `active` never.
 *  Between two runs a thread spins for as long as the next run is likely to come in, so that a run costs
 *  microseconds; but once threads lose their processors to others, waiting ones sleep almost at once. The caller
 *  takes over each part whose thread has not begun it some microseconds after the caller has finished its own part,
 *  because the thread sleeps or has lost its processor. libgomp has a single spin time: if it is long, a run on a
 *  shared machine takes many times as long; if it is short, each run has to wake all threads, which takes 50 to 90
 *  microseconds for 16 of them. */
#ifndef NBC_TEAM_H
#define NBC_TEAM_H

#include <stdint.h>

/** One of so many parts of a job. */
typedef void nbc_part(void *context, int part, int parts);

/** Parts that can run at the same time: threads of OpenMP, 1 within a part or a parallel region. */
int nbc_team_size(void);
/** From now on the calling thread, which works beside a more urgent one, makes all parts itself. */
void nbc_team_leave(void);
/** work(context, part, parts) for all parts, at the same time as far as there are threads, otherwise one after another:
 *  parts must not wait for each other. What they wrote is seen when the call returns. Calls from several threads at
 *  once are allowed; one of them has the team.
 *  @param[in] parts  nbc_team_size at most, or threads are made for which there are no processors */
void nbc_team_run(int parts, nbc_part *work, void *context);

/** The range of one part of n items, in order, as even as possible: [*first, *end). */
static inline void nbc_range(int64_t n, int part, int parts, int64_t *first, int64_t *end)
{
    *first = n * part / parts;
    *end = n * (part + 1) / parts;
}

/** A queue of items: the number of the next one; n or more: it is empty. */
struct nbc_queue {
    _Alignas(64) int64_t next;
};
static inline int64_t nbc_take(struct nbc_queue *queue)
{
    return __atomic_fetch_add(&queue->next, 1, __ATOMIC_RELAXED);
}

/** Wait until a number has this value. A part writes it, with __ATOMIC_RELEASE, when it has finished an item that it
 *  took from the queue before the caller took its own: so no thread waits for ever, whichever thread makes the parts.
 */
void nbc_await(const int32_t *number, int32_t value);

/** Minimum over the results of several threads; the number begins with INT64_MAX. */
static inline void nbc_atomic_min(int64_t *least, int64_t value)
{
    int64_t old = __atomic_load_n(least, __ATOMIC_RELAXED);
    while (value < old && !__atomic_compare_exchange_n(least, &old, value, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

/** Maximum over the results of several threads. */
static inline void nbc_atomic_max(int64_t *most, int64_t value)
{
    int64_t old = __atomic_load_n(most, __ATOMIC_RELAXED);
    while (value > old && !__atomic_compare_exchange_n(most, &old, value, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

/** Parts for n items, with at least so many items for each thread. */
static inline int nbc_parts(int64_t n, int64_t least)
{
    if (n < 2 * least) return 1;
    const int64_t worth = n / least, size = nbc_team_size();
    return (int)(worth < size ? worth : size);
}

#endif
