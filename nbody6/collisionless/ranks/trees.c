#include "nbody6/collisionless/ranks/trees.h"

#include "gpunb/backend.h"
#include "gpunb/tree/essential.h"
#include "gpunb/tree_kept.h"
#include "nbody6/collisionless/kept_tree.h"
#include "nbody6/collisionless/ranks/few.h"
#include "nbody6/world/spread.h"
#include "nbody6/world/world.h"

#include <math.h>
#include <string.h>

/* A message between two ranks: what this one makes for the other, and what comes from there. */
struct partner {
    const void *data;
    int64_t bytes, bytes_come;
    void *come;
    size_t room;
    struct nb6_message out, in;
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
    struct partner *partner; /* [ranks] */
    uint32_t *cost;          /* of the last force, by target */
    size_t cost_room;
    const int32_t *order; /* along the curve of the last tree; NULL: bodies have come or gone since */
    int is_by_tree;       /* the last force */
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

static int allocate(struct nb6_rank_trees *t, struct nbc_error *err)
{
    const size_t ranks = (size_t)t->ranks, top_bytes = gpunb_essential_top_bytes(t->fresh);
    const size_t room = ranks * (top_bytes + sizeof *t->reach);
    t->top = nbc_alloc(ranks, top_bytes);
    t->reach = nbc_alloc(ranks, sizeof *t->reach);
    t->partner = nbc_alloc(ranks, sizeof *t->partner);
    if (!t->top || !t->reach || !t->partner) return no_memory(t, err);
    const int status = nb6_spread_open(&t->tops, t->world, t->ranks, top_bytes, room, NULL, err);
    return status ? status : nb6_spread_open(&t->reaches, t->world, t->ranks, sizeof *t->reach, room, NULL, err);
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
    for (int p = 0; p < t->ranks && t->partner; p++) nbc_free(t->partner[p].come);
    nb6_spread_close(t->tops);
    nb6_spread_close(t->reaches);
    gpunb_essential_free(t->fresh);
    gpunb_essential_free(t->kept);
    nb6_rank_few_close(t->few);
    drop_plan(t);
    nbc_free(t->top);
    nbc_free(t->reach);
    nbc_free(t->partner);
    nbc_free(t->cost);
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

/* Items of one size, which go into an array by owner. */
struct collection {
    char *all;
    size_t size;
    int ranks;
};

static void collect(void *context, const struct nb6_spread_set *set, const void *items)
{
    const struct collection *c = context;
    for (int k = 0; k < set->owners; k++)
        memcpy(c->all + (size_t)((set->first + k) % c->ranks) * c->size, (const char *)items + (size_t)k * c->size,
               c->size);
}

static void tell_tops(struct nb6_rank_trees *t)
{
    struct collection tops = {t->top, gpunb_essential_top_bytes(t->essential), t->ranks};
    gpunb_essential_top(t->essential, nb6_spread_own(t->tops));
    nb6_spread_run(t->tops, collect, &tops);
    gpunb_essential_take_tops(t->essential, t->top);
}

static void tell_reaches(struct nb6_rank_trees *t)
{
    struct collection reaches = {(char *)t->reach, sizeof *t->reach, t->ranks};
    gpunb_essential_reach(t->essential, nb6_spread_own(t->reaches));
    nb6_spread_run(t->reaches, collect, &reaches);
    gpunb_essential_take_reaches(t->essential, t->reach);
}

/* ---- to those that are near */

static int gives(const struct nb6_rank_trees *t, int rank)
{
    return gpunb_essential_is_sent(t->essential, t->own, rank);
}

static int gets(const struct nb6_rank_trees *t, int rank)
{
    return gpunb_essential_is_sent(t->essential, rank, t->own);
}

/* @return NBC_OK; NBC_NO_MEMORY: of this rank */
static int provide(struct nb6_rank_trees *t, struct partner *p, int64_t bytes, struct nbc_error *err)
{
    p->bytes_come = bytes;
    if ((size_t)bytes <= p->room) return NBC_OK;
    nbc_free(p->come);
    p->room = 0;
    p->come = nbc_alloc_unset((size_t)bytes, 1);
    if (!p->come) return no_memory(t, err);
    p->room = (size_t)bytes;
    return NBC_OK;
}

/* The boxes of targets go to those that send trees, and come from those that get them. */
static int exchange_boxes(struct nb6_rank_trees *t, struct nbc_error *err)
{
    const struct gpunb_essential_box *own = gpunb_essential_boxes(t->essential);
    const size_t size = sizeof *own;
    int status = NBC_OK;
    for (int r = 0; r < t->ranks && !status; r++)
        if (gives(t, r)) status = provide(t, &t->partner[r], t->reach[r].boxes * (int64_t)size, err);
    status = nb6_world_agree(t->world, status, err);
    if (status) return status;
    const int tag = nb6_world_tag(t->world);
    for (int r = 0; r < t->ranks; r++) {
        struct partner *p = &t->partner[r];
        if (gives(t, r)) nb6_world_receive(t->world, &p->in, r, tag, p->come, (size_t)p->bytes_come);
        if (gets(t, r)) nb6_world_send(t->world, &p->out, r, tag, own, (size_t)t->reach[t->own].boxes * size);
    }
    for (int r = 0; r < t->ranks; r++) {
        if (gives(t, r)) nb6_message_wait(t->world, &t->partner[r].in);
        if (gets(t, r)) nb6_message_wait(t->world, &t->partner[r].out);
    }
    return NBC_OK;
}

/* By lists, or by boxes that have come. */
static int make_trees(struct nb6_rank_trees *t, int by_lists, struct nbc_error *err)
{
    int status = NBC_OK;
    for (int r = 0; r < t->ranks && !status; r++) {
        struct partner *p = &t->partner[r];
        size_t bytes = 0;
        if (!gives(t, r)) continue;
        status = by_lists ? gpunb_essential_export_kept(t->essential, r, &p->data, &bytes)
                          : gpunb_essential_export(t->essential, r, p->come, &p->data, &bytes);
        p->bytes = (int64_t)bytes;
        t->messages++;
        t->bytes += bytes;
    }
    if (status) nbc_fail(err, status, "%s", gpunb_last_error(t->force));
    return nb6_world_agree(t->world, status, err);
}

static void exchange_sizes(struct nb6_rank_trees *t)
{
    const int tag = nb6_world_tag(t->world);
    for (int r = 0; r < t->ranks; r++) {
        struct partner *p = &t->partner[r];
        if (gets(t, r)) nb6_world_receive(t->world, &p->in, r, tag, &p->bytes_come, sizeof p->bytes_come);
        if (gives(t, r)) nb6_world_send(t->world, &p->out, r, tag, &p->bytes, sizeof p->bytes);
    }
    for (int r = 0; r < t->ranks; r++) {
        if (gets(t, r)) nb6_message_wait(t->world, &t->partner[r].in);
        if (gives(t, r)) nb6_message_wait(t->world, &t->partner[r].out);
    }
}

static int exchange_trees(struct nb6_rank_trees *t, struct nbc_error *err)
{
    int status = NBC_OK;
    exchange_sizes(t);
    for (int r = 0; r < t->ranks && !status; r++)
        if (gets(t, r)) status = provide(t, &t->partner[r], t->partner[r].bytes_come, err);
    status = nb6_world_agree(t->world, status, err);
    if (status) return status;
    const int tag = nb6_world_tag(t->world);
    for (int r = 0; r < t->ranks; r++) {
        struct partner *p = &t->partner[r];
        if (gets(t, r)) nb6_world_receive(t->world, &p->in, r, tag, p->come, (size_t)p->bytes_come);
        if (gives(t, r)) nb6_world_send(t->world, &p->out, r, tag, p->data, (size_t)p->bytes);
    }
    for (int r = 0; r < t->ranks; r++) {
        if (gets(t, r)) nb6_message_wait(t->world, &t->partner[r].in);
        if (gives(t, r)) nb6_message_wait(t->world, &t->partner[r].out);
    }
    return NBC_OK;
}

/* ---- forces */

/* Of so many targets one may have left what a plan knows of it: 99 of 100 errors are to be within the aim. */
enum { TARGETS_TO_ONE_LEFT = 256 };

static int check_positions(const struct nb6_rank_trees_job *job, struct nbc_error *err)
{
    for (int64_t i = 0; i < job->n; i++)
        for (int k = 0; k < 3; k++)
            if (!(fabs(job->x[i][k]) <= GPUNB_LIMIT))
                return nbc_fail(err, isfinite(job->x[i][k]) ? NBC_BAD_ARGUMENT : NBC_NON_FINITE,
                                "body %lld is at %g, %g, %g: coordinates must be from %g to %g",
                                (long long)job->name[i], job->x[i][0], job->x[i][1], job->x[i][2], -GPUNB_LIMIT,
                                GPUNB_LIMIT);
    return NBC_OK;
}

static int provide_costs(struct nb6_rank_trees *t, size_t n, struct nbc_error *err)
{
    if (n <= t->cost_room) return NBC_OK;
    nbc_free(t->cost);
    t->cost_room = 0;
    t->cost = nbc_alloc_unset(n, sizeof *t->cost);
    if (!t->cost) return no_memory(t, err);
    t->cost_room = n;
    return NBC_OK;
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
    int status = check_positions(job, err);
    if (!status) status = send_sources(t, job->n, job->mass, job->x, err);
    if (!status) status = provide_costs(t, targets->n_i, err);
    if (status) return status;
    status = gpunb_essential_begin(t->essential, targets);
    return status ? nbc_fail(err, status, "%s", gpunb_last_error(t->force)) : NBC_OK;
}

/* Nominal costs, in pairs: of the lists, and of a tree that is new.   @param[in] builds  1; 0: it is renewed */
static void spend(struct nb6_rank_trees *t, const struct nb6_rank_trees_job *job, size_t n_i, int builds)
{
    const size_t n = (size_t)job->n;
    double pairs = gpunb_tree_kept_pairs(t->force, 0, n, builds);
    for (size_t i = 0; i < n_i; i++) pairs += t->cost[i];
    nb6_world_spend(t->world, 1, pairs);
}

/* By the trees that have come. */
static int walk(struct nb6_rank_trees *t, const struct nb6_rank_trees_job *job, int builds, struct nbc_error *err)
{
    int status = NBC_OK;
    for (int r = 0; r < t->ranks && !status; r++)
        if (gets(t, r)) status = gpunb_essential_take(t->essential, r, t->partner[r].come);
    if (!status) status = gpunb_essential_force(t->essential, t->cost);
    if (status) return nbc_fail(err, status, "%s", gpunb_last_error(t->force));
    t->is_by_tree = 1;
    t->order = gpunb_essential_order(t->essential);
    spend(t, job, job->targets.n_i, builds);
    return NBC_OK;
}

static int sum_once(struct nb6_rank_trees *t, const struct nb6_rank_trees_job *job,
                    const struct gpunb_softened_job *targets, struct nbc_error *err)
{
    int status = nb6_world_agree(t->world, begin(t, job, targets, err), err);
    if (status) return status;
    tell_tops(t);
    tell_reaches(t);
    status = exchange_boxes(t, err);
    if (!status) status = make_trees(t, 0, err);
    if (!status) status = exchange_trees(t, err);
    return status ? status : walk(t, job, 1, err);
}

/* With an aim, and without last accelerations, those by angle come first. */
int nb6_rank_trees_sum(struct nb6_rank_trees *t, const struct nb6_rank_trees_job *job, struct nbc_error *err)
{
    struct gpunb_softened_job targets = job->targets;
    t->essential = t->fresh;
    if (!targets.acc_last && gpunb_essential_has_aim(t->essential)) {
        targets.pot = NULL;
        const int status = nb6_world_agree(t->world, sum_once(t, job, &targets, err), err);
        if (status) return status;
        targets.pot = job->targets.pot;
        targets.acc_last = (const double(*)[3])targets.acc;
    }
    return sum_once(t, job, &targets, err);
}

int nb6_rank_trees_sum_few(struct nb6_rank_trees *t, const struct nb6_rank_trees_job *job, struct nbc_error *err)
{
    const int status = nb6_world_agree(t->world, check_positions(job, err), err);
    t->is_by_tree = 0;
    t->order = NULL;
    return status ? status : nb6_rank_few_sum(t->few, job, err);
}

/* ---- lists that serve several forces */

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

static void take_plan(const struct nb6_rank_places *places, const struct nb6_rank_plan_job *job)
{
    for (int64_t i = 0; i < job->n; i++) {
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
    take_plan(&t->plan.places, job);
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
        if (gives(t, r)) status = gpunb_essential_keep(t->essential, r, t->partner[r].come);
    if (status) nbc_fail(err, status, "%s", gpunb_last_error(t->force));
    return nb6_world_agree(t->world, status, err);
}

int nb6_rank_trees_plan(struct nb6_rank_trees *t, const struct nb6_rank_plan_job *job, struct nbc_error *err)
{
    t->essential = t->kept;
    t->plan.block = NB6_NO_BUILD;
    int status = nb6_world_agree(t->world, begin_plan(t, job, err), err);
    if (status) return status;
    tell_tops(t);
    tell_reaches(t);
    status = exchange_boxes(t, err);
    if (!status) status = keep_lists(t, err);
    if (!status) t->plan.block = job->block;
    return status;
}

const struct nb6_rank_plan *nb6_rank_trees_planned(const struct nb6_rank_trees *t)
{
    return &t->plan;
}

int nb6_rank_trees_hold(struct nb6_rank_trees *t, uint64_t block, int64_t n, const int32_t *target,
                        const double (*x)[3], const double (*acc)[3])
{
    int64_t count[2] = {n, 0};
    if (t->plan.block != block) return 0;
    count[1] = gpunb_essential_count_left(t->kept, n, target, x, acc);
    nb6_world_sum(t->world, count, 2);
    return count[1] * TARGETS_TO_ONE_LEFT <= count[0];
}

static int begin_kept(struct nb6_rank_trees *t, const struct nb6_rank_trees_job *job, int is_sent,
                      struct nbc_error *err)
{
    int status = check_positions(job, err);
    if (!status && !is_sent) status = send_sources(t, job->n, job->mass, job->x, err);
    if (!status) status = provide_costs(t, job->targets.n_i, err);
    if (status) return status;
    status = gpunb_essential_renew(t->essential, &job->targets);
    return status ? nbc_fail(err, status, "%s", gpunb_last_error(t->force)) : NBC_OK;
}

int nb6_rank_trees_sum_kept(struct nb6_rank_trees *t, const struct nb6_rank_trees_job *job,
                            const struct nb6_rank_plan_job *anew, struct nbc_error *err)
{
    int status = anew ? nb6_world_agree(t->world, check_positions(job, err), err) : NBC_OK;
    if (!status && anew) status = nb6_rank_trees_plan(t, anew, err);
    if (status) return status;
    t->essential = t->kept;
    status = nb6_world_agree(t->world, begin_kept(t, job, anew != NULL, err), err);
    if (status) return status;
    tell_tops(t);
    status = make_trees(t, 1, err);
    if (!status) status = exchange_trees(t, err);
    return status ? status : walk(t, job, anew != NULL, err);
}

/* ---- work */

void nb6_rank_trees_add_work(const struct nb6_rank_trees *t, int64_t n, const int32_t *target, uint64_t *work)
{
    for (int64_t m = 0; m < n && t->is_by_tree; m++) work[target[m]] += t->cost[m];
}

void nb6_rank_trees_forget_order(struct nb6_rank_trees *t)
{
    t->order = NULL;
}

const int32_t *nb6_rank_trees_order(const struct nb6_rank_trees *t)
{
    return t->order;
}
