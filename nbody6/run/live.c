#include "nbody6/run/live.h"

#include "nbody6/engine/engines.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/state/sim.h"

#include <pthread.h>

static struct {
    pthread_mutex_t mutex;
    const struct nb6_sim **sim; /* [n] in no order */
    int64_t n, room;
} live = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void lock(void)
{
    pthread_mutex_lock(&live.mutex);
}

static void unlock(void)
{
    pthread_mutex_unlock(&live.mutex);
}

/* A child of fork must not find the table locked by a thread that it does not have. */
static void care_for_children(void)
{
    (void)pthread_atfork(lock, unlock, unlock);
}

static int64_t find(const struct nb6_sim *sim)
{
    int64_t k = live.n - 1;
    while (k >= 0 && live.sim[k] != sim) k--;
    return k;
}

struct nb6_sim *nb6_live_make(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct nb6_sim *sim = nbc_alloc(1, sizeof *sim);
    if (!sim) return NULL;
    pthread_once(&once, care_for_children);
    lock();
    const int has_room = nbc_grow(&live.sim, &live.room, live.n + 1, sizeof *live.sim);
    if (has_room) live.sim[live.n++] = sim;
    unlock();
    if (has_room) return sim;
    nbc_free(sim);
    return NULL;
}

int nb6_live_is(const struct nb6_sim *sim)
{
    lock();
    const int is = find(sim) >= 0;
    unlock();
    return is;
}

int nb6_live_check(const struct nb6_sim *sim, const char *call, struct nbc_error *err)
{
    if (nb6_live_is(sim)) return NBC_OK;
    return nbc_fail(err, NBC_BAD_ARGUMENT, "%s: %s", call,
                    sim ? "this is no simulation: it was freed" : "the simulation is NULL");
}

/* @return whether it was there */
static int forget(const struct nb6_sim *sim)
{
    lock();
    const int64_t k = find(sim);
    if (k >= 0) live.sim[k] = live.sim[--live.n];
    if (live.n == 0) {
        nbc_free(live.sim);
        live.sim = NULL;
        live.room = 0;
    }
    unlock();
    return k >= 0;
}

void nb6_release(struct nb6_sim *sim)
{
    if (!sim) return;
    nb6_engines_release(sim);
    nb6_sim_close(sim);
    nbc_free(sim);
}

/* If an observer frees the simulation that called it, no more events are raised, and the call frees the simulation when
 * it returns (nb6_live_end). */
void nb6_free(nb6_t *sim)
{
    if (!sim || !forget(sim)) return;
    if (!sim->is_called) {
        nb6_release(sim);
        return;
    }
    sim->is_freed = sim->stopped = 1;
    sim->observer = (struct nb6_observer){0};
}

int nb6_live_begin(struct nb6_sim *sim, const char *call, struct nbc_error *err)
{
    const int status = nb6_live_check(sim, call, err);
    if (status) return status;
    if (sim->is_called)
        return nbc_fail(err, NBC_BAD_STATE, "%s: the simulation is at work: an observer asks, but changes nothing",
                        call);
    sim->is_called = 1;
    return NBC_OK;
}

int nb6_live_end(struct nb6_sim *sim, int status, struct nbc_error *err)
{
    sim->is_called = 0;
    if (!sim->is_freed) return status;
    nb6_release(sim);
    return nbc_fail(err, NBC_BAD_STATE, "an observer has freed the simulation");
}
