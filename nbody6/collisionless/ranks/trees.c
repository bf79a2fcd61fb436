#include "nbody6/collisionless/ranks/trees.h"

#include "common/team.h"
#include "gpunb/backend.h"
#include "gpunb/tree/essential.h"
#include "gpunb/tree_kept.h"
#include "nbody6/collisionless/kept_tree.h"
#include "nbody6/collisionless/ranks/costs.h"
#include "nbody6/collisionless/ranks/few.h"
#include "nbody6/collisionless/ranks/partners.h"
#include "nbody6/collisionless/ranks/positions.h"
#include "nbody6/world/spread.h"
#include "nbody6/world/world.h"

#include <math.h>
#include <string.h>

/* Of one rank: how far it has come, and a number that is added up. */
struct told {
    int64_t status, number;
};

struct nb6_rank_trees {
    struct nb6_world *world;
    gpunb_t *force;
    struct gpunb_essential *fresh, *kept; /* kept: with lists that serve several forces; NULL: none do */
    struct gpunb_essential *essential;    /* that of them which makes the force */
    struct nb6_rank_few *few;
    int ranks, own;
    struct nb6_spread *tops, *reaches; /* to all */
    char *top;                         /* [ranks] of all */
    struct gpunb_essential_reach *reach;
    struct told *told; /* [ranks] that came with the tops */
    struct nb6_partners partners;
    struct nb6_rank_costs costs; /* of the last force */
    uint64_t cost;               /* their sum */
    const int32_t *order;        /* along the curve of the last tree; NULL: bodies have come or gone since */
    int is_by_tree;              /* the last force */
    struct nb6_rank_plan plan;
    int32_t *self; /* [plan_room] numbers of own bodies */
    size_t plan_room;
    uint64_t messages, bytes;
};

static int no_memory(const struct nb6_rank_trees *t, struct nbc_error *err)
{
    return nbc_fail(err, NBC_NO_MEMORY, "rank %d has no memory for the trees of %d ranks", t->own, t->ranks);
}

/* ---- opening and closing */

/* A top cell travels behind what its rank tells. */
static size_t top_item(const struct nb6_rank_trees *t)
{
    return sizeof *t->told + gpunb_essential_top_bytes(t->fresh);
}

static int allocate(struct nb6_rank_trees *t, struct nbc_error *err)
{
    const size_t ranks = (size_t)t->ranks, top = top_item(t), reach = sizeof *t->reach;
    t->top = nbc_alloc(ranks, gpunb_essential_top_bytes(t->fresh));
    t->told = nbc_alloc(ranks, sizeof *t->told);
    t->reach = nbc_alloc(ranks, reach);
    if (!t->top || !t->reach || !t->told) return no_memory(t, err);
    int status =
        nb6_partners_open(&t->partners, t->world, GPUNB_ESSENTIAL_BOXES * sizeof(struct gpunb_essential_box), err);
    if (!status) status = nb6_spread_open(&t->tops, t->world, t->ranks, top, ranks * top, NULL, err);
    return status ? status : nb6_spread_open(&t->reaches, t->world, t->ranks, reach, ranks * reach, NULL, err);
}

int nb6_rank_trees_open(struct nb6_rank_trees **trees, struct nb6_world *world, gpunb_t *force, int keeps_lists,
                        struct nbc_error *err)
{
    struct nb6_rank_trees *t = nbc_alloc(1, sizeof *t);
    if (!t) return nbc_fail(err, NBC_NO_MEMORY, "no memory for the trees of ranks");
    t->world = world;
    t->force = force;
    t->ranks = nb6_world_size(world);
    t->own = nb6_world_rank(world);
    t->plan.block = NB6_NO_BUILD;
    int status = gpunb_essential_open(&t->fresh, force, t->ranks, t->own);
    if (!status && keeps_lists) status = gpunb_essential_open(&t->kept, force, t->ranks, t->own);
    t->essential = t->fresh;
    if (status)
        nbc_fail(err, status, "%s", gpunb_last_error(force));
    else
        status = allocate(t, err);
    if (!status) status = nb6_rank_few_open(&t->few, world, force, err);
    if (status)
        nb6_rank_trees_close(t);
    else
        *trees = t;
    return status;
}

static void drop_plan(struct nb6_rank_trees *t)
{
    nb6_rank_places_free(&t->plan.places);
    nbc_free(t->self);
    t->plan = (struct nb6_rank_plan){.block = NB6_NO_BUILD};
    t->self = NULL;
    t->plan_room = 0;
}

