#include "nbody6/state/galaxy_work.h"

#include "nbody6/galaxy/external.h"
#include "nbody6/state/body.h"
#include "nbody6/state/sim.h"

double nb6_galaxy_work(const struct nb6_sim *sim, int64_t i, double t, const double x[3], const double v[3])
{
    const struct nb6_body *body = &sim->body[i];
    const struct nb6_moment from = {nb6_time_to_double(body->t0), body->x0, body->v0}, to = {t, x, v};
    return sim->run.external.active ? body->mass * nb6_external_work(&sim->run.external, &from, &to) : 0;
}
