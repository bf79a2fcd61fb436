#include "nbody6/collisionless/ranks/ranks.h"

#include "gpunb/backend.h"
#include "gpunb/gpunb.h"
#include "gpunb/tree.h"
#include "nbody6/collisionless/collisionless.h"
#include "nbody6/collisionless/leapfrog.h"
#include "nbody6/collisionless/ranks/backend.h"
#include "nbody6/collisionless/ranks/exchange.h"
#include "nbody6/collisionless/ranks/share.h"
#include "nbody6/collisionless/ranks/trees.h"
#include "nbody6/collisionless/residence.h"
#include "nbody6/state/backend_name.h"
#include "nbody6/state/level.h"
#include "nbody6/world/spread.h"
#include "nbody6/world/world.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum what { LOOK, OPEN, TAKE, BEGIN, EVOLVE, HOME, ROWS, POTENTIAL, SURVEY, CLOSE, DISMISS };

/* From rank 0 to all. What belongs to one of them is set for it alone. */
struct order {
    enum what what;
    int status;                  /* of BEGIN, DISMISS */
    nb6_time ti_end;             /* of EVOLVE */
    enum nb6_body_column column; /* of TAKE, ROWS */
    int64_t first, count;
    struct nb6_rank_opening opening; /* of OPEN; its backend also of LOOK */
};

struct nb6_ranks {
    struct nb6_rank_share share; /* of this rank */
    int is_ahead;                /* rank 0: rows are older than the shares */
    uint64_t n_steps;            /* rank 0: of the system when the shares were opened */
    int (*wants_stop)(void);
    int stops;
};

/* ---- orders that all ranks follow */

static int have_devices(struct nb6_world *world, const char *backend)
{
    int64_t without = !nb6_rank_backend_has_device(world, backend);
    nb6_world_sum(world, &without, 1);
    return without == 0;
}

/* @param[out] done  steps of all ranks since the shares were opened */
static int evolve(struct nb6_ranks *r, nb6_time ti_end, int64_t *done, struct nbc_error *err)
{
    const int status = nb6_rank_share_evolve(&r->share, ti_end, err);
    int64_t sums[2] = {(int64_t)r->share.bodies->n_steps, r->wants_stop && r->wants_stop()};
    nb6_world_sum(r->share.world, sums, 2);
    *done = sums[0];
    r->stops = (int)sums[1];
    return status;
}

/* done: as above. */
static int bring_home(struct nb6_ranks *r, int64_t *done, struct nbc_error *err)
{
    const int status = nb6_rank_share_home(&r->share, err);
    *done = (int64_t)r->share.bodies->n_steps;
    nb6_world_sum(r->share.world, done, 1);
    return status;
}

int nb6_ranks_serve(struct nb6_world *world, int (*wants_stop)(void))
{
    struct nb6_ranks r = {.share = {.world = world}, .wants_stop = wants_stop};
    for (;;) {
        struct order o;
        struct nbc_error err = {0};
        struct nb6_rank_survey survey;
        int64_t done;
        nb6_world_broadcast(world, &o, sizeof o);
        switch (o.what) { /* failures are those that rank 0 reports */
        case LOOK:
            (void)have_devices(world, o.opening.backend);
            break;
        case OPEN:
            (void)nb6_rank_share_open(&r.share, &o.opening, NULL, &err);
            break;
        case TAKE:
            nb6_rank_share_take(&r.share, o.column, o.first, o.count, NULL);
            break;
        case BEGIN:
            (void)nb6_rank_share_begin(&r.share, o.status, NULL, &err);
            break;
        case EVOLVE:
            (void)evolve(&r, o.ti_end, &done, &err);
            break;
        case HOME:
            (void)bring_home(&r, &done, &err);
            break;
        case ROWS:
            nb6_rank_share_give(&r.share, o.column, o.first, o.count, NULL);
            break;
        case POTENTIAL:
            (void)nb6_rank_share_potential(&r.share, &err);
            break;
        case SURVEY:
            (void)nb6_rank_share_survey(&r.share, &survey, &err);
            break;
        case CLOSE:
            nb6_rank_share_close(&r.share);
            break;
        case DISMISS:
            nb6_rank_share_close(&r.share);
            return o.status;
        }
    }
}

