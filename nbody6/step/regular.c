#include "nbody6/step/regular.h"

#include "common/nbc.h"
#include "common/team.h"
#include "gpuirr/gpuirr.h"
#include "gpunb/gpunb.h"
#include "nbody6/state/bodies.h"
#include "nbody6/state/body.h"
#include "nbody6/state/members.h"
#include "nbody6/state/sim.h"
#include "nbody6/state/survey.h"
#include "nbody6/step/hermite.h"
#include "nbody6/step/radius.h"
#include "nbody6/step/rules.h"

#include <math.h>
#include <string.h>

/* Targets of one call: as many as keep a device busy for a hundred times as long as a call takes to begin, while the
 * list rows stay small. GPUNB computes each pair of targets once, and wants to see as many of them together as there
 * are: a GPU, which makes them faster than their rows are filled, all of the first forces of most runs. */
enum { MOST_ROWS = 65536, MOST_ROWS_ON_GPU = 262144 };

/* Arrays of one call of gpunb_regf, [room] each. */
struct chunk {
    int which;       /* of two */
    int64_t room;    /* may be for less than the most if a block has less */
    int64_t n, next; /* used rows; the first target that was not processed */
    int64_t nb_cap;
    int64_t *target; /* which target a row belongs to */
    double *r_nb2, *dt_reg, (*x)[3], (*v)[3], (*acc)[3], (*jerk)[3];
    double (*last)[3];     /* total accelerations of the targets so far */
    int64_t pairs_by_tree; /* 0: direct sums; nominal cost of a target */
    const int32_t **list;  /* lists that go to GPUIRR */
    int32_t *list_body, *list_nnb;
    int32_t *self, *nnb;
    int32_t *nblist; /* [n][nb_cap] */
};

/* A chunk for n targets, in one block of memory; NULL: there is none. */
static struct chunk *make_chunk(int64_t n)
{
    const size_t room = (size_t)n;
    struct chunk *c = NULL;
    c = nbc_alloc(1, sizeof *c + room * (sizeof *c->target + 2 * sizeof *c->r_nb2 + 5 * sizeof *c->x + sizeof *c->list +
                                         4 * sizeof *c->self));
    if (!c) return NULL;
    c->room = n;
    c->target = (void *)(c + 1);
    c->r_nb2 = (void *)(c->target + room);
    c->dt_reg = c->r_nb2 + room;
    c->x = (void *)(c->dt_reg + room);
    c->v = c->x + room;
    c->acc = c->v + room;
    c->jerk = c->acc + room;
    c->last = c->jerk + room;
    c->list = (void *)(c->last + room);
    c->list_body = (void *)(c->list + room);
    c->list_nnb = c->list_body + room;
    c->self = c->list_nnb + room;
    c->nnb = c->self + room;
    return c;
}

static int64_t most_rows(const struct nb6_sim *sim)
{
    return nb6_sim_on_gpu(sim) ? MOST_ROWS_ON_GPU : MOST_ROWS;
}

static int64_t rows_for(const struct nb6_sim *sim, int64_t n)
{
    return n < most_rows(sim) ? n : most_rows(sim);
}

/* One of the two chunks of the run, for blocks of n targets. */
static struct chunk *grow_chunk(struct nb6_sim *sim, int which, int64_t n)
{
    struct chunk *chunk = sim->active.chunk[which];
    if (!chunk || chunk->room < rows_for(sim, n)) {
        nbc_free(chunk);
        sim->active.chunk[which] = chunk = make_chunk(rows_for(sim, n) + rows_for(sim, n) / 2);
        if (chunk) chunk->which = which;
    }
    return chunk;
}

static int regular_failure(const struct nb6_sim *sim, int status, struct nbc_error *err)
{
    return nbc_fail(err, status, "%s", gpunb_last_error(sim->reg));
}

/* A pass over the rows of a chunk. */
struct pass {
    struct nb6_sim *sim;
    nb6_time t;
    struct nb6_regular_target *target;
    struct chunk *chunk;
    int64_t longest; /* list of those that are not too long for their body */
    uint64_t overflows;
};

/* Rows that a thread fills or empties in some microseconds. */
enum { ROWS_OF_A_PART = 64 };

