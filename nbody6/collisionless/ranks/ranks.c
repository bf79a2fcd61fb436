#include "nbody6/collisionless/ranks/ranks.h"

#include "gpunb/backend.h"
#include "gpunb/gpunb.h"
#include "gpunb/tree.h"
#include "gpunb/tree/costs.h"
#include "nbody6/collisionless/collisionless.h"
#include "nbody6/collisionless/leapfrog.h"
#include "nbody6/collisionless/ranks/backend.h"
#include "nbody6/collisionless/ranks/domains.h"
#include "nbody6/collisionless/ranks/exchange.h"
#include "nbody6/collisionless/ranks/part.h"
#include "nbody6/collisionless/ranks/plan.h"
#include "nbody6/collisionless/ranks/rows.h"
#include "nbody6/collisionless/ranks/trees.h"
#include "nbody6/collisionless/residence.h"
#include "nbody6/collisionless/system_memory.h"
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
    int64_t n; /* from here on of OPEN */
    struct nb6_leapfrog_rules rules;
    nb6_time ti_now;
    int is_start;
    size_t room;
    uint64_t n_blocks;
    struct gpunb_options force; /* without its pointers */
    enum nb6_collisionless_engine engine;
    char backend[NB6_RANK_BACKEND_TEXT];
};

struct nb6_ranks {
    struct nb6_world *world;
    struct nb6_collisionless *share;       /* of this rank; NULL: none is open */
    const struct nb6_residence *residence; /* where bodies are; NULL: in memory of the host */
    int device;                            /* that makes the forces of this rank; < 0: none */
    double *pot;                           /* [share->n]; NULL: never made */
    int64_t n;                             /* of all ranks */
    int is_ahead;                          /* rank 0: rows are older than the shares */
    uint64_t n_steps;                      /* rank 0: of the system when the shares were opened */
    struct nb6_rank_domains domains;       /* of forces by trees */
    int is_start;                          /* 1: accelerations and steps are to be made */
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
    nb6_rank_part_close(s->rank_part);
    s->rank_part = NULL;
    nb6_exchange_close(s->exchange);
    nb6_rank_domains_close(&r->domains, s);
    s->exchange = NULL;
    if (!is_first(r)) gpunb_free(s->force);
    nb6_collisionless_release(s);
    nbc_free(s);
    nbc_free(r->pot);
    r->pot = NULL;
    r->share = NULL;
}

/* The force of rank 0 is there. */
static int open_force(struct nb6_ranks *r, const struct order *o, struct nbc_error *err)
{
    struct nb6_collisionless *s = r->share;
    char backend[NB6_RANK_BACKEND_TEXT];
    struct gpunb_options options = o->force;
    int status = nb6_rank_backend_own(r->world, o->backend, backend, err);
    options.backend = backend;
    options.costs = s->costs[0] ? s->costs : NULL;
    if (!status && !s->force) status = gpunb_create(&s->force, 1, &options, err);
    if (status) return status;
    r->device = nb6_rank_backend_device(backend);
    s->options = o->force;
    s->options.backend = gpunb_info(s->force)->name;
    return NBC_OK;
}

static const struct nb6_residence *residence_of(enum nb6_collisionless_engine engine)
{
    if (engine == NB6_COLLISIONLESS_DEVICE) return nb6_residence_cuda;
    return engine == NB6_COLLISIONLESS_EMULATED ? &nb6_residence_emulated : NULL;
}

/* A rank without bodies needs no device. */
static int open_exchange(const struct nb6_ranks *r, const struct order *o, struct nbc_error *err)
{
    struct nb6_collisionless *s = r->share;
    struct nbd_device device;
    const int is_there = r->residence && s->n > 0;
    const int status =
        is_there ? nbd_open(&device, *r->residence->kind, r->device, "the collisionless engine", err) : NBC_OK;
    if (status) return status;
    return nb6_exchange_open(&s->exchange, r->world, o->n, o->room, s->force, is_there ? &device : NULL, err);
}

/* The maker of forces of a share that has its arrays. */
static int open_forces(struct nb6_ranks *r, const struct order *o, struct nbc_error *err)
{
    const int status = open_force(r, o, err);
    if (status) return status;
    return gpunb_tree_is_asked(&o->force) ? nb6_rank_domains_open(&r->domains, r->share, err)
                                          : open_exchange(r, o, err);
}

