#include "nbody6/collisionless/leapfrog.h"

#include "common/nbc.h"
#include "common/team.h"
#include "gpunb/gpunb.h"
#include "gpunb/tree_kept.h"
#include "nbody6/collisionless/collisionless.h"
#include "nbody6/collisionless/ranks/exchange.h"
#include "nbody6/collisionless/ranks/trees.h"
#include "nbody6/state/body.h"
#include "nbody6/state/level.h"
#include "nbody6/world/world.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Bodies that a thread should have at least: some microseconds of work. */
enum { LEAST_BODIES = 4096 };

struct job {
    struct nb6_collisionless *system;
    nb6_time ti_next;
    int64_t n_due;
};

/* First kick of the bodies that begin a step now, and drift of all. */
static void kick_and_drift(void *context, int part, int parts)
{
    const struct job *job = context;
    struct nb6_collisionless *s = job->system;
    int64_t first, end;
    nbc_range(s->n, part, parts, &first, &end);
    for (int64_t i = first; i < end; i++)
        nb6_leapfrog_drift(s->level[i], s->ti_now, job->ti_next, s->x0[i], s->v[i], s->acc[i], s->v_half[i], s->x[i]);
}

/* Second kick of the bodies that end a step; all others keep the velocity of their first kick. */
static void commit(void *context, int part, int parts)
{
    const struct job *job = context;
    struct nb6_collisionless *s = job->system;
    int64_t first, end;
    nbc_range(s->n, part, parts, &first, &end);
    for (int64_t i = first; i < end; i++)
        for (int k = 0; k < 3; k++) s->v[i][k] = s->v_half[i][k];
}

struct nb6_leapfrog_rules nb6_leapfrog_rules(const struct nb6_collisionless *s)
{
    return (struct nb6_leapfrog_rules){
        .softening = s->softening, .eta = s->eta, .max_level = s->max_level, .block = s->block};
}

static void commit_due(struct nb6_collisionless *s, const struct job *job)
{
    const struct nb6_leapfrog_rules rules = nb6_leapfrog_rules(s);
    for (int64_t m = 0; m < job->n_due; m++) {
        const int32_t i = s->due[m];
        nb6_leapfrog_kick(&rules, job->ti_next, s->acc_due[m], s->x[i], s->x0[i], s->v[i], s->acc[i], &s->level[i]);
    }
}

/* Of a body in the whole system, from 1 on. */
static long long number_of(const struct nb6_collisionless *s, int64_t i)
{
    return (long long)(s->trees ? s->name[i] : s->first + i + 1);
}

static int check_accelerations(const struct nb6_collisionless *s, int64_t n_due, struct nbc_error *err)
{
    for (int64_t m = 0; m < n_due; m++)
        for (int k = 0; k < 3; k++)
            if (!isfinite(s->acc_due[m][k]))
                return nbc_fail(err, NBC_NON_FINITE, "the acceleration of body %lld is not finite",
                                number_of(s, s->due[m]));
    return NBC_OK;
}

/* The bodies in `due`. A tree takes the last accelerations, if there are any: after the start. */
static struct gpunb_softened_job targets_of(struct nb6_collisionless *s, int64_t n_due,
                                            const struct nb6_rebuild_force *by)
{
    const int takes_last = !by->is_apart && gpunb_tree_is_asked(&s->options);
    for (int64_t m = 0; m < n_due && takes_last; m++)
        for (int k = 0; k < 3; k++) s->acc_due[m][k] = s->acc[s->due[m]][k];
    return (struct gpunb_softened_job){.n_i = (size_t)n_due,
                                       .x = (const double(*)[3])s->x_due,
                                       .self = s->due,
                                       .softening = s->softening,
                                       .acc_last = takes_last ? (const double(*)[3])s->acc_due : NULL,
                                       .acc = s->acc_due,
                                       .build = s->n_blocks};
}

static int sum_here(struct nb6_collisionless *s, int64_t n_due, const struct nb6_rebuild_force *by,
                    struct nbc_error *err)
{
    const struct gpunb_softened_job job = targets_of(s, n_due, by);
    int status = gpunb_send_positions(s->force, (size_t)s->n, s->mass, (const double(*)[3])s->x);
    if (status) return nbc_fail(err, status, "%s", gpunb_last_error(s->force));
    return nb6_kept_tree_force(s, by, &job, err);
}

static int sum_over_ranks(struct nb6_collisionless *s, int64_t n_due, struct nbc_error *err)
{
    const struct nb6_exchange_job job = {.mass = s->mass,
                                         .x = (const double(*)[3])s->x,
                                         .n_due = n_due,
                                         .due = s->due,
                                         .x_due = (const double(*)[3])s->x_due,
                                         .softening = s->softening,
                                         .acc = s->acc_due};
    return nb6_exchange_sum(s->exchange, &job, err);
}

