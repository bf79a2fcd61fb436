#include "nbody6/step/derivatives.h"

#include "common/team.h"
#include "gpuirr/gpuirr.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/state/body.h"
#include "nbody6/state/sim.h"
#include "nbody6/step/pair_derivatives.h"

#include <string.h>

static void add_body(const struct nb6_sim *sim, int64_t i, int64_t j, double snap[3], double crackle[3])
{
    struct nb6_body other = nb6_body_at(&sim->body[j], sim->ti_now);
    nb6_add_pair_derivatives(&sim->body[i], &other, snap, crackle);
}

static void irregular(const struct nb6_sim *sim, int64_t i)
{
    struct nb6_star *star = &sim->star[i];
    size_t nnb = 0;
    const nb6_index *list = gpuirr_get_list(sim->irr, (size_t)i, &nnb);
    memset(star->snap_irr, 0, sizeof star->snap_irr);
    memset(star->crackle_irr, 0, sizeof star->crackle_irr);
    for (size_t k = 0; k < nnb; k++) add_body(sim, i, list[k], star->snap_irr, star->crackle_irr);
}

/* All bodies but the neighbours: the ascending list is walked along with the bodies. */
static void regular(const struct nb6_sim *sim, int64_t i)
{
    struct nb6_star *star = &sim->star[i];
    size_t nnb = 0, next = 0;
    const nb6_index *list = gpuirr_get_list(sim->irr, (size_t)i, &nnb);
    for (int64_t m = 0; m < sim->subsystems.n_source; m++) {
        nb6_index j = sim->subsystems.source[m];
        if (next < nnb && list[next] == j) {
            next++;
            continue;
        }
        if (j != i) add_body(sim, i, j, star->snap_reg, star->crackle_reg);
    }
}

/* The field is part of the irregular force: without it first steps would ignore a galaxy that is stronger than all
 * neighbours. */
static void add_field(const struct nb6_sim *sim, int64_t i)
{
    const struct nb6_body *body = &sim->body[i];
    struct nb6_star *star = &sim->star[i];
    double inner[3], snap[3], crackle[3];
    for (int k = 0; k < 3; k++) inner[k] = star->snap_irr[k] + star->snap_reg[k];
    nb6_external_higher(&sim->run.external, nb6_time_to_double(body->t0), body->x0, body->v0, body->acc, body->jerk,
                        inner, snap, crackle);
    for (int k = 0; k < 3; k++) {
        star->snap_irr[k] += snap[k];
        star->crackle_irr[k] += crackle[k];
    }
}

/* Bodies worth a thread, which takes as many from the queue together; with the regular part, a sum over all, each of
 * them is. */
enum { STARTS_OF_A_PART = 16 };

struct starting {
    struct nb6_sim *sim;
    const nb6_index *list;
    int64_t n;
    int with_regular;
    struct nbc_queue queue;
};

static void start_body(const struct starting *job, nb6_index i)
{
    struct nb6_sim *sim = job->sim;
    struct nb6_star *star = &sim->star[i];
    irregular(sim, i);
    memset(star->snap_reg, 0, sizeof star->snap_reg);
    memset(star->crackle_reg, 0, sizeof star->crackle_reg);
    if (job->with_regular) regular(sim, i);
    if (sim->run.external.active) add_field(sim, i);
}

static void start_bodies(void *context, int part, int parts)
{
    (void)part;
    (void)parts;
    struct starting *job = context;
    const int64_t together = job->with_regular ? 1 : STARTS_OF_A_PART;
    for (int64_t first; (first = nbc_take(&job->queue) * together) < job->n;)
        for (int64_t m = first; m < job->n && m < first + together; m++) start_body(job, job->list[m]);
}

void nb6_start_derivatives(struct nb6_sim *sim, int64_t n, const nb6_index *list, int with_regular)
{
    struct starting job = {.sim = sim, .list = list, .n = n, .with_regular = with_regular};
    nbc_team_run(nbc_parts(n, with_regular ? 1 : STARTS_OF_A_PART), start_bodies, &job);
}

void nb6_derivatives_of_list(const struct nb6_sim *sim, int64_t i, struct nb6_corrected *c)
{
    size_t n_old = 0, n_new = 0;
    const int32_t *old = gpuirr_get_old_list(sim->irr, (size_t)i, &n_old);
    const nb6_index *list = gpuirr_get_list(sim->irr, (size_t)i, &n_new);
    nb6_derivatives_of_change(sim->body, sim->body[i].mass, sim->active.t, (int64_t)n_old, old, (int64_t)n_new, list,
                              c);
}