static void fill_rows(void *context, int part, int parts)
{
    const struct pass *pass = context;
    const struct nb6_sim *sim = pass->sim;
    struct chunk *chunk = pass->chunk;
    const double unit = sim->run.config.integration.mass_weighted_nb ? sim->mean_mass : 1;
    int64_t first, end;
    nbc_range(chunk->n, part, parts, &first, &end);
    for (int64_t row = first; row < end; row++) {
        const struct nb6_regular_target *t = &pass->target[chunk->target[row]];
        const struct nb6_body *body = &sim->body[t->body];
        nb6_predict(body, nb6_time_to_double(pass->t - body->t0), chunk->x[row], chunk->v[row]);
        memcpy(chunk->last[row], body->acc, sizeof body->acc);
        chunk->self[row] = t->body;
        chunk->r_nb2[row] = t->r_nb * t->r_nb / unit;
        chunk->dt_reg[row] = t->dt_reg;
    }
}

/* Rows of targets [first, n_target) that still lack a list, as many as fit, at time t. */
static void gather(struct nb6_sim *sim, nb6_time t, int64_t first, int64_t n_target, struct nb6_regular_target *target,
                   struct chunk *chunk)
{
    struct pass pass = {.sim = sim, .t = t, .target = target, .chunk = chunk};
    chunk->n = 0;
    int64_t m = first;
    for (; m < n_target && chunk->n < most_rows(sim); m++)
        if (target[m].nnb < 0) chunk->target[chunk->n++] = m;
    chunk->next = m;
    nbc_team_run(nbc_parts(chunk->n, ROWS_OF_A_PART), fill_rows, &pass);
}

/* Whether all targets of a chunk have had a force: those of a start have not. */
static int have_accelerations(const struct chunk *chunk)
{
    for (int64_t row = 0; row < chunk->n; row++) {
        const double *a = chunk->last[row];
        if (a[0] == 0 && a[1] == 0 && a[2] == 0) return 0;
    }
    return 1;
}

/* A row whose list fits is finished; another one gets a smaller sphere, or finds more room next time. */
static int is_finished(const struct nb6_sim *sim, int64_t nb_cap, int32_t nnb, struct nb6_regular_target *t,
                       int64_t *longest)
{
    const int64_t limit = nb6_list_limit(sim, t->body);
    if (nnb > *longest && nnb <= limit) *longest = nnb;
    if (nnb > limit) t->r_nb = nb6_smaller_radius(t->r_nb, limit, nnb);
    return nnb <= limit && nnb <= nb_cap;
}

static void take_rows(void *context, int part, int parts)
{
    struct pass *pass = context;
    const struct chunk *chunk = pass->chunk;
    int64_t first, end, longest = 0;
    uint64_t overflows = 0;
    nbc_range(chunk->n, part, parts, &first, &end);
    for (int64_t row = first; row < end; row++) {
        struct nb6_regular_target *t = &pass->target[chunk->target[row]];
        if (!is_finished(pass->sim, chunk->nb_cap, chunk->nnb[row], t, &longest)) {
            overflows++;
            continue;
        }
        t->nnb = chunk->nnb[row];
        memcpy(t->acc, chunk->acc[row], sizeof t->acc);
        memcpy(t->jerk, chunk->jerk[row], sizeof t->jerk);
        t->noise = chunk->pairs_by_tree > 0 ? nb6_noise_by_tree(pass->sim) * sqrt(nb6_norm2(chunk->last[row])) : 0;
    }
    __atomic_fetch_add(&pass->overflows, overflows, __ATOMIC_RELAXED);
    nbc_atomic_max(&pass->longest, longest);
}

