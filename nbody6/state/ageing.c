#include "nbody6/state/ageing.h"

#include "nbody6/state/sim.h"

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
