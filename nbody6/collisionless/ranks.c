#include "nbody6/collisionless/ranks.h"

#include "gpunb/backend.h"
#include "gpunb/gpunb.h"
#include "gpunb/tree.h"
#include "gpunb/tree/costs.h"
#include "nbody6/collisionless/collisionless.h"
#include "nbody6/collisionless/exchange.h"
#include "nbody6/collisionless/leapfrog.h"
#include "nbody6/collisionless/rank_bodies.h"
#include "nbody6/collisionless/rank_trees.h"
#include "nbody6/collisionless/sections.h"
#include "nbody6/collisionless/system_memory.h"
#include "nbody6/state/level.h"
#include "nbody6/world/spread.h"
#include "nbody6/world/world.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum what { OPEN, EVOLVE, HOME, POTENTIAL, CLOSE, DISMISS };

enum { NAME_BYTES = 64 };

/* From rank 0 to all. What belongs to one of them is set for it alone. */
struct order {
    enum what what;
    int status;      /* of DISMISS */
    nb6_time ti_end; /* of EVOLVE */
    int64_t n;       /* from here on of OPEN */
    struct nb6_leapfrog_rules rules;
    nb6_time ti_now;
    uint64_t n_blocks;
    int is_start;
    size_t room;
    struct gpunb_options force; /* without its pointers */
    char backend[NAME_BYTES];
    int has_sections; /* rank 0 has domains that the system goes on with */
};

struct nb6_ranks {
    struct nb6_world *world;
    struct nb6_collisionless *share; /* of this rank; NULL: none is open */
    int64_t n;                       /* of all ranks */
    int is_ahead;                    /* rank 0: its arrays are older than the shares */
    struct nb6_sections *sections;   /* domains, of forces by trees; NULL: shares stay as they are */
    int is_to_divide, is_to_settle;  /* domains by the last work, and bodies in them, before the next block */
    int (*wants_stop)(void);
    int stops;
};

static int is_first(const struct nb6_ranks *r)
{
    return nb6_world_rank(r->world) == 0;
}

/* ---- domains, at times when all bodies end a step */

enum { ENDS_OF_A_DIVISION = 8, FIRST_DIVISIONS = 2 };

/* Domains are cut anew at every eighth end of a longest step, and at the first two: those of the start do not know the
 * work. The time alone decides, so that runs that are resumed do as others. */
static int division_is_due(const struct nb6_collisionless *s)
{
    const int64_t ends = s->ti_now / nb6_step_ticks(s->max_level);
    return ends <= FIRST_DIVISIONS || ends % ENDS_OF_A_DIVISION == 0;
}

/* What is left to do after a block, or after a failure of that. */
static int settle(struct nb6_ranks *r, struct nbc_error *err)
{
    struct nb6_collisionless *s = r->share;
    int status = NBC_OK;
    if (r->is_to_divide) status = nb6_rank_trees_divide(s->trees, s->n, (const double(*)[3])s->x0, r->sections, err);
    if (!status) r->is_to_divide = 0;
    if (!status && r->is_to_settle) status = nb6_rank_bodies_settle(s, r->world, r->sections, err);
    if (!status) r->is_to_settle = 0;
    return status;
}

/* @param[in] then  those of rank 0, which all take; NULL: new ones, for as much work for each body */
static int first_sections(struct nb6_ranks *r, const struct order *o, const struct nb6_sections *then,
                          struct nbc_error *err)
{
    struct nb6_collisionless *s = r->share;
    int status = NBC_OK;
    if (o->has_sections) {
        if (then) nb6_sections_copy(r->sections, then);
        nb6_sections_broadcast(r->sections, r->world);
    } else
        status = nb6_sections_find(r->sections, r->world, s->n, (const double(*)[3])s->x0, NULL, NULL, err);
    r->is_to_settle = 1;
    return status ? status : settle(r, err);
}

/* ---- shares */

/* The force of rank 0 is that of the whole system. */
static void close_share(struct nb6_ranks *r)
{
    struct nb6_collisionless *s = r->share;
    if (!s) return;
    nb6_exchange_close(s->exchange);
    nb6_rank_trees_close(s->trees);
    nb6_sections_free(r->sections);
    s->exchange = NULL;
    s->trees = NULL;
    r->sections = NULL;
    if (!is_first(r)) gpunb_free(s->force);
    nb6_collisionless_release(s);
    nbc_free(s);
    r->share = NULL;
}

