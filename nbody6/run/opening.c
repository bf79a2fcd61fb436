#include "nbody6/run/opening.h"

#include "common/nbc.h"
#include "common/team.h"
#include "nbody6/state/sim.h"
#include "nbody6/step/engine.h"
#include "nbody6/step/engine_choice.h"

#include <omp.h>

/* The stars are looked at by the team. A GPU is woken while it has nothing to do: later it would end that first. */
static void *open_library(void *context)
{
    struct nb6_opening *o = context;
    omp_set_num_threads(o->threads); /* what is opened is for the caller */
    nbc_team_leave();
    nb6_engine_wake(o->config, o->n);
    o->status = nb6_sim_open_regular(o->config, o->n, &o->reg, &o->err);
    return NULL;
}

void nb6_opening_begin(const struct nb6_config *config, int64_t n, struct nb6_opening *o)
{
    /* Nobody takes a GPU by himself for fewer stars, and without one nothing takes long. */
    const int is_worth_it = n >= NB6_DEVICE_WORTH && n < INT32_MAX;
    *o = (struct nb6_opening){.config = config, .n = n, .threads = omp_get_max_threads()};
    o->is_under_way = is_worth_it && pthread_create(&o->thread, NULL, open_library, o) == 0;
}

int nb6_opening_end(struct nb6_opening *o, gpunb_t **reg, struct nbc_error *err)
{
    if (o->is_under_way) pthread_join(o->thread, NULL);
    *reg = o->reg;
    if (o->status && err) *err = o->err;
    return o->status;
}
