#include "nbody6/state/attraction.h"

#include "gpuirr/gpuirr.h"
#include "nbody6/state/ascending.h"
#include "nbody6/state/body.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"

#include <math.h>

enum { PARALLEL_BODIES = 1000 };

/* Acceleration and jerk by a mass at y with velocity w of a body at x with v.   @return 0: both are in one place */
static int pull(double mass, const double y[3], const double w[3], const double x[3], const double v[3], double acc[3],
                double jerk[3])
{
    double dx[3], dv[3], r2 = 0, xv = 0;
    for (int k = 0; k < 3; k++) {
        dx[k] = y[k] - x[k];
        dv[k] = w[k] - v[k];
        r2 += dx[k] * dx[k];
        xv += dx[k] * dv[k];
    }
    if (!(r2 > 0)) return 0;
    const double m = mass / (r2 * sqrt(r2)), alpha = 3 * xv / r2;
    for (int k = 0; k < 3; k++) {
        acc[k] = m * dx[k];
        jerk[k] = m * (dv[k] - alpha * dx[k]);
    }
    return 1;
}

void nb6_attraction_to_irregular(struct nb6_sim *sim, int64_t i, nb6_index j)
{
    const struct nb6_body *body = &sim->body[i], *other = &sim->body[j];
    struct nb6_star *star = &sim->star[i];
    double acc[3], jerk[3];
    if (!pull(other->mass, other->x0, other->v0, body->x0, body->v0, acc, jerk)) return;
    for (int k = 0; k < 3; k++) {
        star->acc_irr[k] += acc[k];
        star->jerk_irr[k] += jerk[k];
        star->acc_reg[k] -= acc[k];
        star->jerk_reg[k] -= jerk[k];
    }
}

/* The position and velocity at s after its time stay the same, with less acceleration and jerk before. */
static void pull_less(struct nb6_body *body, double s, const double acc[3], const double jerk[3])
{
    for (int k = 0; k < 3; k++) {
        body->x0[k] -= s * s * (acc[k] / 2 + s * jerk[k] / 3);
        body->v0[k] += s * (acc[k] + s * jerk[k] / 2);
        body->acc[k] -= acc[k];
        body->jerk[k] -= jerk[k];
    }
}

void nb6_attraction_take(struct nb6_sim *sim, int64_t i, const double acc[3], const double jerk[3], double t)
{
    struct nb6_star *star = &sim->star[i];
    pull_less(&sim->body[i], t - nb6_time_to_double(sim->body[i].t0), acc, jerk);
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
    pull_less(body, s, acc, jerk);
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
    return pull(other->mass, x, v, body->x0, body->v0, acc, jerk);
}

static void remove_one(struct nb6_sim *sim, int64_t i, const struct nb6_body *gone, int is_neighbour, double t)
{
    double acc[3], jerk[3];
    if (pull_on(sim, i, gone, acc, jerk)) lose(sim, i, acc, jerk, is_neighbour, t);
}

static int is_on_the_same_path(const struct nb6_body *a, const struct nb6_body *b)
{
    int same = a->t0 == b->t0;
    for (int k = 0; k < 3; k++) same &= a->x0[k] == b->x0[k] && a->v0[k] == b->v0[k];
    return same;
}

void nb6_exchanged_set(struct nb6_exchanged *e, const struct nb6_body *after)
{
    e->after = *after;
    e->has_new_path = !is_on_the_same_path(&e->before, after);
    if (!e->has_new_path) e->before.mass -= after->mass;
}

static void exchange_one(struct nb6_sim *sim, int64_t i, const struct nb6_exchanged *e, int is_neighbour, double t)
{
    double acc[2][3], jerk[2][3];
    if (!e->has_new_path) {
        remove_one(sim, i, &e->before, is_neighbour, t);
        return;
    }
    if (!pull_on(sim, i, &e->before, acc[0], jerk[0]) || !pull_on(sim, i, &e->after, acc[1], jerk[1])) return;
    for (int k = 0; k < 3; k++) {
        acc[0][k] -= acc[1][k];
        jerk[0][k] -= jerk[1][k];
    }
    lose(sim, i, acc[0], jerk[0], is_neighbour, t);
}

void nb6_attraction_exchange(struct nb6_sim *sim, int64_t n, const struct nb6_exchanged exchanged[], const int8_t *anew,
                             double t)
{
    const struct nb6_subsystems *p = &sim->subsystems;
#pragma omp parallel for schedule(static) if (p->n_source > PARALLEL_BODIES)
    for (int64_t m = 0; m < p->n_source; m++) {
        const nb6_index i = p->source[m];
        if (anew[i]) continue;
        size_t nnb = 0;
        const nb6_index *list = gpuirr_get_list(sim->irr, (size_t)i, &nnb);
        size_t at = 0;
        for (int64_t e = 0; e < n; e++) { /* both lists ascend */
            while (at < nnb && list[at] < exchanged[e].body) at++;
            if (exchanged[e].body != i)
                exchange_one(sim, i, &exchanged[e], at < nnb && list[at] == exchanged[e].body, t);
        }
    }
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