/* ---- rank 0 */

static void order_all(struct nb6_world *world, const struct order *order)
{
    struct order sent = *order;
    nb6_world_broadcast(world, &sent, sizeof sent);
}

int nb6_ranks_backend(struct nb6_world *world, const char *asked, int64_t n, char text[NB6_RANK_BACKEND_TEXT],
                      struct nbc_error *err)
{
    const int ranks = nb6_world_size(world);
    int is_choice;
    int status = nb6_rank_backend_asked(asked, (n + ranks - 1) / ranks, text, &is_choice, err);
    if (status || !is_choice) return status;
    struct order o = {.what = LOOK};
    memcpy(o.opening.backend, text, sizeof o.opening.backend);
    order_all(world, &o);
    if (!have_devices(world, text)) status = nb6_rank_backend_asked(nb6_backend_name("cpu"), n, text, &is_choice, err);
    return status;
}

static void get_put_rows(void *context, enum nb6_body_column column, int64_t first, int64_t count, void *rows)
{
    const struct nb6_ranks *r = context;
    order_all(r->share.world, &(struct order){.what = ROWS, .column = column, .first = first, .count = count});
    nb6_rank_share_give(&r->share, column, first, count, rows);
}

static void put_rows(void *context, enum nb6_body_column column, int64_t first, int64_t count, const void *rows)
{
    const struct nb6_ranks *r = context;
    order_all(r->share.world, &(struct order){.what = TAKE, .column = column, .first = first, .count = count});
    nb6_rank_share_take(&r->share, column, first, count, rows);
}

static void describe(const struct nb6_collisionless *whole, const struct nb6_ranks_plan *plan,
                     struct nb6_rank_opening *o)
{
    *o = (struct nb6_rank_opening){.n = whole->n,
                                   .rules = nb6_leapfrog_rules(whole),
                                   .ti_now = whole->ti_now,
                                   .is_start = plan->is_start,
                                   .room = plan->room,
                                   .engine = plan->engine,
                                   .n_blocks = whole->n_blocks,
                                   .force = whole->options};
    if (gpunb_tree_is_asked(&whole->options)) gpunb_tree_settings(whole->force, &o->force);
    o->force.walk = whole->options.walk; /* by itself a walk leaves the choice between trees and direct sums */
    o->force.backend = o->force.costs = NULL;
    snprintf(o->backend, sizeof o->backend, "%s", plan->backend);
}

int nb6_ranks_open(struct nb6_ranks **ranks, struct nb6_world *world, struct nb6_collisionless *whole,
                   const struct nb6_body_source *from, const struct nb6_ranks_plan *plan, struct nbc_error *err)
{
    struct order o = {.what = OPEN};
    struct nb6_ranks *r = nbc_alloc(1, sizeof *r);
    if (!r) return nbc_fail(err, NBC_NO_MEMORY, "no memory for the ranks");
    r->share.world = world;
    r->n_steps = whole->n_steps;
    r->is_ahead = plan->is_start;
    describe(whole, plan, &o.opening);
    order_all(world, &o);
    int status = nb6_rank_share_open(&r->share, &o.opening, whole, err);
    if (!status) {
        status = from->give(from->context, &(struct nb6_body_sink){put_rows, get_put_rows, r}, err);
        order_all(world, &(struct order){.what = BEGIN, .status = status});
        status = nb6_rank_share_begin(&r->share, status, whole, err);
    }
    if (status)
        nbc_free(r);
    else
        *ranks = r;
    return status;
}

void nb6_ranks_free(struct nb6_ranks *r)
{
    if (!r) return;
    order_all(r->share.world, &(struct order){.what = CLOSE});
    nb6_rank_share_close(&r->share);
    nbc_free(r);
}