/* What makes the forces of a share that has its arrays. */
static int open_forces(struct nb6_ranks *r, const struct order *o, struct nbc_error *err)
{
    struct nb6_collisionless *s = r->share;
    struct gpunb_options options = o->force;
    options.backend = o->backend;
    options.costs = s->costs[0] ? s->costs : NULL;
    const int status = s->force ? NBC_OK : gpunb_create(&s->force, 1, &options, err);
    if (status) return status;
    if (!gpunb_tree_is_asked(&o->force)) return nb6_exchange_open(&s->exchange, r->world, o->n, o->room, s->force, err);
    for (int64_t i = 0; i < s->n; i++) s->name[i] = s->first + i + 1;
    r->sections = nb6_sections_create(nb6_world_size(r->world));
    if (!r->sections) return nbc_fail(err, NBC_NO_MEMORY, "no memory for domains");
    return nb6_rank_trees_open(&s->trees, r->world, s->force, err);
}

static int make_share(struct nb6_ranks *r, const struct order *o, const char *costs, gpunb_t *force,
                      struct nbc_error *err)
{
    struct nb6_collisionless *s = r->share = nbc_alloc(1, sizeof *s);
    int64_t end;
    if (!s) return nbc_fail(err, NBC_NO_MEMORY, "no memory for a share of the bodies");
    nb6_world_share(r->world, o->n, nb6_world_rank(r->world), &s->first, &end);
    s->n = s->room = end - s->first;
    s->world = r->world;
    s->options = o->force;
    memcpy(s->costs, costs, sizeof s->costs);
    s->softening = o->rules.softening;
    s->eta = o->rules.eta;
    s->max_level = o->rules.max_level;
    s->block = o->rules.block;
    s->reuse = 1;
    s->ti_now = o->ti_now;
    s->force = force;
    s->n_blocks = o->n_blocks;
    const int status = nb6_collisionless_allocate(s, 1, err);
    return status ? status : open_forces(r, o, err);
}

static void scatter(struct nb6_ranks *r, size_t size, const void *all, void *mine)
{
    nb6_world_scatter(r->world, r->n, size, all, mine);
}

static void gather(struct nb6_ranks *r, size_t size, const void *mine, void *all)
{
    nb6_world_gather(r->world, r->n, size, mine, all);
}

/* whole: NULL on all ranks but the first. */
static void take_bodies(struct nb6_ranks *r, const struct nb6_collisionless *whole, int is_start)
{
    static const struct nb6_collisionless none;
    const struct nb6_collisionless *all = whole ? whole : &none;
    struct nb6_collisionless *s = r->share;
    scatter(r, sizeof *s->mass, all->mass, s->mass);
    scatter(r, sizeof *s->x0, all->x0, s->x0);
    scatter(r, sizeof *s->v, all->v, s->v);
    if (is_start) return;
    scatter(r, sizeof *s->acc, all->acc, s->acc);
    scatter(r, sizeof *s->level, all->level, s->level);
}

static int open_share(struct nb6_ranks *r, const struct order *o, const struct nb6_collisionless *whole,
                      struct nbc_error *err)
{
    char costs[GPUNB_TREE_COSTS_TEXT] = "";
    r->n = o->n;
    if (gpunb_tree_is_asked(&o->force)) {
        if (whole) memcpy(costs, whole->costs, sizeof costs);
        nb6_world_broadcast(r->world, costs, sizeof costs);
    }
    int status = make_share(r, o, costs, whole ? whole->force : NULL, err);
    status = nb6_world_agree(r->world, status, err);
    if (!status) take_bodies(r, whole, o->is_start);
    if (!status && r->sections) status = first_sections(r, o, whole ? whole->sections : NULL, err);
    if (!status && o->is_start) status = nb6_leapfrog_start(r->share, err);
    if (status) close_share(r);
    return status;
}

/* ---- orders that all ranks follow */