static int make_share(struct nb6_ranks *r, const struct order *o, const struct nb6_rank_tree_start *tree,
                      gpunb_t *force, struct nbc_error *err)
{
    struct nb6_collisionless *s = r->share = nbc_alloc(1, sizeof *s);
    int64_t end;
    if (!s) return nbc_fail(err, NBC_NO_MEMORY, "no memory for a share of the bodies");
    nb6_world_share(r->world, o->n, nb6_world_rank(r->world), &s->first, &end);
    s->n = s->room = end - s->first;
    s->world = r->world;
    memcpy(s->costs, tree->costs, sizeof s->costs);
    s->softening = o->rules.softening;
    s->eta = o->rules.eta;
    s->max_level = o->rules.max_level;
    s->block = o->rules.block;
    s->reuse = tree->reuse;
    s->rebuild = tree->rebuild;
    s->build_block = tree->build_block;
    s->n_all = o->n;
    s->ti_now = o->ti_now;
    s->force = force;
    s->n_blocks = o->n_blocks;
    const int status = nb6_collisionless_allocate(s, 1, err);
    return status ? status : open_forces(r, o, err);
}

/* Where the bodies go, when host memory has their accelerations. */
static int open_part(struct nb6_ranks *r, struct nbc_error *err)
{
    if (!r->residence) return NBC_OK;
    const int status = nb6_rank_part_open(&r->share->rank_part, r->residence, r->share, r->device, err);
    return nb6_world_agree(r->world, status, err);
}

/* rows: of rank 0. */
static void take_rows(const struct nb6_ranks *r, const struct order *o, const void *rows)
{
    if (r->domains.sections && o->column == NB6_ROWS_NAME) return; /* names of a domain are numbers */
    nb6_rank_rows_in(r->world, r->n, nb6_rank_row_bytes(o->column), o->first, o->count, rows,
                     nb6_rank_column(r->share, o->column, NULL));
}

/* Memory for the bodies.   @param[in] whole  of rank 0; NULL on the others */
static int open_share(struct nb6_ranks *r, const struct order *o, const struct nb6_collisionless *whole,
                      struct nbc_error *err)
{
    struct nb6_rank_tree_start tree = {.reuse = 1};
    r->n = o->n;
    r->residence = residence_of(o->engine);
    r->is_start = o->is_start;
    if (gpunb_tree_is_asked(&o->force)) nb6_rank_tree_start_tell(r->world, whole, &tree);
    r->domains.has_sections = tree.has_sections;
    const int status = nb6_world_agree(r->world, make_share(r, o, &tree, whole ? whole->force : NULL, err), err);
    if (status) close_share(r);
    return status;
}

/* The bodies are there.   @param[in] status  of rank 0, which has read them; the same on all ranks
 * @param[in] whole  of rank 0; NULL on the others */
static int begin_share(struct nb6_ranks *r, int status, const struct nb6_collisionless *whole, struct nbc_error *err)
{
    if (!status && r->domains.sections) status = nb6_rank_domains_begin(&r->domains, r->share, whole, err);
    if (!status)
        status = r->is_start ? nb6_leapfrog_start(r->share, err)
                             : nb6_world_agree(r->world, nb6_leapfrog_check_levels(r->share, err), err);
    if (!status) status = open_part(r, err);
    if (status) close_share(r);
    return status;
}

/* ---- orders that all ranks follow */

static int have_devices(const struct nb6_ranks *r, const char *backend)
{
    int64_t without = !nb6_rank_backend_has_device(r->world, backend);
    nb6_world_sum(r->world, &without, 1);
    return without == 0;
}

static int make_block(struct nb6_collisionless *s, struct nbc_error *err)
{
    return s->rank_part ? nb6_rank_part_block(s, err) : nb6_leapfrog_block(s, err);
}

/* Blocks fail on all ranks or on none.   @param[out] done  steps of all ranks since the shares were opened */
static int evolve(struct nb6_ranks *r, nb6_time ti_end, int64_t *done, struct nbc_error *err)
{
    struct nb6_collisionless *s = r->share;
    int status = NBC_OK;
    while (s->ti_now < ti_end && !status) {
        status = nb6_rank_domains_settle(&r->domains, s, err);
        if (!status) status = make_block(s, err);
        if (!status && r->domains.sections) nb6_rank_domains_note(&r->domains, s);
    }
    if (!status) status = nb6_rank_domains_settle(&r->domains, s, err);
    int64_t sums[2] = {(int64_t)s->n_steps, r->wants_stop && r->wants_stop()};
    nb6_world_sum(r->world, sums, 2);
    *done = sums[0];
    r->stops = (int)sums[1];
    return status;
}

