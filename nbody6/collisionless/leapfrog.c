#include "nbody6/collisionless/leapfrog.h"

#include "common/nbc.h"
#include "common/select.h"
#include "common/team.h"
#include "gpunb/gpunb.h"
#include "gpunb/tree_kept.h"
#include "nbody6/collisionless/collisionless.h"
#include "nbody6/collisionless/ranks/exchange.h"
#include "nbody6/collisionless/ranks/trees.h"
#include "nbody6/collisionless/system_check.h"
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

/* Their second kick: each is due once. */
static void commit_due(void *context, int part, int parts)
{
    const struct job *job = context;
    struct nb6_collisionless *s = job->system;
    const struct nb6_leapfrog_rules rules = nb6_leapfrog_rules(s);
    int64_t first, end;
    nbc_range(job->n_due, part, parts, &first, &end);
    for (int64_t m = first; m < end; m++) {
        const int32_t i = s->due[m];
        nb6_leapfrog_kick(&rules, job->ti_next, s->acc_due[m], s->x[i], s->x0[i], s->v[i], s->acc[i], &s->level[i]);
    }
}

/* Both, where all bodies of a rank end a step: positions and accelerations change places with those of before. Arrays
 * of one process stay where they are, since its frames show them. */
static void kick_all(void *context, int part, int parts)
{
    const struct job *job = context;
    struct nb6_collisionless *s = job->system;
    const struct nb6_leapfrog_rules rules = nb6_leapfrog_rules(s);
    int64_t first, end;
    nbc_range(s->n, part, parts, &first, &end);
    for (int64_t i = first; i < end; i++)
        nb6_leapfrog_end_kick(&rules, job->ti_next, s->acc_due[i], s->v_half[i], s->v[i], &s->level[i]);
}

static void exchange(double (**a)[3], double (**b)[3])
{
    double(*const then)[3] = *a;
    *a = *b;
    *b = then;
}

static void commit_block(struct nb6_collisionless *s, struct job *job)
{
    const int parts = nbc_parts(s->n, LEAST_BODIES);
    if (s->world && job->n_due == s->n) {
        nbc_team_run(parts, kick_all, job);
        exchange(&s->x0, &s->x);
        exchange(&s->acc, &s->acc_due);
        return;
    }
    nbc_team_run(parts, commit, job);
    if (job->n_due > 0) nbc_team_run(nbc_parts(job->n_due, LEAST_BODIES), commit_due, job);
}

/* Of a body in the whole system, from 1 on. */
static long long number_of(const struct nb6_collisionless *s, int64_t i)
{
    return (long long)(s->trees ? s->name[i] : s->first + i + 1);
}

/* The bodies in `due`, before and after their force. */
struct due {
    struct nb6_collisionless *system;
    int64_t n, not_finite; /* the first that has no finite acceleration */
    int takes_last;
};