void nb6_rank_trees_close(struct nb6_rank_trees *t)
{
    if (!t) return;
    nb6_partners_close(&t->partners);
    nb6_spread_close(t->tops);
    nb6_spread_close(t->reaches);
    gpunb_essential_free(t->fresh);
    gpunb_essential_free(t->kept);
    nb6_rank_few_close(t->few);
    drop_plan(t);
    nbc_free(t->top);
    nbc_free(t->reach);
    nbc_free(t->told);
    nb6_rank_costs_free(&t->costs);
    nbc_free(t);
}

void nb6_rank_trees_get_counts(const struct nb6_rank_trees *t, struct nb6_rank_trees_counts *counts)
{
    struct gpunb_essential_counts c, k = {0};
    gpunb_essential_get_counts(t->fresh, &c);
    if (t->kept) gpunb_essential_get_counts(t->kept, &k);
    *counts = (struct nb6_rank_trees_counts){.forces = c.forces + k.forces,
                                             .close = c.close + k.close,
                                             .cells = c.cells + k.cells,
                                             .whole = c.whole + k.whole,
                                             .bodies = c.bodies + k.bodies,
                                             .messages = t->messages,
                                             .bytes = t->bytes};
}

/* ---- to all */

static void take_tops(void *context, const struct nb6_spread_set *set, const void *items)
{
    const struct nb6_rank_trees *t = context;
    const size_t item = top_item(t), top = item - sizeof *t->told;
    for (int k = 0; k < set->owners; k++) {
        const char *from = (const char *)items + (size_t)k * item;
        const int owner = (set->first + k) % t->ranks;
        memcpy(&t->told[owner], from, sizeof *t->told);
        memcpy(t->top + (size_t)owner * top, from + sizeof *t->told, top);
    }
}

/* @param[in] status  of what this rank has done before   @param[in,out] number  of this rank; the sum over all
 * @return of the first that has failed, the same on all ranks */
static int tell_tops(struct nb6_rank_trees *t, int status, int64_t *number, struct nbc_error *err)
{
    const struct told own = {status, *number};
    char *item = nb6_spread_own(t->tops);
    memset(item, 0, top_item(t));
    memcpy(item, &own, sizeof own);
    if (!status) gpunb_essential_top(t->essential, item + sizeof own);
    nb6_spread_run(t->tops, take_tops, t);
    *number = 0;
    for (int r = 0; r < t->ranks; r++) {
        if (t->told[r].status) return nb6_world_tell(t->world, r, status, err);
        *number += t->told[r].number;
    }
    gpunb_essential_take_tops(t->essential, t->top);
    return NBC_OK;
}

static void take_reaches(void *context, const struct nb6_spread_set *set, const void *items)
{
    const struct nb6_rank_trees *t = context;
    const struct gpunb_essential_reach *reach = items;
    for (int k = 0; k < set->owners; k++) t->reach[(set->first + k) % t->ranks] = reach[k];
}

/* From these all ranks know which ones give trees to which. */
static void tell_reaches(struct nb6_rank_trees *t)
{
    gpunb_essential_reach(t->essential, nb6_spread_own(t->reaches));
    nb6_spread_run(t->reaches, take_reaches, t);
    gpunb_essential_take_reaches(t->essential, t->reach);
}

/* ---- to those that are near. Failures are those of each rank, which goes on with messages, until all agree. */

static void find_partners(struct nb6_rank_trees *t)
{
    for (int r = 0; r < t->ranks; r++) {
        struct nb6_partner *p = &t->partners.with[r];
        p->gives = gpunb_essential_is_sent(t->essential, t->own, r);
        p->gets = gpunb_essential_is_sent(t->essential, r, t->own);
    }
}

/* The boxes of targets go to those that send trees, and come from those that get them. */
static int exchange_boxes(struct nb6_rank_trees *t, struct nbc_error *err)
{
    const struct gpunb_essential_box *own = gpunb_essential_boxes(t->essential);
    const int64_t size = sizeof *own;
    find_partners(t);
    for (int r = 0; r < t->ranks; r++) {
        struct nb6_partner *p = &t->partners.with[r];
        p->data = own;
        p->bytes = t->reach[t->own].boxes * size;
        p->bytes_come = t->reach[r].boxes * size;
    }
    const int status = nb6_partners_provide(&t->partners, NB6_BOXES, err);
    if (status)
        nb6_partners_lose_boxes(&t->partners);
    else
        nb6_partners_pass(&t->partners, NB6_BOXES);
    return status;
}