/* After a failure the shares are those of an earlier time. */
static int bring_home(struct nb6_ranks *r, struct nb6_collisionless *whole, int64_t *done, struct nbc_error *err)
{
    struct nb6_collisionless *s = r->share;
    int status = s->rank_part ? nb6_rank_part_home(s, err) : NBC_OK;
    if (r->domains.sections) status = nb6_rank_domains_home(s, whole, err);
    *done = (int64_t)s->n_steps;
    nb6_world_sum(r->world, done, 1);
    return status;
}

static void move_rows(const struct nb6_ranks *r, const struct order *o, void *rows)
{
    nb6_rank_rows_out(r->world, r->n, nb6_rank_row_bytes(o->column), o->first, o->count,
                      nb6_rank_column(r->share, o->column, r->pot), rows);
}

static int sum_potential(struct nb6_ranks *r, struct nbc_error *err)
{
    struct nb6_collisionless *s = r->share;
    const double(*x)[3] = (const double(*)[3])s->x0;
    const struct nb6_exchange_job job = {.mass = s->mass,
                                         .x = x,
                                         .n_due = s->n,
                                         .due = s->due,
                                         .x_due = x,
                                         .softening = s->softening,
                                         .acc = s->acc_due,
                                         .pot = r->pot};
    for (int64_t i = 0; i < s->n; i++) s->due[i] = (int32_t)i;
    return nb6_exchange_sum(s->exchange, &job, err);
}

/* all: of rank 0, by domains. */
static int make_potential(struct nb6_ranks *r, double *all, struct nbc_error *err)
{
    if (r->domains.sections) return nb6_rank_domains_potential(r->share, all, err);
    if (!r->pot) r->pot = nbc_alloc_unset((size_t)r->share->n, sizeof *r->pot);
    const int status =
        nb6_world_agree(r->world, r->pot ? NBC_OK : nbc_fail(err, NBC_NO_MEMORY, "no memory for potentials"), err);
    return status ? status : nb6_world_agree(r->world, sum_potential(r, err), err);
}

