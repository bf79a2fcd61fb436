#include "nbody6/collisionless/leapfrog.h"

#include "common/nbc.h"
#include "common/team.h"
#include "gpunb/gpunb.h"
#include "nbody6/collisionless/collisionless.h"
#include "nbody6/state/body.h"
#include "nbody6/state/level.h"

#include <math.h>
#include <stdint.h>

/* Bodies that a thread should have at least: some microseconds of work. */
enum { LEAST_BODIES = 4096 };

struct job {
    struct nb6_collisionless *system;
    nb6_time ti_next;
    int64_t n_due;
};

/* First kick of those whose step begins now, and drift of all. Each drift starts where the step began: rounding does
 * not add up over the blocks within a step. */
static void kick_and_drift(void *context, int part, int parts)
{
    const struct job *job = context;
    struct nb6_collisionless *s = job->system;
    int64_t first, end;
    nbc_share(s->n, part, parts, &first, &end);
    for (int64_t i = first; i < end; i++) {
        const nb6_time step = nb6_step_ticks(s->level[i]), began = s->ti_now & ~(step - 1);
        const double half = began == s->ti_now ? 0.5 * nb6_time_to_double(step) : 0;
        const double drift = nb6_time_to_double(job->ti_next - began);
        for (int k = 0; k < 3; k++) {
            s->v_half[i][k] = s->v[i][k] + half * s->acc[i][k];
            s->x[i][k] = s->x0[i][k] + drift * s->v_half[i][k];
        }
    }
}

/* Second kick of those whose step ends; all others keep the velocity of their first one. */
static void commit(void *context, int part, int parts)
{
    const struct job *job = context;
    struct nb6_collisionless *s = job->system;
    int64_t first, end;
    nbc_share(s->n, part, parts, &first, &end);
    for (int64_t i = first; i < end; i++)
        for (int k = 0; k < 3; k++) s->v[i][k] = s->v_half[i][k];
}

static int level_wanted(const struct nb6_collisionless *s, const double acc[3])
{
    const double a = sqrt(acc[0] * acc[0] + acc[1] * acc[1] + acc[2] * acc[2]);
    if (!s->block) return s->max_level;
    return nb6_level_of(s->eta * sqrt(s->softening / a), s->max_level);
}

static void commit_due(struct nb6_collisionless *s, const struct job *job)
{
    for (int64_t m = 0; m < job->n_due; m++) {
        const int32_t i = s->due[m];
        const double half = 0.5 * nb6_step_length(s->level[i]);
        for (int k = 0; k < 3; k++) {
            s->acc[i][k] = s->acc_due[m][k];
            s->x0[i][k] = s->x[i][k];
            s->v[i][k] += half * s->acc[i][k];
        }
        s->level[i] = (int8_t)nb6_level_next(s->level[i], level_wanted(s, s->acc[i]), job->ti_next);
    }
}

static int check_accelerations(const struct nb6_collisionless *s, int64_t n_due, struct nbc_error *err)
{
    for (int64_t m = 0; m < n_due; m++)
        for (int k = 0; k < 3; k++)
            if (!isfinite(s->acc_due[m][k]))
                return nbc_fail(err, NBC_NON_FINITE, "the acceleration of body %lld is not finite",
                                (long long)s->due[m] + 1);
    return NBC_OK;
}

/* Accelerations of the bodies in `due` from all, at the positions in x. */
static int force(struct nb6_collisionless *s, int64_t n_due, struct nbc_error *err)
{
    for (int64_t m = 0; m < n_due; m++)
        for (int k = 0; k < 3; k++) s->x_due[m][k] = s->x[s->due[m]][k];
    const struct gpunb_softened_job job = {.n_i = (size_t)n_due,
                                           .x = (const double(*)[3])s->x_due,
                                           .self = s->due,
                                           .softening = s->softening,
                                           .acc = s->acc_due};
    int status = gpunb_send_positions(s->force, (size_t)s->n, s->mass, (const double(*)[3])s->x);
    if (!status) status = gpunb_softened(s->force, &job);
    if (status) return nbc_fail(err, status, "%s", gpunb_last_error(s->force));
    return check_accelerations(s, n_due, err);
}

int nb6_leapfrog_start(struct nb6_collisionless *s, struct nbc_error *err)
{
    for (int64_t i = 0; i < s->n; i++) {
        s->due[i] = (int32_t)i;
        for (int k = 0; k < 3; k++) s->x[i][k] = s->x0[i][k];
    }
    int status = force(s, s->n, err);
    for (int64_t i = 0; i < s->n && !status; i++) {
        for (int k = 0; k < 3; k++) s->acc[i][k] = s->acc_due[i][k];
        s->level[i] = (int8_t)level_wanted(s, s->acc[i]);
    }
    return status;
}

/* Every block time is a multiple of the shortest step: a body that ends a longer one there may choose no step that does
 * not divide the time. So the bodies with the shortest step begin it now. */
static nb6_time next_time(const struct nb6_collisionless *s)
{
    int shortest = s->max_level;
    for (int64_t i = 0; i < s->n; i++)
        if (s->level[i] < shortest) shortest = s->level[i];
    return s->ti_now + nb6_step_ticks(shortest);
}

static int64_t find_due(struct nb6_collisionless *s, nb6_time t)
{
    int64_t n_due = 0;
    for (int64_t i = 0; i < s->n; i++)
        if (nb6_step_ends(s->level[i], t)) s->due[n_due++] = (int32_t)i;
    return n_due;
}

int nb6_leapfrog_block(struct nb6_collisionless *s, struct nbc_error *err)
{
    struct job job = {.system = s, .ti_next = next_time(s)};
    const int parts = nbc_parts(s->n, LEAST_BODIES);
    nbc_team_run(parts, kick_and_drift, &job);
    job.n_due = find_due(s, job.ti_next);
    int status = force(s, job.n_due, err);
    if (status) return status;
    nbc_team_run(parts, commit, &job);
    commit_due(s, &job);
    s->ti_now = job.ti_next;
    s->n_blocks++;
    s->n_steps += (uint64_t)job.n_due;
    return NBC_OK;
}
