#include "nbody6/state/attraction.h"

#include "gpuirr/gpuirr.h"
#include "nbody6/state/ascending.h"
#include "nbody6/state/body.h"
#include "nbody6/state/pull.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"

enum { PARALLEL_BODIES = 1000 };

void nb6_attraction_to_irregular(struct nb6_sim *sim, int64_t i, nb6_index j)
{
    const struct nb6_body *body = &sim->body[i], *other = &sim->body[j];
    struct nb6_star *star = &sim->star[i];
    double acc[3], jerk[3];
    if (!nb6_pull(other->mass, other->x0, other->v0, body->x0, body->v0, acc, jerk)) return;
    for (int k = 0; k < 3; k++) {
        star->acc_irr[k] += acc[k];
        star->jerk_irr[k] += jerk[k];
        star->acc_reg[k] -= acc[k];
        star->jerk_reg[k] -= jerk[k];
    }
}

void nb6_attraction_take(struct nb6_sim *sim, int64_t i, const double acc[3], const double jerk[3], double t)
{
    struct nb6_star *star = &sim->star[i];
    nb6_pull_less(&sim->body[i], t - nb6_time_to_double(sim->body[i].t0), acc, jerk);
    for (int k = 0; k < 3; k++) {
        star->acc_irr[k] -= acc[k];
        star->jerk_irr[k] -= jerk[k];
    }
}

/* Body i loses an acceleration and jerk at its own time, and is at time t where it was. */
static void lose(struct nb6_sim *sim, int64_t i, const double acc[3], const double jerk[3], int is_neighbour, double t)
{
    struct nb6_body *body = &sim->body[i];
    struct nb6_star *star = &sim->star[i];
    const double back = nb6_time_to_double(body->t0 - star->t0_reg), s = t - nb6_time_to_double(body->t0);
    nb6_pull_less(body, s, acc, jerk);
    for (int k = 0; k < 3; k++) {
        if (is_neighbour) {
            star->acc_irr[k] -= acc[k];
            star->jerk_irr[k] -= jerk[k];
        } else {
            star->acc_reg[k] -= acc[k] - back * jerk[k];
            star->jerk_reg[k] -= jerk[k];
        }
    }
}

/* The pull of another body, predicted to the time of body i, on it.   @return 0: both are in one place */
static int pull_on(const struct nb6_sim *sim, int64_t i, const struct nb6_body *other, double acc[3], double jerk[3])
{
    const struct nb6_body *body = &sim->body[i];
    double x[3], v[3];
    nb6_predict(other, nb6_time_to_double(body->t0 - other->t0), x, v);
    return nb6_pull(other->mass, x, v, body->x0, body->v0, acc, jerk);
}

static void remove_one(struct nb6_sim *sim, int64_t i, const struct nb6_body *gone, int is_neighbour, double t)
{
    double acc[3], jerk[3];
    if (pull_on(sim, i, gone, acc, jerk)) lose(sim, i, acc, jerk, is_neighbour, t);
}

void nb6_attraction_remove(struct nb6_sim *sim, int64_t n_gone, const nb6_index *gone, const nb6_index *moved, double t)
{
    const struct nb6_subsystems *p = &sim->subsystems;
#pragma omp parallel for schedule(static) if (p->n_source > PARALLEL_BODIES)
    for (int64_t m = 0; m < p->n_source; m++) {
        const nb6_index i = p->source[m];
        if (moved[i] < 0) continue;
        size_t nnb = 0;
        const nb6_index *list = gpuirr_get_list(sim->irr, (size_t)i, &nnb);
        for (int64_t g = 0; g < n_gone; g++)
            remove_one(sim, i, &sim->body[gone[g]], nb6_list_find(list, nnb, gone[g]) >= 0, t);
    }
}
