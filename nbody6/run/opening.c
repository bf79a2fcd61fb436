#include "nbody6/run/opening.h"

#include "common/nbc.h"
#include "common/team.h"
#include "nbody6/engine/choice.h"
#include "nbody6/engine/engine.h"
#include "nbody6/run/tree_potential.h"
#include "nbody6/state/sim.h"

#include <omp.h>
#include <string.h>

/* The energy of the first adjust wants the potential of all stars: a GPU works on it whenever it has nothing else to do
 * until then. Stars that the library refuses are refused by others as well. */
static int begin_potential(struct nb6_opening *o)
{
    struct nb6_potential_cache *potential = &o->potential;
    const size_t n = (size_t)o->n;
    potential->pot = nbc_alloc_unset(n, sizeof *potential->pot);
    potential->mass = nbc_alloc_unset(n, sizeof *potential->mass);
    potential->x = nbc_alloc_unset(n, sizeof *potential->x);
    if (!potential->pot || !potential->mass || !potential->x)
        return nbc_fail(&o->err, NBC_NO_MEMORY, "no memory for the potential");
    memcpy(potential->mass, o->mass, n * sizeof *o->mass);
    memcpy(potential->x, o->x, n * sizeof *o->x);
    const double(*x)[3] = (const double(*)[3])potential->x;
    const int status = gpunb_potential_start(o->reg, 0, n, n, potential->mass, x, potential->pot);
    if (status) return nbc_fail(&o->err, status, "%s", gpunb_last_error(o->reg));
    potential->started = o->n;
    return NBC_OK;
}

/* The team of threads checks the stars. An idle GPU is woken now: later it would finish other work first. */
static void *open_library(void *context)
{
    struct nb6_opening *o = context;
    omp_set_num_threads(o->threads); /* the caller owns the opened library */
    nbc_team_leave();
    nb6_engine_wake(o->config, o->n);
    o->status = nb6_sim_open_regular(o->config, o->n, &o->reg, &o->err);
    if (!o->status && nb6_regular_on_gpu(o->reg) && !nb6_potential_wants_tree(o->config, o->n))
        o->status = begin_potential(o);
    return NULL;
}

void nb6_opening_begin(const struct nb6_config *config, int64_t n, const double *mass, const double (*x)[3],
                       struct nb6_opening *o)
{
    /* With fewer stars a GPU is used only on request, and without one the opening is short. */
    const int is_worth_it = n >= NB6_DEVICE_WORTH && n < INT32_MAX;
    *o = (struct nb6_opening){.config = config, .n = n, .mass = mass, .x = x, .threads = omp_get_max_threads()};
    o->is_under_way = is_worth_it && pthread_create(&o->thread, NULL, open_library, o) == 0;
}

int nb6_opening_end(struct nb6_opening *o, struct nb6_sim *sim, struct nbc_error *err)
{
    if (o->is_under_way) pthread_join(o->thread, NULL);
    sim->reg = o->reg;
    sim->potential = o->potential;
    if (o->status && err) *err = o->err;
    return o->status;
}
