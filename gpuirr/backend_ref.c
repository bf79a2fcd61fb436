/* The oracle: a plain loop in double precision, prediction on the fly. Every other backend is tested against it, so it
 * is never optimised. */
#include "store.h"

#include <math.h>

static void *open_store(size_t n_max)
{
    return gpuirr_store_open(n_max, 0);
}

static struct gpuirr_predicted predict(const struct gpuirr_record *body, double t)
{
    struct gpuirr_predicted p = {.mass = body->s.mass};
    double s = t - body->s.t0;
    for (int d = 0; d < 3; d++) {
        double acc = body->s.acc[d], jerk = body->s.jerk[d];
        p.x[d] = body->s.x[d] + s * body->s.v[d] + s * s / 2 * acc + s * s * s / 6 * jerk;
        p.v[d] = body->s.v[d] + s * acc + s * s / 2 * jerk;
    }
    return p;
}

/* One source, NA12 eq. 8 and 9. Returns the squared distance. */
static double add_pair(const struct gpuirr_predicted *pi, const struct gpuirr_predicted *pj, struct gpuirr_force *force)
{
    double dx[3], dv[3], r2 = 0, rv = 0;
    for (int d = 0; d < 3; d++) {
        dx[d] = pj->x[d] - pi->x[d];
        dv[d] = pj->v[d] - pi->v[d];
        r2 += dx[d] * dx[d];
        rv += dx[d] * dv[d];
    }
    if (r2 == 0) {
        force->coincident++;
        return r2;
    }
    double m_r3 = pj->mass / (r2 * sqrt(r2)), alpha = 3 * rv / r2;
    for (int d = 0; d < 3; d++) {
        force->acc[d] += m_r3 * dx[d];
        force->jerk[d] += m_r3 * (dv[d] - alpha * dx[d]);
    }
    return r2;
}

static void force_on(const void *memory, const struct gpuirr_task *task, struct gpuirr_force *force)
{
    const struct gpuirr_store *store = memory;
    struct gpuirr_predicted pi = predict(&store->body[task->i], task->t);
    double r2_min = INFINITY;
    *force = (struct gpuirr_force){.nearest = -1};
    for (size_t k = 0; k < task->nnb; k++) {
        struct gpuirr_predicted pj = predict(&store->body[task->nblist[k]], task->t);
        double r2 = add_pair(&pi, &pj, force);
        if (r2 < r2_min) {
            r2_min = r2;
            force->nearest = task->nblist[k];
        }
    }
}

const struct gpuirr_backend gpuirr_backend_ref = {
    .name = "ref",
    .description = "plain loop in double precision, never optimised",
    .ns_per_pair = 30,
    .open = open_store,
    .close = gpuirr_store_close,
    .set_jp = gpuirr_store_set_jp,
    .force = force_on,
};
