#include "nbody6/state/ageing.h"

#include "nbody6/input/units.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/transaction.h"

#include <math.h>

int nb6_ageing_create(struct nb6_sim *sim, struct nbc_error *err)
{
    struct nb6_ageing *made = nbc_alloc(1, sizeof *made);
    if (made) made->aged = nbc_alloc((size_t)sim->n, sizeof *made->aged);
    if (!made || !made->aged) {
        nb6_ageing_free(made);
        return nbc_fail(err, NBC_NO_MEMORY, "no memory for %lld stars that age", (long long)sim->n);
    }
    made->room = sim->n;
    sim->ageing = made;
    return NBC_OK;
}

void nb6_ageing_free(struct nb6_ageing *ageing)
{
    if (!ageing) return;
    for (int k = 0; k < ageing->n_model; k++) stellar_free(ageing->model[k]);
    nbc_free(ageing->aged);
    nbc_free(ageing);
}

double nb6_time_to_myr(const struct nb6_sim *sim, nb6_time t)
{
    return nb6_time_to_double(t) * sim->run.units.time_myr;
}

nb6_time nb6_ageing_next(const struct nb6_sim *sim)
{
    nb6_time next = NB6_NEVER_DUE;
    if (!sim->ageing) return next;
    for (int64_t i = 0; i < sim->n; i++)
        if (sim->ageing->aged[i].due < next) next = sim->ageing->aged[i].due;
    return next;
}

static nb6_time earlier(nb6_time a, nb6_time b)
{
    return a < b ? a : b;
}

/* The next 32nd of a unit, but not after an adjust, which removes the star that is gone, nor after an output. */
static nb6_time soon(const struct nb6_sim *sim)
{
    const nb6_time grid = (nb6_time)1 << (NB6_TIME_BITS - 5);
    const nb6_time now = sim->ti_now > sim->ti_reached ? sim->ti_now : sim->ti_reached;
    const nb6_time end = (nb6_time)llround(ldexp(sim->run.config.run.t_crit, NB6_TIME_BITS));
    const struct nb6_run_book *book = &sim->run.book;
    nb6_time t = (now / grid + 1) * grid;
    if (book->ti_next_adjust >= now) t = earlier(t, book->ti_next_adjust);
    if (book->ti_next_output >= now) t = earlier(t, book->ti_next_output);
    return end >= now ? earlier(t, end) : t;
}

int nb6_ageing_note_merger(struct nb6_sim *sim, nb6_index i, nb6_index gone, struct nbc_error *err)
{
    if (!sim->ageing) return NBC_OK;
    struct nb6_aged *one = &sim->ageing->aged[i], *other = &sim->ageing->aged[gone];
    int status = nb6_save_aged(sim, i, err);
    if (!status) status = nb6_save_aged(sim, gone, err);
    if (status) return status;
    one->due = earlier(one->due, soon(sim));
    one->waits += 1 + other->waits;
    other->waits = 0;
    other->due = NB6_NEVER_DUE;
    return NBC_OK;
}

double nb6_ageing_radius(const struct nb6_sim *sim, const struct stellar_view *view)
{
    return view->radius * NB6_RSUN_PC / sim->run.units.length_pc;
}

/* Of an object that is too light for a star: what the lightest one has at zero age. */
static int view_of_light(const struct nb6_ageing *ageing, const struct nb6_aged *aged, double time_myr,
                         struct stellar_view *view, struct nbc_error *err)
{
    struct stellar_star lightest;
    int status =
        stellar_birth(ageing->model[aged->model], aged->star.name, STELLAR_MASS_LEAST, time_myr, &lightest, err);
    if (!status) status = stellar_evolve(ageing->model[aged->model], &lightest, time_myr, view, NULL, err);
    if (status) return status;
    view->mass = aged->mass;
    view->luminosity = view->temperature_k = 0;
    if (!(aged->mass > 0)) view->radius = 0;
    view->ask_again_myr = HUGE_VAL;
    return NBC_OK;
}

int nb6_ageing_view(const struct nb6_ageing *ageing, const struct nb6_aged *aged, double time_myr,
                    struct stellar_view *view, struct nbc_error *err)
{
    struct stellar_star star = aged->star;
    if (!aged->ages) return view_of_light(ageing, aged, time_myr, view, err);
    return stellar_evolve(ageing->model[aged->model], &star, time_myr, view, NULL, err);
}