/* Blocks fail on all ranks or on none.   @param[out] done  steps of all ranks, and blocks */
static int evolve(struct nb6_ranks *r, nb6_time ti_end, int64_t done[2], struct nbc_error *err)
{
    struct nb6_collisionless *s = r->share;
    const uint64_t before = s->n_blocks;
    int status = NBC_OK;
    s->n_steps = 0;
    while (s->ti_now < ti_end && !status) {
        status = settle(r, err);
        if (!status) status = nb6_leapfrog_block(s, err);
        if (status || !r->sections || !nb6_step_ends(s->max_level, s->ti_now)) continue;
        r->is_to_divide = division_is_due(s);
        r->is_to_settle = 1;
    }
    if (!status) status = settle(r, err);
    int64_t sums[2] = {(int64_t)s->n_steps, r->wants_stop && r->wants_stop()};
    nb6_world_sum(r->world, sums, 2);
    done[0] = sums[0];
    done[1] = (int64_t)(s->n_blocks - before);
    r->stops = (int)sums[1];
    return status;
}

static void gather_state(struct nb6_ranks *r, const struct nb6_collisionless *s, const struct nb6_collisionless *whole)
{
    static const struct nb6_collisionless none;
    const struct nb6_collisionless *all = whole ? whole : &none;
    gather(r, sizeof *s->x0, s->x0, all->x0);
    gather(r, sizeof *s->v, s->v, all->v);
    gather(r, sizeof *s->acc, s->acc, all->acc);
    gather(r, sizeof *s->level, s->level, all->level);
}

/* Bodies of this rank by their numbers, whatever its domain has. */
static int64_t own_share(const struct nb6_ranks *r)
{
    int64_t first, end;
    nb6_world_share(r->world, r->n, nb6_world_rank(r->world), &first, &end);
    return end - first;
}

static int bring_home(struct nb6_ranks *r, const struct nb6_collisionless *whole, struct nbc_error *err)
{
    struct nb6_collisionless home = {.n = own_share(r)};
    int status = NBC_OK;
    if (!r->sections) {
        gather_state(r, r->share, whole);
        return NBC_OK;
    }
    if (!nb6_collisionless_allocate_state(&home))
        status = nbc_fail(err, NBC_NO_MEMORY, "no memory for a share of the bodies");
    status = nb6_world_agree(r->world, status, err);
    if (!status) status = nb6_rank_bodies_home(r->share, r->world, r->n, &home, err);
    if (!status) gather_state(r, &home, whole);
    nb6_collisionless_release(&home);
    return status;
}

/* The potential of the own bodies.   @return as nb6_leapfrog_block, of this rank alone */
static int sum_potential(struct nb6_collisionless *s, double *pot, struct nbc_error *err)
{
    const double(*x)[3] = (const double(*)[3])s->x0;
    const struct nb6_exchange_job direct = {.mass = s->mass,
                                            .x = x,
                                            .n_due = s->n,
                                            .due = s->due,
                                            .x_due = x,
                                            .softening = s->softening,
                                            .acc = s->acc_due,
                                            .pot = pot};
    const struct nb6_rank_trees_job by_trees = {.n = s->n,
                                                .name = s->name,
                                                .mass = s->mass,
                                                .x = x,
                                                .targets = {.n_i = (size_t)s->n,
                                                            .x = x,
                                                            .self = s->due,
                                                            .softening = s->softening,
                                                            .acc_last = (const double(*)[3])s->acc,
                                                            .acc = s->acc_due,
                                                            .pot = pot,
                                                            .build = s->n_blocks}};
    return s->trees ? nb6_rank_trees_sum(s->trees, &by_trees, err) : nb6_exchange_sum(s->exchange, &direct, err);
}

static int make_potential(struct nb6_ranks *r, double *all, struct nbc_error *err)
{
    struct nb6_collisionless *s = r->share;
    double *pot = nbc_alloc_unset((size_t)s->n, sizeof *pot), *home = pot;
    if (r->sections) home = nbc_alloc_unset((size_t)own_share(r), sizeof *home);
    int status =
        nb6_world_agree(r->world, pot && home ? NBC_OK : nbc_fail(err, NBC_NO_MEMORY, "no memory for potentials"), err);
    for (int64_t i = 0; i < s->n; i++) s->due[i] = (int32_t)i;
    if (!status) status = nb6_world_agree(r->world, sum_potential(s, pot, err), err);
    if (!status && r->sections) status = nb6_rank_bodies_home_numbers(s, r->world, r->n, pot, home, err);
    if (!status) gather(r, sizeof *home, home, all);
    if (r->sections) nbc_free(home);
    nbc_free(pot);
    return status;
}