/* Few bodies of all ranks have direct sums, as on one rank (gpunb.h). */
static int are_few(const struct nb6_collisionless *s, const struct nb6_rebuild_force *by)
{
    if (by->is_apart || by->kept != GPUNB_TREE_NOT_KEPT) return by->kept == GPUNB_TREE_UNUSED;
    return !gpunb_tree_is_worth(s->force, (size_t)s->n_due_all, (size_t)s->n_all);
}

static int sum_by_trees(struct nb6_collisionless *s, int64_t n_due, const struct nb6_rebuild_force *by,
                        struct nbc_error *err)
{
    const struct nb6_rank_trees_job job = {.n = s->n,
                                           .name = s->name,
                                           .mass = s->mass,
                                           .x = (const double(*)[3])s->x,
                                           .targets = targets_of(s, n_due, by)};
    const struct nb6_rank_plan_job plan = {.n = s->n,
                                           .mass = s->mass,
                                           .x = (const double(*)[3])s->x,
                                           .acc = (const double(*)[3])s->acc,
                                           .v = (const double(*)[3])s->v_half,
                                           .time = s->reuse * nb6_step_length(s->max_level),
                                           .softening = s->softening,
                                           .block = s->n_blocks};
    if (are_few(s, by)) return nb6_rank_trees_sum_few(s->trees, &job, err);
    if (by->is_apart || by->kept == GPUNB_TREE_NOT_KEPT) return nb6_rank_trees_sum(s->trees, &job, err);
    return nb6_rank_trees_sum_kept(s->trees, &job, by->kept == GPUNB_TREE_BUILT ? &plan : NULL, err);
}

/* Accelerations of the bodies in `due` from all, at the positions in x; on all ranks or on none.
 * @param[in] by  whether a tree is kept for it */
static int force(struct nb6_collisionless *s, int64_t n_due, const struct nb6_rebuild_force *by, struct nbc_error *err)
{
    for (int64_t m = 0; m < n_due; m++)
        for (int k = 0; k < 3; k++) s->x_due[m][k] = s->x[s->due[m]][k];
    int status = s->exchange ? sum_over_ranks(s, n_due, err)
                 : s->trees  ? sum_by_trees(s, n_due, by, err)
                             : sum_here(s, n_due, by, err);
    if (!status) status = check_accelerations(s, n_due, err);
    return s->world ? nb6_world_agree(s->world, status, err) : status;
}

int nb6_leapfrog_start(struct nb6_collisionless *s, struct nbc_error *err)
{
    for (int64_t i = 0; i < s->n; i++) {
        s->due[i] = (int32_t)i;
        for (int k = 0; k < 3; k++) s->x[i][k] = s->x0[i][k];
    }
    const struct nb6_rebuild_force apart = nb6_kept_tree_apart(s, 1);
    const int status = force(s, s->n, &apart, err);
    if (status) return status;
    memcpy(s->acc, s->acc_due, (size_t)s->n * sizeof *s->acc);
    nb6_leapfrog_choose_steps(s);
    return NBC_OK;
}

void nb6_leapfrog_choose_steps(struct nb6_collisionless *s)
{
    const struct nb6_leapfrog_rules rules = nb6_leapfrog_rules(s);
    for (int64_t i = 0; i < s->n; i++) s->level[i] = (int8_t)nb6_leapfrog_wanted(&rules, s->acc[i]);
}

int nb6_leapfrog_check_levels(const struct nb6_collisionless *s, struct nbc_error *err)
{
    for (int64_t i = 0; i < s->n; i++)
        if (s->level[i] < 0 || s->level[i] > s->max_level || (!s->block && s->level[i] < s->max_level))
            return nbc_fail(err, NBC_BAD_ARGUMENT, "the step of body %lld is none of those that there are",
                            number_of(s, i));
    return NBC_OK;
}

int nb6_leapfrog_potentials(struct nb6_collisionless *s, double *pot, struct nbc_error *err)
{
    for (int64_t i = 0; i < s->n; i++) s->due[i] = (int32_t)i;
    const struct gpunb_softened_job job = {.n_i = (size_t)s->n,
                                           .x = (const double(*)[3])s->x0,
                                           .self = s->due,
                                           .softening = s->softening,
                                           .acc_last =
                                               gpunb_tree_is_asked(&s->options) ? (const double(*)[3])s->acc : NULL,
                                           .acc = s->acc_due,
                                           .pot = pot,
                                           .build = s->n_blocks};
    const struct nb6_rebuild_force force = nb6_kept_tree_apart(s, 1);
    const int status = gpunb_send_positions(s->force, (size_t)s->n, s->mass, (const double(*)[3])s->x0);
    if (status) return nbc_fail(err, status, "%s", gpunb_last_error(s->force));
    return nb6_kept_tree_force(s, &force, &job, err);
}

