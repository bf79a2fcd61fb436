#include "nbody6/run/opening.h"

#include "common/nbc.h"
#include "nbody6/state/sim.h"
#include "nbody6/step/engine_choice.h"

#include <pthread.h>
#include <stdint.h>

/* Below this many stars all is opened faster than a thread begins, unless there is a GPU, which nobody takes then. */
enum { WORTH_A_THREAD = 2000 };

struct nb6_opening {
    struct nb6_sim opened;
    int64_t n;
    pthread_t thread;
    int is_under_way, status;
    struct nbc_error err;
};

static void *run(void *context)
{
    struct nb6_opening *o = context;
    nb6_engine_wake(&o->opened.config, o->n); /* while it has nothing to do: later it would end that first */
    o->status = nb6_sim_open(&o->opened, o->n, &o->err);
    return NULL;
}

struct nb6_opening *nb6_opening_begin(const struct nb6_sim *sim, int64_t n)
{
    struct nb6_opening *o = nbc_alloc(1, sizeof *o);
    if (!o) return NULL;
    o->opened.config = sim->config;
    o->n = n;
    o->is_under_way = n >= WORTH_A_THREAD && n <= INT32_MAX && pthread_create(&o->thread, NULL, run, o) == 0;
    return o;
}

int nb6_opening_end(struct nb6_opening *o, struct nb6_sim *sim, struct nbc_error *err)
{
    if (!o) return nbc_fail(err, NBC_NO_MEMORY, "no memory to open a simulation");
    if (o->is_under_way)
        pthread_join(o->thread, NULL);
    else if (sim)
        run(o);
    const int status = o->status;
    if (status && err) *err = o->err;
    if (sim && !status)
        nb6_sim_move(&o->opened, sim);
    else
        nb6_sim_close(&o->opened);
    nbc_free(o);
    return status;
}