int nb6_ranks_serve(struct nb6_world *world, int (*wants_stop)(void))
{
    struct nb6_ranks r = {.world = world, .wants_stop = wants_stop};
    for (;;) {
        struct order o;
        struct nbc_error err = {0};
        int64_t done[2];
        nb6_world_broadcast(world, &o, sizeof o);
        switch (o.what) { /* failures are those that rank 0 reports */
        case OPEN:
            (void)open_share(&r, &o, NULL, &err);
            break;
        case EVOLVE:
            (void)evolve(&r, o.ti_end, done, &err);
            break;
        case HOME:
            (void)bring_home(&r, NULL, &err);
            break;
        case POTENTIAL:
            (void)make_potential(&r, NULL, &err);
            break;
        case CLOSE:
            close_share(&r);
            break;
        case DISMISS:
            close_share(&r);
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

int nb6_ranks_open(struct nb6_ranks **ranks, struct nb6_world *world, struct nb6_collisionless *whole, int is_start,
                   size_t room, struct nbc_error *err)
{
    struct order o = {.what = OPEN,
                      .n = whole->n,
                      .rules = nb6_leapfrog_rules(whole),
                      .ti_now = whole->ti_now,
                      .n_blocks = whole->n_blocks,
                      .is_start = is_start,
                      .room = room,
                      .force = whole->options,
                      .has_sections = whole->sections != NULL};
    struct nb6_ranks *r = nbc_alloc(1, sizeof *r);
    if (!r) return nbc_fail(err, NBC_NO_MEMORY, "no memory for the ranks");
    r->world = world;
    r->is_ahead = is_start;
    if (gpunb_tree_is_asked(&whole->options)) gpunb_tree_settings(whole->force, &o.force);
    o.force.backend = o.force.costs = NULL;
    snprintf(o.backend, sizeof o.backend, "%s", gpunb_info(whole->force)->name);
    order_all(world, &o);
    const int status = open_share(r, &o, whole, err);
    if (status)
        nbc_free(r);
    else
        *ranks = r;
    return status;
}

void nb6_ranks_free(struct nb6_ranks *r)
{
    if (!r) return;
    order_all(r->world, &(struct order){.what = CLOSE});
    close_share(r);
    nbc_free(r);
}

int nb6_ranks_evolve(struct nb6_ranks *r, struct nb6_collisionless *whole, nb6_time ti_end, struct nbc_error *err)
{
    int64_t done[2];
    order_all(r->world, &(struct order){.what = EVOLVE, .ti_end = ti_end});
    const int status = evolve(r, ti_end, done, err);
    r->is_ahead = 1;
    whole->ti_now = r->share->ti_now;
    whole->n_steps += (uint64_t)done[0];
    whole->n_blocks += (uint64_t)done[1];
    return status;
}

int nb6_ranks_home(struct nb6_ranks *r, struct nb6_collisionless *whole, struct nbc_error *err)
{
    if (!r->is_ahead) return NBC_OK;
    order_all(r->world, &(struct order){.what = HOME});
    const int status = bring_home(r, whole, err);
    r->is_ahead = status != NBC_OK;
    return status;
}

const struct nb6_sections *nb6_ranks_sections(const struct nb6_ranks *r)
{
    return r->sections;
}

int nb6_ranks_potential(struct nb6_ranks *r, double *pot, struct nbc_error *err)
{
    order_all(r->world, &(struct order){.what = POTENTIAL});
    return make_potential(r, pot, err);
}

int nb6_ranks_wanting_stop(const struct nb6_ranks *r)
{
    return r->stops;
}

int nb6_ranks_get_counts(const struct nb6_ranks *r, struct nb6_spread_counts *counts)
{
    *counts = (struct nb6_spread_counts){0};
    if (r->share->exchange) nb6_exchange_get_counts(r->share->exchange, counts);
    return nb6_world_size(r->world);
}

int nb6_ranks_get_tree_counts(const struct nb6_ranks *r, struct nb6_rank_trees_counts *counts)
{
    *counts = (struct nb6_rank_trees_counts){0};
    if (r->share->trees) nb6_rank_trees_get_counts(r->share->trees, counts);
    return r->share->trees != NULL;
}

void nb6_ranks_dismiss(struct nb6_world *world, int status)
{
    if (nb6_world_size(world) > 1) order_all(world, &(struct order){.what = DISMISS, .status = status});
}