/* Results of the rows that are finished; their lists go to GPUIRR. */
static int scatter(struct nb6_sim *sim, struct nb6_regular_target *target, struct chunk *chunk, struct nbc_error *err)
{
    struct pass pass = {.sim = sim, .target = target, .chunk = chunk};
    nbc_team_run(nbc_parts(chunk->n, ROWS_OF_A_PART), take_rows, &pass);
    sim->run.counters.overflows += pass.overflows;
    if (pass.longest > sim->nb_cap) sim->nb_cap = (pass.longest + pass.longest / 4 + 15) / 16 * 16;
    int64_t n = 0;
    for (int64_t row = 0; row < chunk->n; row++) {
        const struct nb6_regular_target *t = &target[chunk->target[row]];
        if (t->nnb < 0) continue;
        chunk->list_body[n] = chunk->self[row];
        chunk->list_nnb[n] = t->nnb;
        chunk->list[n++] = chunk->nblist + row * chunk->nb_cap;
    }
    int status = gpuirr_set_lists(sim->irr, (size_t)n, chunk->list_body, chunk->list_nnb, chunk->list);
    return status ? nbc_fail(err, status, "%s", gpuirr_last_error(sim->irr)) : NBC_OK;
}

/* Room for the rows of a chunk at the present capacity, which grows from chunk to chunk as long lists are met. It is
 * kept for later blocks: to clear it each time was a tenth of the work of a thousand stars. */
static int grow_rows(struct nb6_sim *sim, struct chunk *chunk, int64_t rows, struct nbc_error *err)
{
    const int64_t nb_cap = chunk->nb_cap;
    int32_t **array = &sim->active.rows[chunk->which];
    int64_t *room = &sim->active.row_room[chunk->which];
    if (rows * nb_cap > *room) {
        nbc_free(*array);
        *room = 0;
        *array = nbc_alloc_unset((size_t)rows, (size_t)nb_cap * sizeof **array);
        if (!*array) return nbc_fail(err, NBC_NO_MEMORY, "no memory for neighbour lists of %lld", (long long)nb_cap);
        *room = rows * nb_cap;
    }
    chunk->nblist = *array;
    return NBC_OK;
}

static struct gpunb_regf_job job_of(const struct chunk *chunk, nb6_time t)
{
    const int relates = chunk->pairs_by_tree > 0 && have_accelerations(chunk);
    return (struct gpunb_regf_job){.n_i = (size_t)chunk->n,
                                   .self = chunk->self,
                                   .r_nb2 = chunk->r_nb2,
                                   .dt_reg = chunk->dt_reg,
                                   .x = (const double(*)[3])chunk->x,
                                   .v = (const double(*)[3])chunk->v,
                                   .acc_last = relates ? (const double(*)[3])chunk->last : NULL,
                                   .acc = chunk->acc,
                                   .jerk = chunk->jerk,
                                   .nb_cap = (size_t)chunk->nb_cap,
                                   .nnb = chunk->nnb,
                                   .nblist = chunk->nblist,
                                   .build = nb6_tree_number(t)};
}

/* Targets from `first` on that have no list yet, as many as fit; chunk->n is 0 when none is left. */
static int start_chunk(struct nb6_sim *sim, nb6_time t, int64_t first, int64_t n_target,
                       struct nb6_regular_target *target, struct chunk *chunk, struct nbc_error *err)
{
    chunk->nb_cap = sim->nb_cap;
    gather(sim, t, first, n_target, target, chunk);
    if (chunk->n == 0) return NBC_OK;
    int status = grow_rows(sim, chunk, rows_for(sim, n_target), err);
    if (status) return status;
    chunk->pairs_by_tree = nb6_pairs_by_tree(sim->reg, chunk->n, sim->subsystems.n_source);
    const struct gpunb_regf_job job = job_of(chunk, t);
    status = gpunb_regf_start_job(sim->reg, &job);
    return status ? regular_failure(sim, status, err) : NBC_OK;
}

static int wait_for(struct nb6_sim *sim, const struct chunk *chunk, struct nbc_error *err)
{
    const int status = gpunb_regf_wait(sim->reg);
    const int64_t each = chunk->pairs_by_tree > 0 ? chunk->pairs_by_tree : sim->subsystems.n_source;
    sim->run.counters.calls_by_tree += chunk->pairs_by_tree > 0;
    sim->run.counters.pairs_reg += (uint64_t)(chunk->n * each);
    return status && status != NBC_NB_OVERFLOW ? regular_failure(sim, status, err) : NBC_OK;
}

/* Store the results of a chunk and begin the next one. A device begins the next one first, so that it is not idle
 * meanwhile. */