/* By lists, or by boxes that have come. */
static int make_trees(struct nb6_rank_trees *t, int by_lists, struct nbc_error *err)
{
    int status = NBC_OK;
    for (int r = 0; r < t->ranks && !status; r++) {
        struct nb6_partner *p = &t->partners.with[r];
        size_t bytes = 0;
        if (!p->gives) continue;
        status = by_lists ? gpunb_essential_export_kept(t->essential, r, &p->data, &bytes)
                          : gpunb_essential_export(t->essential, r, p->come, &p->data, &bytes);
        p->bytes = (int64_t)bytes;
        t->messages++;
        t->bytes += bytes;
    }
    return status ? nbc_fail(err, status, "%s", gpunb_last_error(t->force)) : NBC_OK;
}

/* status: of this rank; all agree when it is known how much comes, before it does. */
static int exchange_trees(struct nb6_rank_trees *t, int status, struct nbc_error *err)
{
    for (int r = 0; r < t->ranks && status; r++) t->partners.with[r].bytes = 0;
    nb6_partners_tell_bytes(&t->partners);
    if (!status) status = nb6_partners_provide(&t->partners, NB6_TREES, err);
    status = nb6_world_agree(t->world, status, err);
    if (!status) nb6_partners_pass(&t->partners, NB6_TREES);
    return status;
}

/* ---- forces */

/* Of so many targets one may have left what a plan knows of it: 99 of 100 errors are to be within the aim. */
enum { TARGETS_TO_ONE_LEFT = 256 };

static int provide_costs(struct nb6_rank_trees *t, size_t n, struct nbc_error *err)
{
    return nb6_rank_costs_provide(&t->costs, n) ? NBC_OK : no_memory(t, err);
}

static int send_sources(struct nb6_rank_trees *t, int64_t n, const double *mass, const double (*x)[3],
                        struct nbc_error *err)
{
    int status = gpunb_reserve(t->force, n > 0 ? (size_t)n : 1);
    if (!status) status = gpunb_send_positions(t->force, (size_t)n, mass, x);
    return status ? nbc_fail(err, status, "%s", gpunb_last_error(t->force)) : NBC_OK;
}

static int begin(struct nb6_rank_trees *t, const struct nb6_rank_trees_job *job,
                 const struct gpunb_softened_job *targets, struct nbc_error *err)
{
    int status = nb6_rank_positions_check(job->n, job->name, job->x, err);
    if (!status) status = send_sources(t, job->n, job->mass, job->x, err);
    if (!status) status = provide_costs(t, targets->n_i, err);
    if (status) return status;
    status = gpunb_essential_begin(t->essential, targets);
    return status ? nbc_fail(err, status, "%s", gpunb_last_error(t->force)) : NBC_OK;
}

/* Nominal costs, in pairs: of the lists, and of a tree that is new.   @param[in] builds  1; 0: it is renewed */
static void spend(struct nb6_rank_trees *t, const struct nb6_rank_trees_job *job, int builds)
{
    const double pairs = gpunb_tree_kept_pairs(t->force, 0, (size_t)job->n, builds);
    nb6_world_spend(t->world, 1, pairs + (double)t->cost);
}

/* By the trees that have come. */
static int walk(struct nb6_rank_trees *t, const struct nb6_rank_trees_job *job, int builds, struct nbc_error *err)
{
    int status = NBC_OK;
    for (int r = 0; r < t->ranks && !status; r++)
        if (t->partners.with[r].gets) status = gpunb_essential_take(t->essential, r, t->partners.with[r].come);
    if (!status) status = gpunb_essential_force(t->essential, t->costs.cost);
    if (status) return nbc_fail(err, status, "%s", gpunb_last_error(t->force));
    t->is_by_tree = 1;
    t->cost = nb6_rank_costs_sum(&t->costs, (int64_t)job->targets.n_i);
    t->order = gpunb_essential_order(t->essential);
    spend(t, job, builds);
    return NBC_OK;
}