int nb6_ranks_serve(struct nb6_world *world, int (*wants_stop)(void))
{
    struct nb6_ranks r = {.world = world, .wants_stop = wants_stop};
    for (;;) {
        struct order o;
        struct nbc_error err = {0};
        struct nb6_rank_survey survey;
        int64_t done;
        nb6_world_broadcast(world, &o, sizeof o);
        switch (o.what) { /* failures are those that rank 0 reports */
        case LOOK:
            (void)have_devices(&r, o.backend);
            break;
        case OPEN:
            (void)open_share(&r, &o, NULL, &err);
            break;
        case TAKE:
            take_rows(&r, &o, NULL);
            break;
        case BEGIN:
            (void)begin_share(&r, o.status, NULL, &err);
            break;
        case EVOLVE:
            (void)evolve(&r, o.ti_end, &done, &err);
            break;
        case HOME:
            (void)bring_home(&r, NULL, &done, &err);
            break;
        case ROWS:
            move_rows(&r, &o, NULL);
            break;
        case POTENTIAL:
            (void)make_potential(&r, NULL, &err);
            break;
        case SURVEY:
            (void)nb6_rank_survey(r.share, r.pot, &survey, &err);
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

int nb6_ranks_backend(struct nb6_world *world, const char *asked, int64_t n, char text[NB6_RANK_BACKEND_TEXT],
                      struct nbc_error *err)
{
    const struct nb6_ranks r = {.world = world};
    const int ranks = nb6_world_size(world);
    int is_choice;
    int status = nb6_rank_backend_asked(asked, (n + ranks - 1) / ranks, text, &is_choice, err);
    if (status || !is_choice) return status;
    struct order o = {.what = LOOK};
    memcpy(o.backend, text, sizeof o.backend);
    order_all(world, &o);
    if (!have_devices(&r, text)) status = nb6_rank_backend_asked(nb6_backend_name("cpu"), n, text, &is_choice, err);
    return status;
}

static void get_put_rows(void *context, enum nb6_body_column column, int64_t first, int64_t count, void *rows)
{
    const struct nb6_ranks *r = context;
    const struct order o = {.what = ROWS, .column = column, .first = first, .count = count};
    order_all(r->world, &o);
    move_rows(r, &o, rows);
}

static void put_rows(void *context, enum nb6_body_column column, int64_t first, int64_t count, const void *rows)
{
    const struct nb6_ranks *r = context;
    const struct order o = {.what = TAKE, .column = column, .first = first, .count = count};
    order_all(r->world, &o);
    take_rows(r, &o, rows);
}

int nb6_ranks_open(struct nb6_ranks **ranks, struct nb6_world *world, struct nb6_collisionless *whole,
                   const struct nb6_body_source *from, const struct nb6_ranks_plan *plan, struct nbc_error *err)
{
    struct order o = {.what = OPEN,
                      .n = whole->n,
                      .rules = nb6_leapfrog_rules(whole),
                      .ti_now = whole->ti_now,
                      .is_start = plan->is_start,
                      .room = plan->room,
                      .engine = plan->engine,
                      .n_blocks = whole->n_blocks,
                      .force = whole->options};
    struct nb6_ranks *r = nbc_alloc(1, sizeof *r);
    if (!r) return nbc_fail(err, NBC_NO_MEMORY, "no memory for the ranks");
    r->world = world;
    r->n_steps = whole->n_steps;
    r->is_ahead = plan->is_start;
    if (gpunb_tree_is_asked(&whole->options)) gpunb_tree_settings(whole->force, &o.force);
    o.force.walk = whole->options.walk; /* by itself a walk leaves the choice between trees and direct sums */
    o.force.backend = o.force.costs = NULL;
    snprintf(o.backend, sizeof o.backend, "%s", plan->backend);
    order_all(world, &o);
    int status = open_share(r, &o, whole, err);
    if (!status) {
        status = from->give(from->context, &(struct nb6_body_sink){put_rows, get_put_rows, r}, err);
        order_all(world, &(struct order){.what = BEGIN, .status = status});
        status = begin_share(r, status, whole, err);
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
    order_all(r->world, &(struct order){.what = CLOSE});
    close_share(r);
    nbc_free(r);
}

/* The system is as far as its shares.   @param[in] done  steps of all since they were opened */
static void take_times(const struct nb6_ranks *r, struct nb6_collisionless *whole, int64_t done)
{
    whole->ti_now = r->share->ti_now;
    whole->n_steps = r->n_steps + (uint64_t)done;
    whole->n_blocks = r->share->n_blocks;
    whole->rebuild = r->share->rebuild;
    whole->build_block = r->share->build_block;
}

int nb6_ranks_evolve(struct nb6_ranks *r, struct nb6_collisionless *whole, nb6_time ti_end, struct nbc_error *err)
{
    int64_t done;
    order_all(r->world, &(struct order){.what = EVOLVE, .ti_end = ti_end});
    const int status = evolve(r, ti_end, &done, err);
    r->is_ahead = 1;
    take_times(r, whole, done);
    return status;
}

int nb6_ranks_home(struct nb6_ranks *r, struct nb6_collisionless *whole, struct nbc_error *err)
{
    int64_t done;
    if (!r->is_ahead) return NBC_OK;
    order_all(r->world, &(struct order){.what = HOME});
    const int status = bring_home(r, whole, &done, err);
    take_times(r, whole, done);
    if (!status) r->is_ahead = 0;
    return status;
}

const char *nb6_ranks_engine(const struct nb6_ranks *r)
{
    return r->residence ? r->residence->name : "host";
}

int nb6_ranks_potential(struct nb6_ranks *r, double *all, struct nbc_error *err)
{
    order_all(r->world, &(struct order){.what = POTENTIAL});
    return make_potential(r, all, err);
}

int nb6_ranks_survey(struct nb6_ranks *r, struct nb6_rank_survey *survey, struct nbc_error *err)
{
    order_all(r->world, &(struct order){.what = SURVEY});
    return nb6_rank_survey(r->share, r->pot, survey, err);
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
    if (r->share->exchange) nb6_exchange_get_counts(r->share->exchange, counts);
    return nb6_world_size(r->world);
}

int nb6_ranks_get_tree_counts(const struct nb6_ranks *r, struct nb6_rank_trees_counts *counts)
{
    *counts = (struct nb6_rank_trees_counts){0};
    if (r->share->trees) nb6_rank_trees_get_counts(r->share->trees, counts);
    return r->share->trees != NULL;
}

const struct nb6_sections *nb6_ranks_sections(const struct nb6_ranks *r)
{
    return r->domains.sections;
}

void nb6_ranks_dismiss(struct nb6_world *world, int status)
{
    if (nb6_world_size(world) > 1) order_all(world, &(struct order){.what = DISMISS, .status = status});
}