static int go_on(struct nb6_sim *sim, nb6_time t, int64_t n_target, struct nb6_regular_target *target,
                 struct chunk *chunk, struct chunk *next, struct nbc_error *err)
{
    const int on_gpu = nb6_sim_on_gpu(sim);
    int status = on_gpu ? start_chunk(sim, t, chunk->next, n_target, target, next, err) : NBC_OK;
    if (!status) status = scatter(sim, target, chunk, err);
    if (!status && !on_gpu) status = start_chunk(sim, t, chunk->next, n_target, target, next, err);
    return status;
}

static int64_t count_without_list(int64_t n_target, const struct nb6_regular_target *target)
{
    int64_t n = 0;
    for (int64_t m = 0; m < n_target; m++) n += target[m].nnb < 0;
    return n;
}

int nb6_regular_force_begin(struct nb6_sim *sim, nb6_time t, int64_t n_target, struct nb6_regular_target *target,
                            struct nbc_error *err)
{
    int status = gpunb_predict(sim->reg, (size_t)nb6_bodies(sim), nb6_relative_time(sim, t));
    if (status) return regular_failure(sim, status, err);
    struct chunk *chunk = grow_chunk(sim, 0, n_target);
    if (!chunk) return nbc_fail(err, NBC_NO_MEMORY, "no memory for a block of regular forces");
    for (int64_t m = 0; m < n_target; m++) target[m].nnb = -1;
    return start_chunk(sim, t, 0, n_target, target, chunk, err);
}

int nb6_regular_force_end(struct nb6_sim *sim, nb6_time t, int64_t n_target, struct nb6_regular_target *target,
                          struct nbc_error *err)
{
    struct chunk *chunk = sim->active.chunk[0];
    int status = NBC_OK;
    while (chunk->n > 0 && !status) {
        /* A second chunk, which a device fills while the results of the first are stored; a processor does not need
         * it. */
        struct chunk *next = nb6_sim_on_gpu(sim) ? grow_chunk(sim, 1 - chunk->which, n_target) : chunk;
        if (!next) return nbc_fail(err, NBC_NO_MEMORY, "no memory for a block of regular forces");
        status = wait_for(sim, chunk, err);
        if (!status) status = go_on(sim, t, n_target, target, chunk, next, err);
        if (!status && next->n == 0 && count_without_list(n_target, target) > 0)
            status = start_chunk(sim, t, 0, n_target, target, next, err);
        chunk = next;
    }
    return status;
}

/* By an engine, which has the sources: direct sums. */
static int force_by_survey(struct nb6_sim *sim, const struct nb6_survey *survey, nb6_time t, int64_t n_target,
                           struct nb6_regular_target *target, struct nbc_error *err)
{
    struct chunk *chunk = grow_chunk(sim, 0, n_target);
    int status = NBC_OK;
    if (!chunk) return nbc_fail(err, NBC_NO_MEMORY, "no memory for a block of regular forces");
    for (int64_t m = 0; m < n_target; m++) target[m].nnb = -1;
    chunk->pairs_by_tree = 0;
    while (!status && count_without_list(n_target, target) > 0) {
        chunk->nb_cap = sim->nb_cap;
        gather(sim, t, 0, n_target, target, chunk);
        status = grow_rows(sim, chunk, chunk->n, err);
        const struct gpunb_regf_job job = job_of(chunk, t);
        if (!status) status = survey->make_forces(sim, t, &job, err);
        if (status) return status;
        sim->run.counters.pairs_reg += (uint64_t)(chunk->n * sim->subsystems.n_source);
        status = scatter(sim, target, chunk, err);
    }
    return status;
}

int nb6_regular_force(struct nb6_sim *sim, nb6_time t, int64_t n_target, struct nb6_regular_target *target,
                      struct nbc_error *err)
{
    const struct nb6_survey *survey = sim->engine_image.survey.by;
    if (survey) return force_by_survey(sim, survey, t, n_target, target, err);
    int status = nb6_regular_force_begin(sim, t, n_target, target, err);
    return status ? status : nb6_regular_force_end(sim, t, n_target, target, err);
}
