#include "nbody6/run/remake.h"

#include "common/nbc.h"
#include "gpuirr/gpuirr.h"
#include "gpunb/gpunb.h"
#include "nbody6/analysis/structure.h"
#include "nbody6/fewbody/pairs/start.h"
#include "nbody6/input/config.h"
#include "nbody6/input/properties.h"
#include "nbody6/run/ageing_begin.h"
#include "nbody6/run/first_forces.h"
#include "nbody6/run/live.h"
#include "nbody6/state/body.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/step/radius.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

int nb6_census_alloc(struct nb6_census *census, int64_t n, struct nbc_error *err)
{
    const size_t room = (size_t)n;
    *census = (struct nb6_census){.name = nbc_alloc(room, sizeof *census->name),
                                  .mass = nbc_alloc(room, sizeof *census->mass),
                                  .x = nbc_alloc(room, sizeof *census->x),
                                  .v = nbc_alloc(room, sizeof *census->v),
                                  .radius = nbc_alloc(room, sizeof *census->radius),
                                  .mass_start = nbc_alloc(room, sizeof *census->mass_start),
                                  .pair = nbc_alloc(room, sizeof *census->pair),
                                  .slot = nbc_alloc(room, sizeof *census->slot)};
    if (census->name && census->mass && census->x && census->v && census->radius && census->mass_start &&
        census->pair && census->slot)
        return NBC_OK;
    nb6_census_free(census);
    return nbc_fail(err, NBC_NO_MEMORY, "no memory for the list of %lld stars", (long long)n);
}

void nb6_census_free(struct nb6_census *census)
{
    nbc_free(census->name);
    nbc_free(census->mass);
    nbc_free(census->x);
    nbc_free(census->v);
    nbc_free(census->radius);
    nbc_free(census->mass_start);
    nbc_free(census->pair);
    nbc_free(census->slot);
    *census = (struct nb6_census){0};
}

/* A run that is resumed has the backends of its checkpoint, by their names, whatever the number of stars. */
static void name_backends(const struct nb6_sim *sim, struct nb6_run_config *run)
{
    if (strcmp(run->device, "") == 0 || strcmp(run->device, "auto") == 0)
        nb6_regular_name(sim->reg, run->device, sizeof run->device);
    if (strcmp(run->irr_backend, "") == 0 || strcmp(run->irr_backend, "auto") == 0)
        snprintf(run->irr_backend, sizeof run->irr_backend, "%s", gpuirr_info(sim->irr)->name);
}

/* Copy the state that does not follow from the stars. */
static void inherit(const struct nb6_sim *sim, struct nb6_sim *made)
{
    made->run = sim->run;
    made->run.properties = NULL;
    name_backends(sim, &made->run.config.run);
    made->ti_now = made->ti_reached = sim->ti_reached;
    made->ti_origin = sim->ti_origin;
    made->mean_mass = sim->mean_mass;
    made->book = sim->book;
    memcpy(made->stage_s, sim->stage_s, sizeof made->stage_s);
    made->chain_s = sim->chain_s;
    made->observer = sim->observer;
    made->engine = sim->engine;
    memcpy(made->engine_why, sim->engine_why, sizeof made->engine_why);
}

/* Lists that held all bodies need not do so any more. */
static int set_books(const struct nb6_sim *sim, const struct nb6_census *census, struct nb6_sim *made,
                     struct nbc_error *err)
{
    struct nb6_bookkeeping *book = &made->book;
    struct nb6_structure s;
    double total = 0, before = 0, heaviest = 0;
    int64_t massive = 0;
    for (int64_t i = 0; i < sim->n; i++) before += sim->body[i].mass;
    for (int64_t i = 0; i < census->n; i++) {
        total += census->mass[i];
        massive += census->mass[i] > 0;
        heaviest = fmax(heaviest, census->mass[i]);
        if (census->name[i] > book->name_zero) book->name_zero = census->name[i];
    }
    made->run.book.mass_start += total - before;
    if (nb6_all_are_neighbours(sim))
        book->nnb_opt = nb6_radius_initial_mean(&made->run.config, census->n, heaviest / total);
    int status = nb6_structure_find(census->n, census->mass, (const double(*)[3])census->x,
                                    (const double(*)[3])census->v, &s, err);
    if (status) return status;
    book->r_half = s.r_half;
    memcpy(book->r_density, s.r_density, sizeof book->r_density);
    memcpy(book->v_density, s.v_density, sizeof book->v_density);
    if (census->n < NB6_STARS_OF_A_CORE || sim->n < NB6_STARS_OF_A_CORE) /* else the next adjust has them follow */
        nb6_subsystems_first_criteria(made, census->n, massive, census->mass, (const double(*)[3])census->x, s.rho_core,
                                      s.r_half);
    return NBC_OK;
}

static void place_stars(const struct nb6_census *census, struct nb6_sim *made)
{
    for (int64_t i = 0; i < census->n; i++) {
        struct nb6_body *body = &made->body[i];
        memcpy(body->x0, census->x[i], sizeof body->x0);
        memcpy(body->v0, census->v[i], sizeof body->v0);
        body->mass = census->mass[i];
        body->t0 = made->ti_now;
        made->star[i].name = census->name[i];
        made->star[i].radius = census->radius[i];
        made->star[i].mass_start = census->mass_start[i];
    }
}

/* The statistics of a pair that goes on cover its whole life. */
static void go_on(const struct nb6_sim *sim, const struct nb6_census *census, struct nb6_sim *made)
{
    for (int64_t k = 0; k < census->n_pair; k++) {
        const struct nb6_subsystem *was = &sim->subsystems.system[census->slot[k]];
        struct nb6_subsystem *is = &made->subsystems.system[k];
        is->primordial = was->primordial;
        is->t_formed = was->t_formed;
        is->gamma_max = was->gamma_max;
        is->approaching = was->approaching; /* stars that have met are to merge */
    }
    made->run.counters.pairs_formed -= (uint64_t)census->n_pair;
}

int nb6_remake(const struct nb6_sim *sim, const struct nb6_census *census, struct nb6_sim **made, struct nbc_error *err)
{
    struct nb6_sim *fresh = nbc_alloc(1, sizeof *fresh);
    if (!fresh) return nbc_fail(err, NBC_NO_MEMORY, "no memory for a simulation");
    inherit(sim, fresh);
    int status = nb6_properties_copy(sim->run.properties, &fresh->run.properties, err);
    if (!status) status = set_books(sim, census, fresh, err);
    if (!status) status = nb6_sim_open(fresh, census->n, census->n_pair, err);
    if (!status) {
        place_stars(census, fresh);
        status = nb6_ageing_inherit(sim, fresh, err);
    }
    if (!status) {
        status = nb6_first_forces(fresh, census->n_pair, (const int32_t(*)[2])census->pair, err);
    }
    if (status) {
        nb6_release(fresh);
        return status;
    }
    go_on(sim, census, fresh);
    *made = fresh;
    return NBC_OK;
}
