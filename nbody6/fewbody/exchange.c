#include "nbody6/fewbody/exchange.h"

#include "common/nbc.h"
#include "common/team.h"
#include "nbody6/fewbody/vector_sums.h"
#include "nbody6/state/pull.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/subsystems.h"
#include "nbody6/state/touched.h"
#include "nbody6/state/view.h"

#include <string.h>

enum { BODIES_OF_A_PART = 64 };

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

struct exchange {
    struct nb6_sim *sim;
    const struct nb6_vector_sums *sums;
    const int8_t *anew;
    nb6_time t;
    int64_t n, cells;
    struct nb6_pull_source *source; /* [n] bodies ascend; of one on a new path all that was, and, with a mass below
                                       zero, all that is */
    struct nb6_source_cell *cell;
};

static void add_source(struct exchange *job, nb6_index i, const struct nb6_body *body, double sign)
{
    struct nb6_pull_source *s = &job->source[job->n++];
    struct nb6_source_cell *cell = &job->cell[(job->n - 1) / NB6_LANES];
    const int lane = (int)((job->n - 1) % NB6_LANES);
    s->body = i;
    s->mass = sign * body->mass;
    nb6_predict(body, nb6_time_to_double(job->t - body->t0), s->x, s->v);
    cell->m[lane] = s->mass;
    for (int k = 0; k < 3; k++) {
        cell->x[k][lane] = s->x[k];
        cell->v[k][lane] = s->v[k];
    }
}

static int find_sources(struct exchange *job, int64_t n, const struct nb6_exchanged exchanged[], struct nbc_error *err)
{
    const size_t most = 2 * (size_t)n;
    job->source = nbc_alloc(most, sizeof *job->source);
    job->cell = nbc_alloc(most / NB6_LANES + 1, sizeof *job->cell);
    if (!job->source || !job->cell) return nbc_fail(err, NBC_NO_MEMORY, "no memory for the forces of changed bodies");
    for (int64_t e = 0; e < n; e++) {
        add_source(job, exchanged[e].body, &exchanged[e].before, 1);
        if (exchanged[e].has_new_path) add_source(job, exchanged[e].body, &exchanged[e].after, -1);
    }
    job->cells = (job->n + NB6_LANES - 1) / NB6_LANES;
    return NBC_OK;
}

static double sum_of(const double lane[NB6_LANES])
{
    double sum = 0;
    for (int l = 0; l < NB6_LANES; l++) sum += lane[l];
    return sum;
}

/* All sources; the body itself, which may be one of them, is at distance zero from it. */
static void add_all(const struct exchange *job, const double x[3], const double v[3], struct nb6_pulls *pulls)
{
    struct nb6_pull_sums lanes = {{{0}}, {{0}}};
    job->sums->add_pulls(job->cells, job->cell, x, v, &lanes);
    for (int k = 0; k < 3; k++) {
        pulls->acc_reg[k] = sum_of(lanes.acc[k]);
        pulls->jerk_reg[k] = sum_of(lanes.jerk[k]);
    }
}

/* The first source of this body or of one behind it, from `at` on: by steps that double, then by halves. */
static int64_t skip_to(const struct exchange *job, int64_t at, nb6_index body)
{
    int64_t step = 1, end = job->n;
    while (at + step < end && job->source[at + step].body < body) {
        at += step;
        step *= 2;
    }
    if (at + step < end) end = at + step;
    while (at < end) {
        const int64_t middle = (at + end) / 2;
        if (job->source[middle].body < body)
            at = middle + 1;
        else
            end = middle;
    }
    return at;
}

static void move_neighbours(const struct exchange *job, nb6_index i, const double x[3], const double v[3],
                            struct nb6_pulls *pulls)
{
    size_t nnb = 0;
    const nb6_index *list = nb6_get_list(job->sim, i, &nnb);
    int64_t at = 0;
    for (size_t k = 0; k < nnb && at < job->n; k++) {
        at = skip_to(job, at, list[k]);
        for (; at < job->n && job->source[at].body == list[k]; at++)
            nb6_pull_to_irregular(job->source[at].mass, job->source[at].x, job->source[at].v, x, v, pulls);
    }
}

static void exchange_part(void *context, int part, int parts)
{
    const struct exchange *job = context;
    const struct nb6_subsystems *p = &job->sim->subsystems;
    int64_t first, end;
    nbc_range(p->n_source, part, parts, &first, &end);
    for (int64_t m = first; m < end; m++) {
        const nb6_index i = p->source[m];
        struct nb6_body *body = &job->sim->body[i];
        struct nb6_pulls pulls = {{0}, {0}, {0}, {0}};
        double x[3], v[3];
        if (job->anew[i]) continue;
        nb6_predict(body, nb6_time_to_double(job->t - body->t0), x, v);
        add_all(job, x, v, &pulls);
        move_neighbours(job, i, x, v, &pulls);
        nb6_pulls_leave(&pulls, job->t, body, &job->sim->star[i]);
    }
}

int nb6_exchange_pulls(struct nb6_sim *sim, int64_t n, const struct nb6_exchanged exchanged[], const int8_t *anew,
                       nb6_time t, struct nbc_error *err)
{
    struct exchange job = {.sim = sim, .sums = nb6_vector_sums_best(), .anew = anew, .t = t};
    const int status = find_sources(&job, n, exchanged, err);
    if (!status) {
        nbc_team_run(nbc_parts(sim->subsystems.n_source, BODIES_OF_A_PART), exchange_part, &job);
        nb6_touch_by_pulls(&sim->engine_image.touched, &sim->edits, t, job.n, job.source);
    }
    nbc_free(job.source);
    nbc_free(job.cell);
    return status;
}