/* status: of this rank so far. */
static int sum_once(struct nb6_rank_trees *t, const struct nb6_rank_trees_job *job,
                    const struct gpunb_softened_job *targets, int status, struct nbc_error *err)
{
    int64_t none = 0;
    status = tell_tops(t, status ? status : begin(t, job, targets, err), &none, err);
    if (status) return status;
    tell_reaches(t);
    status = exchange_boxes(t, err);
    if (!status) status = make_trees(t, 0, err);
    status = exchange_trees(t, status, err);
    return status ? status : walk(t, job, 1, err);
}

/* With an aim, and without last accelerations, those by angle come first. */
int nb6_rank_trees_sum(struct nb6_rank_trees *t, const struct nb6_rank_trees_job *job, struct nbc_error *err)
{
    struct gpunb_softened_job targets = job->targets;
    int status = NBC_OK;
    t->essential = t->fresh;
    if (!targets.acc_last && gpunb_essential_has_aim(t->essential)) {
        targets.pot = NULL;
        status = sum_once(t, job, &targets, NBC_OK, err);
        targets.pot = job->targets.pot;
        targets.acc_last = (const double(*)[3])targets.acc;
    }
    return sum_once(t, job, &targets, status, err);
}

int nb6_rank_trees_sum_few(struct nb6_rank_trees *t, const struct nb6_rank_trees_job *job, struct nbc_error *err)
{
    t->is_by_tree = 0;
    t->order = NULL;
    return nb6_rank_few_sum(t->few, job, nb6_rank_positions_check(job->n, job->name, job->x, err), err);
}

/* ---- lists that serve several forces */

enum { BODIES_OF_A_PART = 16384 };

static int provide_plan(struct nb6_rank_trees *t, size_t n, struct nbc_error *err)
{
    if (t->self && n <= t->plan_room) return NBC_OK;
    drop_plan(t);
    const size_t room = n + n / 8; /* as of a share (system_memory.c) */
    const int status = nb6_rank_places_open(&t->plan.places, (int64_t)room, err);
    t->self = status ? NULL : nbc_alloc_unset(room, sizeof *t->self);
    if (!t->self) return no_memory(t, err);
    t->plan_room = room;
    for (size_t i = 0; i < room; i++) {
        t->self[i] = (int32_t)i;
        t->plan.places.rank[i] = t->own;
    }
    return NBC_OK;
}

struct taking {
    const struct nb6_rank_places *places;
    const struct nb6_rank_plan_job *job;
};

static void take_part(void *context, int part, int parts)
{
    const struct taking *t = context;
    const struct nb6_rank_places *places = t->places;
    const struct nb6_rank_plan_job *job = t->job;
    int64_t first, end;
    nbc_range(job->n, part, parts, &first, &end);
    for (int64_t i = first; i < end; i++) {
        const double *v = job->drift ? NULL : job->v[i];
        memcpy(places->x[i], job->x[i], sizeof *places->x);
        memcpy(places->acc[i], job->acc[i], sizeof *places->acc);
        places->drift[i] = v ? job->time * sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) : job->drift[i];
    }
}

/* The own tree, and boxes of all own bodies. */
static int begin_plan(struct nb6_rank_trees *t, const struct nb6_rank_plan_job *job, struct nbc_error *err)
{
    const size_t n = (size_t)job->n;
    int status = provide_plan(t, n, err);
    if (!status) status = send_sources(t, job->n, job->mass, job->x, err);
    if (status) return status;
    struct taking taking = {&t->plan.places, job};
    nbc_team_run(nbc_parts(job->n, BODIES_OF_A_PART), take_part, &taking);
    const struct gpunb_softened_job all = {.n_i = n,
                                           .x = (const double(*)[3])t->plan.places.x,
                                           .self = t->self,
                                           .softening = job->softening,
                                           .acc_last = (const double(*)[3])t->plan.places.acc,
                                           .build = job->block};
    status = gpunb_essential_plan(t->essential, &all, t->plan.places.drift);
    return status ? nbc_fail(err, status, "%s", gpunb_last_error(t->force)) : NBC_OK;
}

static int keep_lists(struct nb6_rank_trees *t, struct nbc_error *err)
{
    int status = NBC_OK;
    for (int r = 0; r < t->ranks && !status; r++)
        if (t->partners.with[r].gives) status = gpunb_essential_keep(t->essential, r, t->partners.with[r].come);
    return status ? nbc_fail(err, status, "%s", gpunb_last_error(t->force)) : NBC_OK;
}