/* Every block time is a multiple of the shortest step: a body that ends a longer one there may choose no step that does
 * not divide the time. So the bodies with the shortest step begin it now. */
static nb6_time next_time(const struct nb6_collisionless *s)
{
    int shortest = s->max_level;
    for (int64_t i = 0; i < s->n; i++)
        if (s->level[i] < shortest) shortest = s->level[i];
    int64_t least = shortest;
    if (s->world) nb6_world_minimum(s->world, &least, 1);
    return s->ti_now + nb6_step_ticks((int)least);
}

static int64_t find_due(struct nb6_collisionless *s, nb6_time t)
{
    int64_t n_due = 0;
    for (int64_t i = 0; i < s->n; i++)
        if (nb6_step_ends(s->level[i], t)) s->due[n_due++] = (int32_t)i;
    return n_due;
}

/* Those of the tree of the host, if they are asked for. */
static int read_counts(const struct nb6_collisionless *s, const struct nb6_rebuild_force *of_block,
                       struct gpunb_tree_counts *counts, struct nbc_error *err)
{
    const int status = of_block->is_judged ? gpunb_tree_read_counts(s->force, counts) : NBC_OK;
    return status ? nbc_fail(err, status, "%s", gpunb_last_error(s->force)) : NBC_OK;
}

/* Those of the trees of all ranks in this block, beside none before. */
static void add_counts(const struct nb6_collisionless *s, struct nb6_rebuild_force *of_block,
                       struct gpunb_tree_counts *now)
{
    struct gpunb_tree_counts *before = &of_block->before;
    int64_t sum[3] = {(int64_t)(now->tests - before->tests), (int64_t)(now->listed_cells - before->listed_cells),
                      (int64_t)(now->local_terms - before->local_terms)};
    nb6_world_sum(s->world, sum, 3);
    *before = (struct gpunb_tree_counts){0};
    *now = (struct gpunb_tree_counts){
        .tests = (uint64_t)sum[0], .listed_cells = (uint64_t)sum[1], .local_terms = (uint64_t)sum[2]};
}

/* The force of a block. Lists that ranks keep may know too few of their targets: new ones are due then. */
static void choose_force(struct nb6_collisionless *s, const struct job *job, struct nb6_rebuild_force *force)
{
    s->n_due_all = job->n_due;
    if (s->trees) nb6_world_sum(s->world, &s->n_due_all, 1);
    nb6_rebuild_begin(s, job->ti_next, s->trees ? s->n_due_all : job->n_due, 1, force);
    if (!s->trees || force->kept != GPUNB_TREE_RENEWED) return;
    if (nb6_rank_trees_hold(s->trees, s->build_block, job->n_due, s->due, (const double(*)[3])s->x,
                            (const double(*)[3])s->acc))
        return;
    s->rebuild.state = NB6_TREE_IS_WORN;
    force->kept = GPUNB_TREE_BUILT;
}

/* Since all bodies ended a step together. */
static void note_work(struct nb6_collisionless *s, int64_t n_due)
{
    if (nb6_step_ends(s->max_level, s->ti_now)) memset(s->work, 0, (size_t)s->n * sizeof *s->work);
    nb6_rank_trees_add_work(s->trees, n_due, s->due, s->work);
}

int nb6_leapfrog_block(struct nb6_collisionless *s, struct nbc_error *err)
{
    struct job job = {.system = s, .ti_next = next_time(s)};
    const int parts = nbc_parts(s->n, LEAST_BODIES);
    nbc_team_run(parts, kick_and_drift, &job);
    job.n_due = find_due(s, job.ti_next);
    struct nb6_rebuild_force of_block;
    struct gpunb_tree_counts now;
    choose_force(s, &job, &of_block);
    int status = read_counts(s, &of_block, &of_block.before, err);
    if (!status) status = force(s, job.n_due, &of_block, err);
    if (!status) status = read_counts(s, &of_block, &now, err);
    if (status) return status;
    if (s->trees && of_block.is_judged) add_counts(s, &of_block, &now);
    nb6_rebuild_end(s, job.ti_next, &of_block, &now);
    if (s->trees) note_work(s, job.n_due);
    nbc_team_run(parts, commit, &job);
    commit_due(s, &job);
    s->ti_now = job.ti_next;
    s->n_blocks++;
    s->n_steps += (uint64_t)job.n_due;
    return NBC_OK;
}
