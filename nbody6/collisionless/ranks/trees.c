#include "nbody6/collisionless/ranks/trees.h"

#include "gpunb/backend.h"
#include "gpunb/tree/essential.h"
#include "nbody6/collisionless/ranks/sections.h"
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
    struct gpunb_essential *essential;
    int ranks, own;
    struct nb6_spread *tops, *reaches; /* to all */
    char *top;                         /* [ranks] of all */
    struct gpunb_essential_reach *reach;
    struct partner *partner; /* [ranks] */
    uint32_t *cost;          /* of the last force, by target */
    size_t cost_room;
    uint64_t messages, bytes;
};

static int no_memory(const struct nb6_rank_trees *t, struct nbc_error *err)
{
    return nbc_fail(err, NBC_NO_MEMORY, "rank %d has no memory for the trees of %d ranks", t->own, t->ranks);
}

/* ---- opening and closing */

static int allocate(struct nb6_rank_trees *t, struct nbc_error *err)
{
    const size_t ranks = (size_t)t->ranks, top_bytes = gpunb_essential_top_bytes(t->essential);
    const size_t room = ranks * (top_bytes + sizeof *t->reach);
    t->top = nbc_alloc(ranks, top_bytes);
    t->reach = nbc_alloc(ranks, sizeof *t->reach);
    t->partner = nbc_alloc(ranks, sizeof *t->partner);
    if (!t->top || !t->reach || !t->partner) return no_memory(t, err);
    const int status = nb6_spread_open(&t->tops, t->world, t->ranks, top_bytes, room, NULL, err);
    return status ? status : nb6_spread_open(&t->reaches, t->world, t->ranks, sizeof *t->reach, room, NULL, err);
}

int nb6_rank_trees_open(struct nb6_rank_trees **trees, struct nb6_world *world, gpunb_t *force, struct nbc_error *err)
{
    struct nb6_rank_trees *t = nbc_alloc(1, sizeof *t);
    if (!t) return nbc_fail(err, NBC_NO_MEMORY, "no memory for the trees of ranks");
    t->world = world;
    t->force = force;
    t->ranks = nb6_world_size(world);
    t->own = nb6_world_rank(world);
    int status = gpunb_essential_open(&t->essential, force, t->ranks, t->own);
    if (status)
        nbc_fail(err, status, "%s", gpunb_last_error(force));
    else
        status = allocate(t, err);
    if (status)
        nb6_rank_trees_close(t);
    else
        *trees = t;
    return status;
}

void nb6_rank_trees_close(struct nb6_rank_trees *t)
{
    if (!t) return;
    for (int p = 0; p < t->ranks && t->partner; p++) nbc_free(t->partner[p].come);
    nb6_spread_close(t->tops);
    nb6_spread_close(t->reaches);
    gpunb_essential_free(t->essential);
    nbc_free(t->top);
    nbc_free(t->reach);
    nbc_free(t->partner);
    nbc_free(t->cost);
    nbc_free(t);
}

void nb6_rank_trees_get_counts(const struct nb6_rank_trees *t, struct nb6_rank_trees_counts *counts)
{
    struct gpunb_essential_counts c;
    gpunb_essential_get_counts(t->essential, &c);
    *counts = (struct nb6_rank_trees_counts){.forces = c.forces,
                                             .close = c.close,
                                             .cells = c.cells,
                                             .whole = c.whole,
                                             .bodies = c.bodies,
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

static void tell_all(struct nb6_rank_trees *t)
{
    struct collection tops = {t->top, gpunb_essential_top_bytes(t->essential), t->ranks},
                      reaches = {(char *)t->reach, sizeof *t->reach, t->ranks};
    gpunb_essential_top(t->essential, nb6_spread_own(t->tops));
    nb6_spread_run(t->tops, collect, &tops);
    gpunb_essential_take_tops(t->essential, t->top);
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

static int make_trees(struct nb6_rank_trees *t, struct nbc_error *err)
{
    int status = NBC_OK;
    for (int r = 0; r < t->ranks && !status; r++) {
        struct partner *p = &t->partner[r];
        size_t bytes = 0;
        if (!gives(t, r)) continue;
        status = gpunb_essential_export(t->essential, r, p->come, &p->data, &bytes);
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

static int begin(struct nb6_rank_trees *t, const struct nb6_rank_trees_job *job,
                 const struct gpunb_softened_job *targets, struct nbc_error *err)
{
    const size_t n = (size_t)job->n;
    int status = check_positions(job, err);
    if (status) return status;
    status = gpunb_reserve(t->force, n > 0 ? n : 1);
    if (!status) status = gpunb_send_positions(t->force, n, job->mass, job->x);
    if (!status) status = gpunb_essential_begin(t->essential, targets);
    if (!status && t->cost_room < targets->n_i) {
        nbc_free(t->cost);
        t->cost_room = 0;
        t->cost = nbc_alloc_unset(targets->n_i, sizeof *t->cost);
        if (!t->cost) return no_memory(t, err);
        t->cost_room = targets->n_i;
    }
    return status ? nbc_fail(err, status, "%s", gpunb_last_error(t->force)) : NBC_OK;
}

static int sum_once(struct nb6_rank_trees *t, const struct nb6_rank_trees_job *job,
                    const struct gpunb_softened_job *targets, struct nbc_error *err)
{
    int status = nb6_world_agree(t->world, begin(t, job, targets, err), err);
    if (status) return status;
    tell_all(t);
    status = exchange_boxes(t, err);
    if (!status) status = make_trees(t, err);
    if (!status) status = exchange_trees(t, err);
    if (status) return status;
    for (int r = 0; r < t->ranks && !status; r++)
        if (gets(t, r)) status = gpunb_essential_take(t->essential, r, t->partner[r].come);
    if (!status) status = gpunb_essential_force(t->essential, t->cost);
    return status ? nbc_fail(err, status, "%s", gpunb_last_error(t->force)) : NBC_OK;
}

/* With an aim, and without last accelerations, those by angle come first. */
int nb6_rank_trees_sum(struct nb6_rank_trees *t, const struct nb6_rank_trees_job *job, struct nbc_error *err)
{
    struct gpunb_softened_job targets = job->targets;
    if (!targets.acc_last && gpunb_essential_has_aim(t->essential)) {
        targets.pot = NULL;
        const int status = nb6_world_agree(t->world, sum_once(t, job, &targets, err), err);
        if (status) return status;
        targets.pot = job->targets.pot;
        targets.acc_last = (const double(*)[3])targets.acc;
    }
    return sum_once(t, job, &targets, err);
}

int nb6_rank_trees_divide(const struct nb6_rank_trees *t, int64_t n, const double (*x)[3],
                          struct nb6_sections *sections, struct nbc_error *err)
{
    return nb6_sections_find(sections, t->world, n, x, gpunb_essential_order(t->essential), t->cost, err);
}
