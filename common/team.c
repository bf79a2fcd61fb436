#include "common/team.h"

#include <limits.h>
#include <linux/futex.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MOST_PARTS = 255, PARTS_BITS = 8, PAUSES = 32 };

/* Nanoseconds. A waiting thread spins for the first time while no other process needs its processor, which is longer
 * than most series of small blocks that one thread computes alone, and for the second time otherwise. A jump of the
 * clock means that it has lost its processor; that counts for a while. */
enum { PATIENCE = 1000000, PATIENCE_IF_BUSY = 4000, JUMP = 100000, REMEMBERED = 50000000 };
/* Sleepers are woken when the time since the last wake-up, or the work that the caller has done for them since, in
 * one run or in several, exceeds so many times the cost of a wake-up. The length of a run is not known in advance: a
 * sleeper looks for one after the first time, and then each time after twice as long. */
enum { WAKE_AGAIN = 16, WORTH_WAKING = 40000, FIRST_NAP = 1000000, LONGEST_NAP = 1000000000 };

/* The team of the process. Threads are the same for all users, so the team is not state of a library. */
static struct {
    _Alignas(64) uint64_t call;     /* number of the run, then its parts; workers wait for it */
    _Alignas(64) uint32_t sleepers; /* workers that sleep */
    _Alignas(64) uint32_t left;     /* parts that are not finished; the caller waits for it */
    uint32_t caller_sleeps;
    _Alignas(64) nbc_part *work;
    void *context;
    int threads;        /* workers that were started */
    int64_t woken_at;   /* sleepers, on the clock of now() */
    int64_t waking;     /* cost of the last wake-up */
    int64_t missed;     /* their work since then, estimated */
    int64_t busy_until; /* on the clock of now() */
    int64_t patience, patience_if_busy;
    pthread_mutex_t in_use;
} team = {.patience = PATIENCE, .patience_if_busy = PATIENCE_IF_BUSY, .in_use = PTHREAD_MUTEX_INITIALIZER};

/* The run of which each part was last taken, by its worker or by the caller, with a cache line for each part. */
static struct {
    _Alignas(64) uint64_t number;
} taken[MOST_PARTS];

static _Thread_local int is_inside;

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void pause_a_moment(void)
{
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#else
    __asm__ volatile("" ::: "memory");
#endif
}

/* Half of the call that changes with each run. */
static void *half_of_call(void)
{
    return (uint32_t *)(void *)&team.call + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

/* Sleep while the word has this value, up to a limit of time. */
static void sleep_on(void *word, uint32_t value, int64_t longest)
{
    const struct timespec time = {longest / 1000000000, longest % 1000000000};
    (void)syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, &time, NULL, 0);
}

