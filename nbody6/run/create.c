#include "common/nbc.h"
#include "common/team.h"
#include "nbody6/analysis/energy.h"
#include "nbody6/analysis/frame.h"
#include "nbody6/analysis/structure.h"
#include "nbody6/engine/choice.h"
#include "nbody6/fewbody/pairs/start.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/input/config.h"
#include "nbody6/input/properties.h"
#include "nbody6/input/units.h"
#include "nbody6/run/ageing_begin.h"
#include "nbody6/run/check_stars.h"
#include "nbody6/run/first_forces.h"
#include "nbody6/run/frame_make.h"
#include "nbody6/run/live.h"
#include "nbody6/run/nbody6.h"
#include "nbody6/run/opening.h"
#include "nbody6/state/body.h"
#include "nbody6/state/event.h"
#include "nbody6/state/ledger.h"
#include "nbody6/state/nearest.h"
#include "nbody6/state/sim.h"

#include <math.h>
#include <string.h>

/* Factor of NA12 eq. 2 with which a Plummer model has about the wanted mean. */
static const double NB_ALPHA_START = 1.1;

enum { STARS_OF_A_PART = 4096 };

int nb6_create(nb6_t **sim, const struct nb6_config *config, struct nbc_error *err)
{
    if (!sim || !config) return nbc_fail(err, NBC_BAD_ARGUMENT, "nb6_create: an argument is NULL");
    int status = nb6_config_check(config, err);
    if (!status) status = nb6_config_check_collisional(config, err);
    if (!status) status = nb6_engine_check(config, err);
    if (status) return status;
    nb6_t *made = nb6_live_make();
    if (!made) return nbc_fail(err, NBC_NO_MEMORY, "no memory for a simulation");
    made->run.wall_start_s = nbc_wtime();
    made->run.config = *config;
    *sim = made;
    return NBC_OK;
}

void nb6_set_observer(nb6_t *sim, const struct nb6_observer *observer)
{
    if (!nb6_live_is(sim)) return;
    sim->observer = observer ? *observer : (struct nb6_observer){0};
}

static int first_bookkeeping(nb6_t *sim, int64_t n, const int64_t *name, const double *mass, const double (*x)[3],
                             const double (*v)[3], struct nbc_error *err)
{
    struct nb6_structure s;
    int status = nb6_structure_of(n, mass, x, v, sim->nearest, &s, err);
    if (status) return status;
    struct nb6_bookkeeping *book = &sim->book;
    sim->run.book = (struct nb6_run_book){0};
    memset(book, 0, sizeof *book);
    int64_t massive = 0; /* test particles do not act on the others */
    double heaviest = 0;
    for (int64_t i = 0; i < n; i++) {
        sim->run.book.mass_start += mass[i];
        massive += mass[i] > 0;
        heaviest = fmax(heaviest, mass[i]);
    }
    memcpy(book->r_density, s.r_density, sizeof book->r_density);
    memcpy(book->v_density, s.v_density, sizeof book->v_density);
    book->r_half = s.r_half;
    if (n > NB6_STARS_OF_A_CORE && sim->run.config.pair.r_min > s.r_half && s.r_half > 0)
        return nbc_fail(err, NBC_BAD_INPUT, "RMIN: %.12g is larger than the half-mass radius of the cluster, %.6g",
                        sim->run.config.pair.r_min, s.r_half);
    book->nb_alpha = NB_ALPHA_START;
    for (int64_t i = 0; i < n; i++)
        if (name && name[i] > book->name_zero) book->name_zero = name[i];
    if (!name) book->name_zero = n;
    nb6_subsystems_first_criteria(sim, n, massive, mass, x, s.rho_core, s.r_half);
    book->nnb_opt = nb6_radius_initial_mean(&sim->run.config, n, heaviest / sim->run.book.mass_start);
    sim->mean_mass = sim->run.book.mass_start / (double)massive;
    sim->run.units = nb6_units_from(sim->run.config.rbar_pc, sim->run.config.zmbar_msun, n);
    nb6_config_settle_intervals(&sim->run.config, sim->run.units.time_myr);
    status = nb6_config_check_intervals(&sim->run.config, sim->run.units.time_myr, err);
    if (status) return status;
    return nb6_external_make(&sim->run.config, &sim->run.units, &sim->run.external, err);
}

/* All data that need no forces. Libraries are opened, and a GPU is woken, while the stars are checked. */
static int prepare(nb6_t *sim, int64_t n, const int64_t *name, const double *mass, const double (*x)[3],
                   const double (*v)[3], struct nbc_error *err)
{
    struct nb6_opening opening;
    nb6_opening_begin(&sim->run.config, n, mass, x, &opening);
    nb6_nearest_free(sim->nearest); /* of bodies that were refused */
    int status = nb6_check_stars(n, name, mass, x, v, &sim->nearest, err);
    if (!status) status = first_bookkeeping(sim, n, name, mass, x, v, err);
    const int opened = nb6_opening_end(&opening, sim, status ? NULL : err);
    if (!status) status = opened;
    if (!status) status = nb6_sim_open(sim, n, nb6_declared_pairs(sim, n, mass, x, v), err);
    if (status && !sim->body) nb6_sim_close_regular(sim); /* other stars may come */
    return status ? status : nb6_engine_settle(sim, err);
}