/* @param[in] status  of this rank so far   @return of this rank */
static int make_plan(struct nb6_rank_trees *t, const struct nb6_rank_plan_job *job, int status, struct nbc_error *err)
{
    int64_t none = 0;
    t->essential = t->kept;
    t->plan.block = NB6_NO_BUILD;
    status = tell_tops(t, status ? status : begin_plan(t, job, err), &none, err);
    if (status) return status;
    tell_reaches(t);
    status = exchange_boxes(t, err);
    return status ? status : keep_lists(t, err);
}

int nb6_rank_trees_plan(struct nb6_rank_trees *t, const struct nb6_rank_plan_job *job, struct nbc_error *err)
{
    const int status = nb6_world_agree(t->world, make_plan(t, job, NBC_OK, err), err);
    if (!status) t->plan.block = job->block;
    return status;
}

const struct nb6_rank_plan *nb6_rank_trees_planned(const struct nb6_rank_trees *t)
{
    return &t->plan;
}

static int begin_kept(struct nb6_rank_trees *t, const struct nb6_rank_trees_job *job, int is_sent,
                      struct nbc_error *err)
{
    int status = is_sent ? NBC_OK : nb6_rank_positions_check(job->n, job->name, job->x, err);
    if (!status && !is_sent) status = send_sources(t, job->n, job->mass, job->x, err);
    if (!status) status = provide_costs(t, job->targets.n_i, err);
    if (status) return status;
    status = gpunb_essential_renew(t->essential, &job->targets);
    return status ? nbc_fail(err, status, "%s", gpunb_last_error(t->force)) : NBC_OK;
}

/* Of all ranks, after the moments have come.   @param[in] status  of this rank so far */
static int renew(struct nb6_rank_trees *t, const struct nb6_rank_trees_job *job, int are_new, int status, int64_t *left,
                 struct nbc_error *err)
{
    t->essential = t->kept;
    return tell_tops(t, status ? status : begin_kept(t, job, are_new, err), left, err);
}

/* Targets of all ranks that have left what the lists know of them are counted on the way. */
static int try_lists(struct nb6_rank_trees *t, const struct nb6_rank_trees_job *job,
                     const struct nb6_rank_plan_job *anew, struct nb6_rank_lists *lists, struct nbc_error *err)
{
    const struct gpunb_softened_job *targets = &job->targets;
    int64_t left = gpunb_essential_count_left(t->kept, (int64_t)targets->n_i, targets->self, job->x, anew->acc);
    const int status = renew(t, job, 0, NBC_OK, &left, err);
    lists->are_new = !status && left * TARGETS_TO_ONE_LEFT > lists->targets;
    return status;
}

static int make_lists(struct nb6_rank_trees *t, const struct nb6_rank_trees_job *job,
                      const struct nb6_rank_plan_job *anew, struct nbc_error *err)
{
    int64_t left = 0;
    const int status =
        renew(t, job, 1, make_plan(t, anew, nb6_rank_positions_check(job->n, job->name, job->x, err), err), &left, err);
    if (!status) t->plan.block = anew->block;
    return status;
}

int nb6_rank_trees_sum_kept(struct nb6_rank_trees *t, const struct nb6_rank_trees_job *job,
                            const struct nb6_rank_plan_job *anew, struct nb6_rank_lists *lists, struct nbc_error *err)
{
    lists->are_new |= t->plan.block != lists->block;
    int status = lists->are_new ? NBC_OK : try_lists(t, job, anew, lists, err);
    if (!status && lists->are_new) status = make_lists(t, job, anew, err);
    if (status) return status;
    find_partners(t);
    status = exchange_trees(t, make_trees(t, 1, err), err);
    return status ? status : walk(t, job, lists->are_new, err);
}

/* ---- work */

uint64_t nb6_rank_trees_work(const struct nb6_rank_trees *t)
{
    return t->is_by_tree ? t->cost : 0;
}

void nb6_rank_trees_add_work(const struct nb6_rank_trees *t, int64_t n, const int32_t *target, uint64_t *work)
{
    if (t->is_by_tree) nb6_rank_costs_add(&t->costs, n, target, work);
}

void nb6_rank_trees_forget_order(struct nb6_rank_trees *t)
{
    t->order = NULL;
}

const int32_t *nb6_rank_trees_order(const struct nb6_rank_trees *t)
{
    return t->order;
}
