/* How threads of OpenMP wait for the next parallel part. */
#include "common/nbc.h"

#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <strings.h>

/* State of the process: set once, then constant. */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int n_counted;

/* LLVM's runtime has a function for the milliseconds that a thread spins. */
extern void kmp_set_blocktime(int milliseconds) __attribute__((weak));

/* A team that runs once, and then sleeps for ever. */
static void *be_counted(void *context)
{
    int n = 0;
#pragma omp parallel num_threads(*(const int *)context) reduction(+ : n)
    n++;
    pthread_mutex_lock(&mutex);
    n_counted = n;
    pthread_cond_signal(&changed);
    while (n_counted) pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex); /* never */
    return NULL;
}

static void *do_nothing(void *context)
{
    return context;
}

/* libgomp ends the program if it cannot create its threads. */
static int may_have(int n)
{
    pthread_t thread[n];
    int made = 0;
    while (made < n && pthread_create(&thread[made], NULL, do_nothing, NULL) == 0) made++;
    for (int k = 0; k < made; k++) pthread_join(thread[k], NULL);
    return made == n;
}

/* The spare team must not get the signals of the program. */
static void make_spare_team(int n)
{
    sigset_t all, old;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    if (may_have(n + 1) && pthread_create(&thread, NULL, be_counted, &n) == 0) {
        pthread_detach(thread);
        pthread_mutex_lock(&mutex);
        while (!n_counted) pthread_cond_wait(&changed, &mutex);
        pthread_mutex_unlock(&mutex);
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* OMP_WAIT_POLICY=active is for the team (team.c), whose threads then never sleep. If those of OpenMP did not sleep
 * either, two sets of threads would spin on the same processors. */
static int says_how_to_wait(void)
{
    const char *policy = getenv("OMP_WAIT_POLICY");
    return (policy && strcasecmp(policy, "active") != 0) || getenv("GOMP_SPINCOUNT") || getenv("KMP_BLOCKTIME");
}

/* libgomp lets a thread spin 300000 times before it sleeps, for milliseconds; 1000 times, for 10 to 50 microseconds,
 * once its teams have more threads than there are processors. Only environment variables can change this; it reads
 * them when it is loaded, which is before a library can set them. */
static void let_threads_sleep(void)
{
    const int threads = omp_get_max_threads(), processors = omp_get_num_procs();
    if (says_how_to_wait() || threads == 1) return;
    if (kmp_set_blocktime)
        kmp_set_blocktime(0);
    else
        make_spare_team(threads < processors ? processors - threads + 3 : 3);
}

void nbc_let_threads_sleep(void)
{
    pthread_once(&once, let_threads_sleep);
}
