/** A team of threads for parallel parts that last microseconds.
 *
 *  OpenMP says how many threads there are (OMP_NUM_THREADS, omp_set_num_threads) and where they are bound; the team
 *  says how they wait, unless OMP_WAIT_POLICY does: `passive`, and they always sleep at once, `active`, and they do
 * not. Between two runs a thread spins for as long as the next run is likely to come in, so that a run costs
 * microseconds; but as soon as threads lose their processors to others, waiting ones sleep almost at once. A part whose
 * thread has not begun with it some microseconds after the caller has made his own, since it sleeps or has lost its
 * processor, is made by the caller. libgomp knows one time to spin only: long, and on a shared machine a run takes many
 * times as long; short, and to wake the threads of 16 processors takes 50 to 90 microseconds each time. */
#ifndef NBC_TEAM_H
#define NBC_TEAM_H

#include <stdint.h>

/** One of so many parts of a job. */
typedef void nbc_part(void *context, int part, int parts);

/** Parts that can run at the same time: threads of OpenMP, 1 within a part or a parallel region. */
int nbc_team_size(void);
/** From now on the calling thread, which works beside one that is in more of a hurry, makes all parts itself. */
void nbc_team_leave(void);
/** work(context, part, parts) for all parts, at the same time as far as there are threads, otherwise one after another:
 *  parts must not wait for each other. What they wrote is seen when the call returns. Calls from several threads at
 *  once are allowed; one of them has the team.
 *  @param[in] parts  nbc_team_size at most, or threads are made for which there are no processors */
void nbc_team_run(int parts, nbc_part *work, void *context);

/** The share of one part of n things, in order, as even as it can be: [*first, *end). */
static inline void nbc_range(int64_t n, int part, int parts, int64_t *first, int64_t *end)
{
    *first = n * part / parts;
    *end = n * (part + 1) / parts;
}

/** Things that are given out one after another: the number of the next one; n or more: there is none any more. */
struct nbc_queue {
    _Alignas(64) int64_t next;
};
static inline int64_t nbc_take(struct nbc_queue *queue)
{
    return __atomic_fetch_add(&queue->next, 1, __ATOMIC_RELAXED);
}

/** Waits until a number has this value, which a part writes, with __ATOMIC_RELEASE, when it has made a thing that it
 *  took from the queue before the caller took his own: then no thread waits for ever, whoever makes the parts. */
void nbc_await(const int32_t *number, int32_t value);

/** The least of what several threads have found, which begins with INT64_MAX. */
static inline void nbc_atomic_min(int64_t *least, int64_t value)
{
    int64_t old = __atomic_load_n(least, __ATOMIC_RELAXED);
    while (value < old && !__atomic_compare_exchange_n(least, &old, value, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

/** The most of what several threads have found. */
static inline void nbc_atomic_max(int64_t *most, int64_t value)
{
    int64_t old = __atomic_load_n(most, __ATOMIC_RELAXED);
    while (value > old && !__atomic_compare_exchange_n(most, &old, value, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

/** Parts for n things of which each thread should have so many at least. */
static inline int nbc_parts(int64_t n, int64_t least)
{
    if (n < 2 * least) return 1;
    const int64_t worth = n / least, size = nbc_team_size();
    return (int)(worth < size ? worth : size);
}

#endif