/* The system is as far as its shares.   @param[in] done  steps of all since they were opened */
static void take_times(const struct nb6_ranks *r, struct nb6_collisionless *whole, int64_t done)
{
    const struct nb6_collisionless *s = r->share.bodies;
    whole->ti_now = s->ti_now;
    whole->n_steps = r->n_steps + (uint64_t)done;
    whole->n_blocks = s->n_blocks;
    whole->rebuild = s->rebuild;
    whole->build_block = s->build_block;
}

int nb6_ranks_evolve(struct nb6_ranks *r, struct nb6_collisionless *whole, nb6_time ti_end, struct nbc_error *err)
{
    int64_t done;
    order_all(r->share.world, &(struct order){.what = EVOLVE, .ti_end = ti_end});
    const int status = evolve(r, ti_end, &done, err);
    r->is_ahead = 1;
    take_times(r, whole, done);
    return status;
}

int nb6_ranks_home(struct nb6_ranks *r, struct nb6_collisionless *whole, struct nbc_error *err)
{
    int64_t done;
    if (!r->is_ahead) return NBC_OK;
    order_all(r->share.world, &(struct order){.what = HOME});
    const int status = bring_home(r, &done, err);
    take_times(r, whole, done);
    if (!status) r->is_ahead = 0;
    return status;
}

const char *nb6_ranks_engine(const struct nb6_ranks *r)
{
    return r->share.residence ? r->share.residence->name : "host";
}

int nb6_ranks_potential(struct nb6_ranks *r, struct nbc_error *err)
{
    order_all(r->share.world, &(struct order){.what = POTENTIAL});
    return nb6_rank_share_potential(&r->share, err);
}

int nb6_ranks_survey(struct nb6_ranks *r, struct nb6_rank_survey *survey, struct nbc_error *err)
{
    order_all(r->share.world, &(struct order){.what = SURVEY});
    return nb6_rank_share_survey(&r->share, survey, err);
}

/* Levels become steps from the last one on, since a step has more bytes. */
static void make_steps(void *rows, int64_t count)
{
    for (int64_t k = count - 1; k >= 0; k--) {
        const double step = nb6_step_length(((const int8_t *)rows)[k]);
        memcpy((char *)rows + (size_t)k * sizeof step, &step, sizeof step);
    }
}

static void get_rows(void *context, enum nb6_body_column column, int64_t first, int64_t count, void *rows)
{
    get_put_rows(context, column == NB6_ROWS_STEP ? NB6_ROWS_LEVEL : column, first, count, rows);
    if (column == NB6_ROWS_STEP) make_steps(rows, count);
}

struct nb6_body_rows nb6_ranks_rows(struct nb6_ranks *r)
{
    return (struct nb6_body_rows){get_rows, r};
}

int nb6_ranks_wanting_stop(const struct nb6_ranks *r)
{
    return r->stops;
}

int nb6_ranks_get_counts(const struct nb6_ranks *r, struct nb6_spread_counts *counts)
{
    *counts = (struct nb6_spread_counts){0};
    if (r->share.bodies->exchange) nb6_exchange_get_counts(r->share.bodies->exchange, counts);
    return nb6_world_size(r->share.world);
}

int nb6_ranks_get_tree_counts(const struct nb6_ranks *r, struct nb6_rank_trees_counts *counts)
{
    *counts = (struct nb6_rank_trees_counts){0};
    const struct nb6_rank_trees *trees = r->share.bodies->trees;
    if (trees) nb6_rank_trees_get_counts(trees, counts);
    counts->load = r->share.domains.load;
    return trees != NULL;
}

const struct nb6_sections *nb6_ranks_sections(const struct nb6_ranks *r)
{
    return r->share.domains.sections;
}

void nb6_ranks_dismiss(struct nb6_world *world, int status)
{
    if (nb6_world_size(world) > 1) order_all(world, &(struct order){.what = DISMISS, .status = status});
}
