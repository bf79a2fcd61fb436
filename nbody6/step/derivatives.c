#include "nbody6/step/derivatives.h"

#include "common/team.h"
#include "gpuirr/gpuirr.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/state/body.h"
#include "nbody6/state/sim.h"

#include <string.h>

/* Second and third derivative of the force of body j on body i (Aarseth 2003), added to snap and crackle. */
static void add_pair(const struct nb6_body *bi, const struct nb6_body *bj, double snap[3], double crackle[3])
{
    double x[3], v[3], a[3], j[3], r2 = 0, xv = 0, vv = 0, xa = 0, va = 0, xj = 0;
    for (int k = 0; k < 3; k++) {
        x[k] = bj->x0[k] - bi->x0[k];
        v[k] = bj->v0[k] - bi->v0[k];
        a[k] = bj->acc[k] - bi->acc[k];
        j[k] = bj->jerk[k] - bi->jerk[k];
        r2 += x[k] * x[k];
        xv += x[k] * v[k];
        vv += v[k] * v[k];
        xa += x[k] * a[k];
        va += v[k] * a[k];
        xj += x[k] * j[k];
    }
    if (!(r2 > 0)) return;
    double inv2 = 1 / r2, m = bj->mass * inv2 * __builtin_sqrt(inv2);
    double alpha = xv * inv2, beta = (vv + xa) * inv2 + alpha * alpha;
    double gamma = (3 * va + xj) * inv2 + alpha * (3 * beta - 4 * alpha * alpha);
    for (int k = 0; k < 3; k++) {
        double f0 = m * x[k], f1 = m * v[k] - 3 * alpha * f0, f2 = m * a[k] - 6 * alpha * f1 - 3 * beta * f0;
        snap[k] += f2;
        crackle[k] += m * j[k] - 9 * alpha * f2 - 9 * beta * f1 - 3 * gamma * f0;
    }
}

static struct nb6_body body_at(const struct nb6_sim *sim, int64_t j, nb6_time t)
{
    const struct nb6_body *body = &sim->body[j];
    struct nb6_body now = *body;
    double s = nb6_time_to_double(t - body->t0);
    nb6_predict(body, s, now.x0, now.v0);
    for (int k = 0; k < 3; k++) now.acc[k] += s * body->jerk[k];
    return now;
}

static void add_body(const struct nb6_sim *sim, int64_t i, int64_t j, double snap[3], double crackle[3])
{
    struct nb6_body other = body_at(sim, j, sim->ti_now);
    add_pair(&sim->body[i], &other, snap, crackle);
}

static void irregular(const struct nb6_sim *sim, int64_t i)
{
    struct nb6_star *star = &sim->star[i];
    size_t nnb = 0;
    const int32_t *list = gpuirr_get_list(sim->irr, (size_t)i, &nnb);
    memset(star->snap_irr, 0, sizeof star->snap_irr);
    memset(star->crackle_irr, 0, sizeof star->crackle_irr);
    for (size_t k = 0; k < nnb; k++) add_body(sim, i, list[k], star->snap_irr, star->crackle_irr);
}

/* All bodies but the neighbours: the ascending list is walked along with the bodies. */
static void regular(const struct nb6_sim *sim, int64_t i)
{
    struct nb6_star *star = &sim->star[i];
    size_t nnb = 0, next = 0;
    const int32_t *list = gpuirr_get_list(sim->irr, (size_t)i, &nnb);
    for (int64_t m = 0; m < sim->pairs.n_source; m++) {
        int32_t j = sim->pairs.source[m];
        if (next < nnb && list[next] == j) {
            next++;
            continue;
        }
        if (j != i) add_body(sim, i, j, star->snap_reg, star->crackle_reg);
    }
}

/* The field is part of the irregular force: without it first steps would not know a galaxy that is stronger than all
 * neighbours. */
static void add_field(const struct nb6_sim *sim, int64_t i)
{
    const struct nb6_body *body = &sim->body[i];
    struct nb6_star *star = &sim->star[i];
    double inner[3], snap[3], crackle[3];
    for (int k = 0; k < 3; k++) inner[k] = star->snap_irr[k] + star->snap_reg[k];
    nb6_external_higher(&sim->external, body->x0, body->v0, body->acc, body->jerk, inner, snap, crackle);
    for (int k = 0; k < 3; k++) {
        star->snap_irr[k] += snap[k];
        star->crackle_irr[k] += crackle[k];
    }
}

/* Bodies worth a thread; with the regular part, a sum over all, each of them is. */
enum { STARTS_OF_A_PART = 16 };

struct starting {
    struct nb6_sim *sim;
    const int32_t *list;
    int64_t n;
    int with_regular;
    struct nbc_queue queue;
};

static void start_bodies(void *context, int part, int parts)
{
    (void)part;
    (void)parts;
    struct starting *job = context;
    struct nb6_sim *sim = job->sim;
    for (int64_t m; (m = nbc_take(&job->queue)) < job->n;) {
        const int32_t i = job->list[m];
        struct nb6_star *star = &sim->star[i];
        irregular(sim, i);
        memset(star->snap_reg, 0, sizeof star->snap_reg);
        memset(star->crackle_reg, 0, sizeof star->crackle_reg);
        if (job->with_regular) regular(sim, i);
        if (sim->external.active) add_field(sim, i);
    }
}

void nb6_start_derivatives(struct nb6_sim *sim, int64_t n, const int32_t *list, int with_regular)
{
    struct starting job = {.sim = sim, .list = list, .n = n, .with_regular = with_regular};
    nbc_team_run(nbc_parts(n, with_regular ? 1 : STARTS_OF_A_PART), start_bodies, &job);
}

/* What a neighbour that came takes from the regular force and gives to the irregular one. */
static void add_change(const struct nb6_sim *sim, const struct nb6_body *body, int64_t j, double sign,
                       struct nb6_corrected *c)
{
    struct nb6_body other = body_at(sim, j, sim->active.t);
    double snap[3] = {0, 0, 0}, crackle[3] = {0, 0, 0};
    add_pair(body, &other, snap, crackle);
    for (int k = 0; k < 3; k++) {
        c->snap_irr[k] += sign * snap[k];
        c->snap_reg[k] -= sign * snap[k];
        c->crackle_irr[k] += sign * crackle[k];
        c->crackle_reg[k] -= sign * crackle[k];
    }
}

void nb6_derivatives_of_list(const struct nb6_sim *sim, int64_t i, struct nb6_corrected *c)
{
    struct nb6_body body = {.mass = sim->body[i].mass};
    size_t n_old = 0, n_new = 0, a = 0, b = 0;
    const int32_t *old = gpuirr_get_old_list(sim->irr, (size_t)i, &n_old);
    const int32_t *list = gpuirr_get_list(sim->irr, (size_t)i, &n_new);
    memcpy(body.x0, c->x, sizeof body.x0);
    memcpy(body.v0, c->v, sizeof body.v0);
    for (int k = 0; k < 3; k++) {
        body.acc[k] = c->acc_irr[k] + c->acc_reg[k];
        body.jerk[k] = c->jerk_irr[k] + c->jerk_reg[k];
    }
    while (a < n_old || b < n_new) {
        if (a < n_old && b < n_new && old[a] == list[b]) {
            a++;
            b++;
        } else if (b == n_new || (a < n_old && old[a] < list[b])) {
            add_change(sim, &body, old[a++], -1, c);
        } else {
            add_change(sim, &body, list[b++], 1, c);
        }
    }
}
