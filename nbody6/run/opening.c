#include "nbody6/run/opening.h"

#include "common/nbc.h"
#include "common/team.h"
#include "gpunb/regf_device.h"
#include "nbody6/engine/choice.h"
#include "nbody6/engine/engine.h"
#include "nbody6/run/tree_potential.h"
#include "nbody6/state/body.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/view.h"

#include <omp.h>
#include <string.h>

/* From so many bodies on threads are worth their start. */
enum { PARALLEL_BODIES = 4096 };

/* Whether a GPU begins with the potential of n bodies before the first adjust asks for it. */
static int begins_early(const struct nb6_config *config, const gpunb_t *reg, int64_t n)
{
    return nb6_regular_on_gpu(reg) && !nb6_potential_wants_tree(config, n);
}

static int allocate(struct nb6_potential_cache *potential, size_t n, struct nbc_error *err)
{
    potential->pot = nbc_alloc_unset(n, sizeof *potential->pot);
    potential->mass = nbc_alloc_unset(n, sizeof *potential->mass);
    potential->x = nbc_alloc_unset(n, sizeof *potential->x);
    return potential->pot && potential->mass && potential->x
               ? NBC_OK
               : nbc_fail(err, NBC_NO_MEMORY, "no memory for the potential");
}

/* Of bodies whose masses and positions are in it. */
static int begin(struct nb6_potential_cache *potential, gpunb_t *reg, int64_t n, struct nbc_error *err)
{
    const double(*x)[3] = (const double(*)[3])potential->x;
    const int status = gpunb_potential_start(reg, 0, (size_t)n, (size_t)n, potential->mass, x, potential->pot);
    if (status) return nbc_fail(err, status, "%s", gpunb_last_error(reg));
    potential->started = n;
    return NBC_OK;
}

/* The energy of the first adjust wants the potential of all stars: a GPU works on it whenever it has nothing else to do
 * until then. Stars that the library refuses are refused by others as well. */
static int begin_stars(struct nb6_opening *o)
{
    const size_t n = (size_t)o->n;
    const int status = allocate(&o->potential, n, &o->err);
    if (status) return status;
    memcpy(o->potential.mass, o->mass, n * sizeof *o->mass);
    memcpy(o->potential.x, o->x, n * sizeof *o->x);
    return begin(&o->potential, o->reg, o->n, &o->err);
}

/* Declared binaries become pairs, which the adjust takes as one body each: a sum over all stars would be made in vain,
 * and the next one would wait for its end. */
static int declares_pairs(const struct nb6_config *config)
{
    return config->binaries.n > 0;
}

/* A driver loads kernels when they are named for the first time, and waits for those that run: so those of all regular
 * forces are loaded before the potential begins. Who needs them asks again, and reports what is wrong. */
static void load_kernels(gpunb_t *reg, int64_t n)
{
    size_t bytes;
    (void)gpunb_regf_device_bytes(reg, (size_t)n, &bytes);
}

/* The team of threads checks the stars. An idle GPU is woken now: later it would finish other work first. */
static void *open_library(void *context)
{
    struct nb6_opening *o = context;
    omp_set_num_threads(o->threads); /* the caller owns the opened library */
    nbc_team_leave();
    nb6_engine_wake(o->config, o->n);
    o->status = nb6_sim_open_regular(o->config, o->n, &o->reg, &o->err);
    if (o->status || !begins_early(o->config, o->reg, o->n)) return NULL;
    load_kernels(o->reg, o->n);
    if (!declares_pairs(o->config)) o->status = begin_stars(o);
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

int nb6_opening_begin_bodies(struct nb6_sim *sim, struct nbc_error *err)
{
    struct nb6_potential_cache *potential = &sim->potential;
    const struct nb6_subsystems *p = &sim->subsystems;
    if (potential->started || !begins_early(&sim->run.config, sim->reg, p->n_source)) return NBC_OK;
    const int status = allocate(potential, (size_t)p->n_source, err);
    if (status) return status;
#pragma omp parallel for schedule(static) if (p->n_source > PARALLEL_BODIES)
    for (int64_t m = 0; m < p->n_source; m++) {
        const struct nb6_body *body = nb6_get_body(sim, p->source[m]);
        potential->mass[m] = body->mass;
        memcpy(potential->x[m], body->x0, sizeof potential->x[m]);
    }
    return begin(potential, sim->reg, p->n_source, err);
}
