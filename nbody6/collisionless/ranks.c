#include "nbody6/collisionless/ranks.h"

#include "gpunb/gpunb.h"
#include "nbody6/collisionless/collisionless.h"
#include "nbody6/collisionless/exchange.h"
#include "nbody6/collisionless/leapfrog.h"
#include "nbody6/collisionless/system_memory.h"
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
    int is_start;
    size_t room;
    enum gpunb_precision precision;
    char backend[NAME_BYTES];
};

struct nb6_ranks {
    struct nb6_world *world;
    struct nb6_collisionless *share; /* of this rank; NULL: none is open */
    int64_t n;                       /* of all ranks */
    int is_ahead;                    /* rank 0: its arrays are older than the shares */
    int (*wants_stop)(void);
    int stops;
};

static int is_first(const struct nb6_ranks *r)
{
    return nb6_world_rank(r->world) == 0;
}

/* ---- shares */

/* The force of rank 0 is that of the whole system. */
static void close_share(struct nb6_ranks *r)
{
    struct nb6_collisionless *s = r->share;
    if (!s) return;
    nb6_exchange_close(s->exchange);
    s->exchange = NULL;
    if (!is_first(r)) gpunb_free(s->force);
    nb6_collisionless_release(s);
    nbc_free(s);
    r->share = NULL;
}

static int make_share(struct nb6_ranks *r, const struct order *o, gpunb_t *force, struct nbc_error *err)
{
    const struct gpunb_options options = {.backend = o->backend, .precision = o->precision};
    struct nb6_collisionless *s = r->share = nbc_alloc(1, sizeof *s);
    int64_t end;
    if (!s) return nbc_fail(err, NBC_NO_MEMORY, "no memory for a share of the bodies");
    nb6_world_share(r->world, o->n, nb6_world_rank(r->world), &s->first, &end);
    s->n = end - s->first;
    s->softening = o->rules.softening;
    s->eta = o->rules.eta;
    s->max_level = o->rules.max_level;
    s->block = o->rules.block;
    s->reuse = 1;
    s->ti_now = o->ti_now;
    s->force = force;
    int status = nb6_collisionless_allocate(s, 1, err);
    if (!status && !force) status = gpunb_create(&s->force, 1, &options, err);
    return status ? status : nb6_exchange_open(&s->exchange, r->world, o->n, o->room, s->force, err);
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
    r->n = o->n;
    int status = make_share(r, o, whole ? whole->force : NULL, err);
    status = nb6_world_agree(r->world, status, err);
    if (!status) take_bodies(r, whole, o->is_start);
    if (!status && o->is_start) status = nb6_leapfrog_start(r->share, err);
    if (status) close_share(r);
    return status;
}

/* ---- orders that all ranks follow */

/* Blocks fail on all ranks or on none.   @param[out] done  steps of all ranks, and blocks */
static int evolve(struct nb6_ranks *r, nb6_time ti_end, int64_t done[2], struct nbc_error *err)
{
    struct nb6_collisionless *s = r->share;
    int status = NBC_OK;
    s->n_steps = s->n_blocks = 0;
    while (s->ti_now < ti_end && !status) status = nb6_leapfrog_block(s, err);
    int64_t sums[2] = {(int64_t)s->n_steps, r->wants_stop && r->wants_stop()};
    nb6_world_sum(r->world, sums, 2);
    done[0] = sums[0];
    done[1] = (int64_t)s->n_blocks;
    r->stops = (int)sums[1];
    return status;
}

static void bring_home(struct nb6_ranks *r, const struct nb6_collisionless *whole)
{
    static const struct nb6_collisionless none;
    const struct nb6_collisionless *all = whole ? whole : &none, *s = r->share;
    gather(r, sizeof *s->x0, s->x0, all->x0);
    gather(r, sizeof *s->v, s->v, all->v);
    gather(r, sizeof *s->acc, s->acc, all->acc);
    gather(r, sizeof *s->level, s->level, all->level);
}

static int make_potential(struct nb6_ranks *r, double *all, struct nbc_error *err)
{
    struct nb6_collisionless *s = r->share;
    double *pot = nbc_alloc_unset((size_t)s->n, sizeof *pot);
    int status =
        nb6_world_agree(r->world, pot ? NBC_OK : nbc_fail(err, NBC_NO_MEMORY, "no memory for potentials"), err);
    for (int64_t i = 0; i < s->n; i++) s->due[i] = (int32_t)i;
    if (!status) {
        const double(*x)[3] = (const double(*)[3])s->x0;
        const struct nb6_exchange_job job = {.mass = s->mass,
                                             .x = x,
                                             .n_due = s->n,
                                             .due = s->due,
                                             .x_due = x,
                                             .softening = s->softening,
                                             .acc = s->acc_due,
                                             .pot = pot};
        status = nb6_world_agree(r->world, nb6_exchange_sum(s->exchange, &job, err), err);
    }
    if (!status) gather(r, sizeof *pot, pot, all);
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
            bring_home(&r, NULL);
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
                      .is_start = is_start,
                      .room = room,
                      .precision = whole->options.precision};
    struct nb6_ranks *r = nbc_alloc(1, sizeof *r);
    if (!r) return nbc_fail(err, NBC_NO_MEMORY, "no memory for the ranks");
    r->world = world;
    r->is_ahead = is_start;
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

void nb6_ranks_home(struct nb6_ranks *r, struct nb6_collisionless *whole)
{
    if (!r->is_ahead) return;
    order_all(r->world, &(struct order){.what = HOME});
    bring_home(r, whole);
    r->is_ahead = 0;
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
    nb6_exchange_get_counts(r->share->exchange, counts);
    return nb6_world_size(r->world);
}

void nb6_ranks_dismiss(struct nb6_world *world, int status)
{
    if (nb6_world_size(world) > 1) order_all(world, &(struct order){.what = DISMISS, .status = status});
}