static void check_due(void *context, int part, int parts)
{
    struct due *d = context;
    const struct nb6_collisionless *s = d->system;
    int64_t first, end;
    nbc_range(d->n, part, parts, &first, &end);
    for (int64_t m = first; m < end; m++) {
        if (isfinite(s->acc_due[m][0]) && isfinite(s->acc_due[m][1]) && isfinite(s->acc_due[m][2])) continue;
        int64_t least = __atomic_load_n(&d->not_finite, __ATOMIC_RELAXED);
        while (m < least &&
               !__atomic_compare_exchange_n(&d->not_finite, &least, m, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            ;
        return;
    }
}

static int check_accelerations(struct nb6_collisionless *s, int64_t n_due, struct nbc_error *err)
{
    struct due d = {.system = s, .n = n_due, .not_finite = INT64_MAX};
    if (n_due > 0) nbc_team_run(nbc_parts(n_due, LEAST_BODIES), check_due, &d);
    if (d.not_finite == INT64_MAX) return NBC_OK;
    return nbc_fail(err, NBC_NON_FINITE, "the acceleration of body %lld is not finite",
                    number_of(s, s->due[d.not_finite]));
}

static void gather_due(void *context, int part, int parts)
{
    const struct due *d = context;
    struct nb6_collisionless *s = d->system;
    int64_t first, end;
    nbc_range(d->n, part, parts, &first, &end);
    for (int64_t m = first; m < end; m++) {
        memcpy(s->x_due[m], s->x[s->due[m]], sizeof *s->x_due);
        if (d->takes_last) memcpy(s->acc_due[m], s->acc[s->due[m]], sizeof *s->acc_due);
    }
}

/* A tree takes the last accelerations, if there are any: after the start. */
static int takes_last(const struct nb6_collisionless *s, const struct nb6_rebuild_force *by)
{
    return !by->is_apart && gpunb_tree_is_asked(&s->options);
}

/* All bodies are due: they are targets as they lie in memory. */
static int are_all(const struct nb6_collisionless *s, int64_t n_due)
{
    return n_due == s->n;
}

static struct gpunb_softened_job targets_of(struct nb6_collisionless *s, int64_t n_due,
                                            const struct nb6_rebuild_force *by)
{
    const int all = are_all(s, n_due);
    const double(*last)[3] = (const double(*)[3])(all ? s->acc : s->acc_due);
    return (struct gpunb_softened_job){.n_i = (size_t)n_due,
                                       .x = (const double(*)[3])(all ? s->x : s->x_due),
                                       .self = s->due,
                                       .softening = s->softening,
                                       .acc_last = takes_last(s, by) ? last : NULL,
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
                                         .x_due = (const double(*)[3])(are_all(s, n_due) ? s->x : s->x_due),
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

/* By lists that are kept; if they know too few of the targets, by new ones. */
static int sum_by_lists(struct nb6_collisionless *s, const struct nb6_rank_trees_job *job, struct nb6_rebuild_force *by,
                        struct nbc_error *err)
{
    const struct nb6_rank_plan_job plan = {.n = s->n,
                                           .mass = s->mass,
                                           .x = (const double(*)[3])s->x,
                                           .acc = (const double(*)[3])s->acc,
                                           .v = (const double(*)[3])s->v_half,
                                           .time = s->reuse * nb6_step_length(s->max_level),
                                           .softening = s->softening,
                                           .block = s->n_blocks};
    struct nb6_rank_lists lists = {
        .block = s->build_block, .targets = s->n_due_all, .are_new = by->kept == GPUNB_TREE_BUILT};
    const int were_due = lists.are_new, status = nb6_rank_trees_sum_kept(s->trees, job, &plan, &lists, err);
    if (lists.are_new && !were_due) {
        s->rebuild.state = NB6_TREE_IS_WORN;
        by->kept = GPUNB_TREE_BUILT;
    }
    return status;
}

static int sum_by_trees(struct nb6_collisionless *s, int64_t n_due, struct nb6_rebuild_force *by, struct nbc_error *err)
{
    const struct nb6_rank_trees_job job = {.n = s->n,
                                           .name = s->name,
                                           .mass = s->mass,
                                           .x = (const double(*)[3])s->x,
                                           .targets = targets_of(s, n_due, by)};
    if (are_few(s, by)) return nb6_rank_trees_sum_few(s->trees, &job, err);
    if (by->is_apart || by->kept == GPUNB_TREE_NOT_KEPT) return nb6_rank_trees_sum(s->trees, &job, err);
    return sum_by_lists(s, &job, by, err);
}

/* Accelerations of the bodies in `due` from all, at the positions in x.
 * @param[in,out] by  whether a tree is kept for it, and built   @return of ranks: all have to agree on it */
static int force(struct nb6_collisionless *s, int64_t n_due, struct nb6_rebuild_force *by, struct nbc_error *err)
{
    struct due due = {.system = s, .n = n_due, .takes_last = takes_last(s, by)};
    if (!are_all(s, n_due)) nbc_team_run(nbc_parts(n_due, LEAST_BODIES), gather_due, &due);
    const int status = s->exchange ? sum_over_ranks(s, n_due, err)
                       : s->trees  ? sum_by_trees(s, n_due, by, err)
                                   : sum_here(s, n_due, by, err);
    return status ? status : check_accelerations(s, n_due, err);
}

int nb6_leapfrog_start(struct nb6_collisionless *s, struct nbc_error *err)
{
    for (int64_t i = 0; i < s->n; i++) {
        s->due[i] = (int32_t)i;
        for (int k = 0; k < 3; k++) s->x[i][k] = s->x0[i][k];
    }
    struct nb6_rebuild_force apart = nb6_kept_tree_apart(s, 1);
    int status = force(s, s->n, &apart, err);
    if (s->world) status = nb6_world_agree(s->world, status, err);
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

/* ---- block times */

/* Levels of steps. */
enum { LEVELS = NB6_LONGEST_LEVEL + 1 };

struct counting {
    const struct nb6_collisionless *system;
    const struct job *block; /* NULL: bodies have the steps that they begin now */
    int64_t *count;          /* [LEVELS] */
};

static void count_part(void *context, int part, int parts)
{
    const struct counting *c = context;
    const struct nb6_collisionless *s = c->system;
    const struct nb6_leapfrog_rules rules = nb6_leapfrog_rules(s);
    int64_t own[LEVELS] = {0}, first, end;
    nbc_range(s->n, part, parts, &first, &end);
    for (int64_t i = first; i < end; i++) own[s->level[i]]++;
    nbc_range(c->block ? c->block->n_due : 0, part, parts, &first, &end);
    for (int64_t m = first; m < end; m++) {
        const int8_t level = s->level[s->due[m]];
        own[level]--;
        own[nb6_leapfrog_next_level(&rules, level, c->block->ti_next, s->acc_due[m])]++;
    }
    for (int k = 0; k < LEVELS; k++)
        if (own[k] != 0) __atomic_fetch_add(&c->count[k], own[k], __ATOMIC_RELAXED);
}

/* @param[in] block  whose forces are there: levels as they will be after it; NULL: as they are */
static void count_levels(const struct nb6_collisionless *s, const struct job *block, int64_t count[LEVELS])
{
    struct counting c = {s, block, count};
    memset(count, 0, LEVELS * sizeof *count);
    nbc_team_run(nbc_parts(s->n, LEAST_BODIES), count_part, &c);
}

/* Of the bodies of all ranks, at a time: the block that follows needs no more than these. */
static void take_levels(struct nb6_collisionless *s, nb6_time t, const int64_t count[LEVELS])
{
    int shortest = 0;
    while (shortest < s->max_level && count[shortest] == 0) shortest++;
    s->shortest_all = shortest;
    s->n_due_all = 0;
    for (int k = 0; k < LEVELS; k++)
        if (nb6_step_ends(k, t + nb6_step_ticks(shortest))) s->n_due_all += count[k];
}

/* Every block time is a multiple of the shortest step: a body that ends a longer one there may choose no step that does
 * not divide the time. So the bodies with the shortest step begin it now. */
static nb6_time next_time(struct nb6_collisionless *s)
{
    int64_t count[LEVELS], least = s->max_level;
    if (s->trees && s->shortest_all < 0) {
        count_levels(s, NULL, count);
        nb6_world_sum(s->world, count, LEVELS);
        take_levels(s, s->ti_now, count);
    }
    if (s->trees) return s->ti_now + nb6_step_ticks(s->shortest_all);
    for (int64_t i = 0; i < s->n; i++)
        if (s->level[i] < least) least = s->level[i];
    if (s->world) nb6_world_minimum(s->world, &least, 1);
    return s->ti_now + nb6_step_ticks((int)least);
}

static int ends_step(const void *context, int64_t i)
{
    const struct job *job = context;
    return nb6_step_ends(job->system->level[i], job->ti_next);
}

/* Those of the tree of the host, if they are asked for; ranks judge by their work. */
static int read_counts(const struct nb6_collisionless *s, const struct nb6_rebuild_force *of_block,
                       struct gpunb_tree_counts *counts, struct nbc_error *err)
{
    const int status = of_block->is_judged && !s->trees ? gpunb_tree_read_counts(s->force, counts) : NBC_OK;
    return status ? nbc_fail(err, status, "%s", gpunb_last_error(s->force)) : NBC_OK;
}

/* ---- what ranks tell each other */

/* All bodies ended a step together at the last block. */
static int begins_longest_step(const struct nb6_collisionless *s)
{
    return nb6_step_ends(s->max_level, s->ti_now);
}

/* Sums over ranks at the end of a block: bodies of each level, and what its lists and those of the whole longest step
 * cost, which judge the cells. */
enum { OF_FORCE = LEVELS, OF_STEP, SUMS };

static void find_sums(const struct nb6_collisionless *s, const struct job *job,
                      const struct nb6_rebuild_force *of_block, int64_t sum[SUMS])
{
    count_levels(s, job, sum);
    if (!of_block->is_judged) return;
    sum[OF_STEP] = sum[OF_FORCE] = (int64_t)nb6_rank_trees_work(s->trees);
    for (int64_t i = 0; i < s->n && !begins_longest_step(s); i++) sum[OF_STEP] += (int64_t)s->work[i];
}

/* All ranks go on with the forces of a block, or none. Those with trees know what the next one needs then, and what its
 * lists cost. */
static int agree(struct nb6_collisionless *s, const struct job *job, int status,
                 const struct nb6_rebuild_force *of_block, int64_t sum[SUMS], struct nbc_error *err)
{
    if (!s->world) return status;
    if (!s->trees) return nb6_world_agree(s->world, status, err);
    if (!status) find_sums(s, job, of_block, sum);
    status = nb6_world_agree_sum(s->world, status, sum, SUMS, err);
    if (!status) take_levels(s, job->ti_next, sum);
    return status;
}

static void clear_work(void *context, int part, int parts)
{
    const struct nb6_collisionless *s = context;
    int64_t first, end;
    nbc_range(s->n, part, parts, &first, &end);
    memset(s->work + first, 0, (size_t)(end - first) * sizeof *s->work);
}

/* Of a block that is made.   @param[in] sum  of all ranks */
static void note_work(struct nb6_collisionless *s, const struct job *job, const struct nb6_rebuild_force *of_block,
                      const int64_t sum[SUMS])
{
    if (begins_longest_step(s)) nbc_team_run(nbc_parts(s->n, LEAST_BODIES), clear_work, s);
    nb6_rank_trees_add_work(s->trees, job->n_due, s->due, s->work);
    if (of_block->is_judged) nb6_rebuild_judge_work(s, job->ti_next, (uint64_t)sum[OF_FORCE], (uint64_t)sum[OF_STEP]);
}

int nb6_leapfrog_block(struct nb6_collisionless *s, struct nbc_error *err)
{
    struct job job = {.system = s, .ti_next = next_time(s)};
    nbc_team_run(nbc_parts(s->n, LEAST_BODIES), kick_and_drift, &job);
    job.n_due = nbc_select(s->n, LEAST_BODIES, ends_step, &job, s->due);
    struct nb6_rebuild_force of_block;
    struct gpunb_tree_counts now = {0};
    int64_t sum[SUMS] = {0};
    nb6_rebuild_begin(s, job.ti_next, s->trees ? s->n_due_all : job.n_due, 1, &of_block);
    int status = read_counts(s, &of_block, &of_block.before, err);
    if (!status) status = force(s, job.n_due, &of_block, err);
    if (!status) status = read_counts(s, &of_block, &now, err);
    status = agree(s, &job, status, &of_block, sum, err);
    if (status) return status;
    nb6_rebuild_end(s, job.ti_next, &of_block, s->trees ? NULL : &now);
    if (s->trees) note_work(s, &job, &of_block, sum);
    commit_block(s, &job);
    s->ti_now = job.ti_next;
    s->n_blocks++;
    s->n_steps += (uint64_t)job.n_due;
    return NBC_OK;
}