static void wake(void *word)
{
    (void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* ---- waiting */

struct patience {
    int64_t begin, last;
};

/* Whether to spin on. */
static int is_patient(struct patience *p)
{
    for (int k = 0; k < PAUSES; k++) pause_a_moment();
    const int64_t t = now();
    if (p->begin == 0) p->begin = p->last = t;
    if (t - p->last > JUMP) __atomic_store_n(&team.busy_until, t + REMEMBERED, __ATOMIC_RELAXED);
    p->last = t;
    const int busy = t < __atomic_load_n(&team.busy_until, __ATOMIC_RELAXED);
    return t - p->begin < (busy ? team.patience_if_busy : team.patience);
}

void nbc_await(const int32_t *number, int32_t value)
{
    enum { SPINS = 1024 };
    for (int k = 0; __atomic_load_n(number, __ATOMIC_ACQUIRE) != value; k++) {
        if (k % SPINS == SPINS - 1)
            sched_yield();
        else
            pause_a_moment();
    }
}

/* Wait for the next call after the last one seen. */
static uint64_t await_call(uint64_t seen)
{
    struct patience patience = {0, 0};
    int64_t nap = FIRST_NAP;
    for (;;) {
        for (int k = 0; k < PAUSES; k++) {
            const uint64_t call = __atomic_load_n(&team.call, __ATOMIC_ACQUIRE);
            if (call != seen) return call;
            pause_a_moment();
        }
        if (is_patient(&patience)) continue;
        __atomic_fetch_add(&team.sleepers, 1, __ATOMIC_SEQ_CST);
        if (__atomic_load_n(&team.call, __ATOMIC_SEQ_CST) == seen) sleep_on(half_of_call(), (uint32_t)seen, nap);
        __atomic_fetch_sub(&team.sleepers, 1, __ATOMIC_SEQ_CST);
        nap = 2 * nap < LONGEST_NAP ? 2 * nap : LONGEST_NAP;
    }
}

/* @return whether all parts are done */
static int await_briefly(void)
{
    for (int k = 0; k < PAUSES; k++) {
        if (__atomic_load_n(&team.left, __ATOMIC_ACQUIRE) == 0) return 1;
        pause_a_moment();
    }
    return 0;
}

/* Some microseconds: the time that working threads may need, short against that for which a processor is lost. */
static int await_some_time(void)
{
    enum { TIMES = 8 };
    for (int k = 0; k < TIMES; k++)
        if (await_briefly()) return 1;
    return 0;
}

static void await_parts(void)
{
    struct patience patience = {0, 0};
    while (!await_briefly()) {
        if (is_patient(&patience)) continue;
        __atomic_store_n(&team.caller_sleeps, 1, __ATOMIC_SEQ_CST);
        const uint32_t left = __atomic_load_n(&team.left, __ATOMIC_SEQ_CST);
        if (left > 0) sleep_on(&team.left, left, LONGEST_NAP);
        __atomic_store_n(&team.caller_sleeps, 0, __ATOMIC_SEQ_CST);
    }
}

/* ---- parts */

/* The first thread to claim a part makes it.   @return 0: another thread has claimed it */
static int take_part(int part, uint64_t number)
{
    uint64_t last = __atomic_load_n(&taken[part].number, __ATOMIC_RELAXED);
    return last < number &&
           __atomic_compare_exchange_n(&taken[part].number, &last, number, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static void finish_part(void)
{
    const uint32_t left = __atomic_sub_fetch(&team.left, 1, __ATOMIC_SEQ_CST);
    if (left == 0 && __atomic_load_n(&team.caller_sleeps, __ATOMIC_SEQ_CST)) wake(&team.left);
}

/* If OpenMP binds threads to places, bind those of the team as well; else they would all share the place of the
 * first. */
static void bind(int thread)
{
    const int places = omp_get_num_places();
    if (omp_get_proc_bind() == omp_proc_bind_false || places < 1) return;
    int number[CPU_SETSIZE];
    const int place = thread % places, n = omp_get_place_num_procs(place);
    cpu_set_t set;
    if (n < 1 || n > CPU_SETSIZE) return;
    omp_get_place_proc_ids(place, number);
    CPU_ZERO(&set);
    for (int k = 0; k < n; k++)
        if (number[k] >= 0 && number[k] < CPU_SETSIZE) CPU_SET((size_t)number[k], &set);
    (void)sched_setaffinity(0, sizeof set, &set);
}

/* The caller waits for all threads with a part in its call, so that work and context remain valid while they are
 * used. */
static void *be_worker(void *argument)
{
    const int me = (int)(intptr_t)argument;
    uint64_t seen = 0;
    is_inside = 1;
    bind(me);
    for (;;) {
        seen = await_call(seen);
        const int parts = (int)(seen & MOST_PARTS);
        if (me >= parts || !take_part(me, seen >> PARTS_BITS)) continue;
        team.work(team.context, me, parts);
        finish_part();
    }
    return NULL;
}

/* A child of fork has none of these threads. */
static void forget_threads(void)
{
    team.threads = 0;
    team.call = 0;
    team.sleepers = team.left = team.caller_sleeps = 0;
    for (int part = 0; part < MOST_PARTS; part++) taken[part].number = 0;
    pthread_mutex_init(&team.in_use, NULL);
}

/* The user's choice of waiting, in the variables of OpenMP. */
static void ask_for_patience(void)
{
    const char *policy = getenv("OMP_WAIT_POLICY");
    if (policy && strcasecmp(policy, "passive") == 0) team.patience = PATIENCE_IF_BUSY;
    if (policy && strcasecmp(policy, "active") == 0) team.patience_if_busy = PATIENCE;
}

/* Start workers for so many parts, with all signals blocked, which are for the program's own threads.   @return 0:
 * there are too few */
static int provide(int parts)
{
    if (team.threads >= parts - 1) return 1;
    sigset_t all, old;
    pthread_attr_t attributes;
    if (team.threads == 0 && team.call == 0) {
        (void)pthread_atfork(NULL, NULL, forget_threads);
        ask_for_patience();
    }
    if (pthread_attr_init(&attributes)) return 0;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    while (team.threads < parts - 1) {
        pthread_t thread;
        if (pthread_create(&thread, &attributes, be_worker, (void *)(intptr_t)(team.threads + 1))) break;
        team.threads++;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attributes);
    return team.threads >= parts - 1;
}

/* ---- runs */

int nbc_team_size(void)
{
    if (is_inside || omp_in_parallel()) return 1;
    const int threads = omp_get_max_threads();
    return threads < MOST_PARTS ? threads : MOST_PARTS;
}

void nbc_team_leave(void)
{
    is_inside = 1;
}

/* Take over parts whose workers still sleep, or have lost their processors, which lasts a thousand times as long as
 * a part. */
static void make_what_is_left(int parts, nbc_part *work, void *context, uint64_t number)
{
    for (int part = parts - 1; part > 0 && __atomic_load_n(&team.left, __ATOMIC_ACQUIRE) > 0; part--) {
        if (!take_part(part, number)) continue;
        work(context, part, parts);
        finish_part();
    }
}

static void wake_sleepers(int64_t t)
{
    wake(half_of_call());
    team.woken_at = now();
    team.waking = team.woken_at - t;
    team.missed = 0;
}

/* The part of the caller, whose duration predicts that of the other parts. */
static void begin_with_sleepers(int parts, nbc_part *work, void *context)
{
    const int64_t begin = now();
    const int are_rarely_woken = begin - team.woken_at > WAKE_AGAIN * team.waking;
    if (are_rarely_woken) wake_sleepers(begin);
    work(context, 0, parts);
    if (are_rarely_woken) return;
    const int64_t end = now();
    team.missed += (end - begin) * (parts - 1);
    if (team.missed >= WORTH_WAKING) wake_sleepers(end);
}

static void run_together(int parts, nbc_part *work, void *context)
{
    const uint64_t number = (team.call >> PARTS_BITS) + 1;
    team.work = work;
    team.context = context;
    __atomic_store_n(&team.left, (uint32_t)parts - 1, __ATOMIC_RELAXED);
    __atomic_store_n(&team.call, number << PARTS_BITS | (uint64_t)parts, __ATOMIC_SEQ_CST);
    const int do_sleep = __atomic_load_n(&team.sleepers, __ATOMIC_SEQ_CST) > 0;
    is_inside = 1;
    if (do_sleep)
        begin_with_sleepers(parts, work, context);
    else
        work(context, 0, parts);
    if (do_sleep || !await_some_time()) make_what_is_left(parts, work, context, number);
    is_inside = 0;
    await_parts();
}

void nbc_team_run(int parts, nbc_part *work, void *context)
{
    const int has_team = parts > 1 && parts <= MOST_PARTS && !is_inside && pthread_mutex_trylock(&team.in_use) == 0;
    if (has_team && provide(parts)) {
        run_together(parts, work, context);
    } else {
        for (int part = 0; part < parts; part++) work(context, part, parts);
    }
    if (has_team) pthread_mutex_unlock(&team.in_use);
}