struct given {
    nb6_t *sim;
    const int64_t *name;
    const double *mass, (*x)[3], (*v)[3];
};

static void set_stars(void *context, int part, int parts)
{
    const struct given *given = context;
    nb6_t *sim = given->sim;
    int64_t first, end;
    nbc_range(sim->n, part, parts, &first, &end);
    for (int64_t i = first; i < end; i++) {
        struct nb6_body *body = &sim->body[i];
        struct nb6_star *star = &sim->star[i];
        memcpy(body->x0, given->x[i], sizeof body->x0);
        memcpy(body->v0, given->v[i], sizeof body->v0);
        body->mass = given->mass[i];
        star->mass_start = given->mass[i];
        star->name = given->name ? given->name[i] : i + 1;
        star->radius = nb6_radii_act(sim->run.properties)
                           ? nb6_properties_radius(sim->run.properties, star->name, sim->run.units.length_pc)
                           : sim->run.config.pair.r_star;
    }
}

static int set_bodies(nb6_t *sim, int64_t n, const int64_t *name, const double *mass, const double (*x)[3],
                      const double (*v)[3], struct nbc_error *err)
{
    if (sim->body) return nbc_fail(err, NBC_BAD_STATE, "nb6_set_bodies: the simulation has its stars already");
    if (!mass || !x || !v) return nbc_fail(err, NBC_BAD_ARGUMENT, "nb6_set_bodies: mass, x or v is NULL");
    int status = prepare(sim, n, name, mass, x, v, err);
    if (status) return status;
    struct given given = {sim, name, mass, x, v};
    nbc_team_run(nbc_parts(n, STARS_OF_A_PART), set_stars, &given);
    status = nb6_ageing_begin(sim, err);
    return status ? status : nb6_first_forces(sim, 0, NULL, err);
}

int nb6_set_bodies(nb6_t *sim, int64_t n, const int64_t *name, const double *mass, const double (*x)[3],
                   const double (*v)[3], struct nbc_error *err)
{
    const int status = nb6_live_begin(sim, "nb6_set_bodies", err);
    return status ? status : nb6_live_end(sim, set_bodies(sim, n, name, mass, x, v, err), err);
}

double nb6_time_now(const nb6_t *sim)
{
    return nb6_live_is(sim) ? nb6_time_to_double(sim->ti_reached) : 0;
}

int64_t nb6_count(const nb6_t *sim)
{
    return nb6_live_is(sim) ? sim->n : 0;
}

int nb6_stopped(const nb6_t *sim)
{
    return nb6_live_is(sim) && sim->stopped;
}

int nb6_get_bodies(nb6_t *sim, int64_t n, int64_t *name, double *mass, double (*x)[3], double (*v)[3],
                   struct nbc_error *err)
{
    int status = nb6_live_check(sim, "nb6_get_bodies", err);
    if (status) return status;
    if (n != sim->n)
        return nbc_fail(err, NBC_BAD_ARGUMENT, "nb6_get_bodies: arrays for %lld stars, there are %lld", (long long)n,
                        (long long)sim->n);
    if (!sim->body) return NBC_OK; /* none */
    struct nb6_frame frame;
    status = nb6_frame_make(sim, sim->ti_reached, 0, &frame, err);
    if (status) return status;
    if (name) memcpy(name, frame.name, (size_t)n * sizeof *name);
    if (mass) memcpy(mass, frame.mass, (size_t)n * sizeof *mass);
    if (x) memcpy(x, frame.x, (size_t)n * sizeof *x);
    if (v) memcpy(v, frame.v, (size_t)n * sizeof *v);
    nb6_frame_free(&frame);
    return NBC_OK;
}

int nb6_get_energy(nb6_t *sim, struct nb6_energy *energy, struct nbc_error *err)
{
    struct nb6_frame frame;
    int status = nb6_live_check(sim, "nb6_get_energy", err);
    if (status) return status;
    if (!energy) return nbc_fail(err, NBC_BAD_ARGUMENT, "nb6_get_energy: energy is NULL");
    if (!sim->body) return nbc_fail(err, NBC_BAD_STATE, "nb6_get_energy: the simulation has no stars yet");
    status = nb6_frame_make(sim, sim->ti_reached, NB6_FRAME_POTENTIAL | NB6_FRAME_BODIES, &frame, err);
    if (status) return status;
    nb6_energy_of_frame(&frame, &sim->run.external, energy);
    nb6_frame_free(&frame);
    return NBC_OK;
}
