#include "nbody6/collisionless/ranks/share.h"

#include "gpunb/backend.h"
#include "gpunb/tree.h"
#include "nbody6/collisionless/ranks/exchange.h"
#include "nbody6/collisionless/ranks/part.h"
#include "nbody6/collisionless/ranks/places.h"
#include "nbody6/collisionless/ranks/plan.h"
#include "nbody6/collisionless/ranks/rows.h"
#include "nbody6/collisionless/ranks/survey.h"
#include "nbody6/collisionless/residence.h"
#include "nbody6/collisionless/system_memory.h"
#include "nbody6/world/world.h"

#include <string.h>

static int is_first(const struct nb6_rank_share *r)
{
    return nb6_world_rank(r->world) == 0;
}

/* ---- opening and closing */

/* The force of rank 0 is that of the whole system. */
void nb6_rank_share_close(struct nb6_rank_share *r)
{
    struct nb6_collisionless *s = r->bodies;
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
    nbc_free(r->label);
    nbc_free(r->scratch);
    *r = (struct nb6_rank_share){.world = r->world};
}

/* The force of rank 0 is there. */
static int open_force(struct nb6_rank_share *r, const struct nb6_rank_opening *o, struct nbc_error *err)
{
    struct nb6_collisionless *s = r->bodies;
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
static int open_exchange(const struct nb6_rank_share *r, const struct nb6_rank_opening *o, struct nbc_error *err)
{
    struct nb6_collisionless *s = r->bodies;
    struct nbd_device device;
    const int is_there = r->residence && s->n > 0;
    const int status =
        is_there ? nbd_open(&device, *r->residence->kind, r->device, "the collisionless engine", err) : NBC_OK;
    if (status) return status;
    return nb6_exchange_open(&s->exchange, r->world, o->n, o->room, s->force, is_there ? &device : NULL, err);
}

/* Names stay with equal shares, and numbers go with the bodies. */
static int open_domains(struct nb6_rank_share *r, struct nbc_error *err)
{
    struct nb6_collisionless *s = r->bodies;
    r->label = nbc_alloc_unset((size_t)s->n, sizeof *r->label);
    r->scratch = is_first(r) ? nbc_alloc_unset(NB6_RANK_ROWS_SCRATCH, 1) : NULL;
    if (!r->label || (is_first(r) && !r->scratch))
        return nbc_fail(err, NBC_NO_MEMORY, "no memory for the names of a share of the bodies");
    return nb6_rank_domains_open(&r->domains, s, err);
}

/* The maker of forces of a share that has its arrays. */
static int open_forces(struct nb6_rank_share *r, const struct nb6_rank_opening *o, struct nbc_error *err)
{
    const int status = open_force(r, o, err);
    if (status) return status;
    return gpunb_tree_is_asked(&o->force) ? open_domains(r, err) : open_exchange(r, o, err);
}

static int make_share(struct nb6_rank_share *r, const struct nb6_rank_opening *o,
                      const struct nb6_rank_tree_start *tree, gpunb_t *force, struct nbc_error *err)
{
    struct nb6_collisionless *s = r->bodies = nbc_alloc(1, sizeof *s);
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
    s->shortest_all = -1;
    s->ti_now = o->ti_now;
    s->force = force;
    s->n_blocks = o->n_blocks;
    const int status = nb6_collisionless_allocate(s, err);
    return status ? status : open_forces(r, o, err);
}

int nb6_rank_share_open(struct nb6_rank_share *r, const struct nb6_rank_opening *o,
                        const struct nb6_collisionless *whole, struct nbc_error *err)
{
    struct nb6_rank_tree_start tree = {.reuse = 1};
    r->n = o->n;
    r->residence = residence_of(o->engine);
    r->is_start = o->is_start;
    if (gpunb_tree_is_asked(&o->force)) nb6_rank_tree_start_tell(r->world, whole, &tree);
    r->domains.has_sections = tree.has_sections;
    const int status = nb6_world_agree(r->world, make_share(r, o, &tree, whole ? whole->force : NULL, err), err);
    if (status) nb6_rank_share_close(r);
    return status;
}

/* Where the bodies go, when host memory has their accelerations. */
static int open_part(struct nb6_rank_share *r, struct nbc_error *err)
{
    if (!r->residence) return NBC_OK;
    const int status = nb6_rank_part_open(&r->bodies->rank_part, r->residence, r->bodies, r->device, err);
    return nb6_world_agree(r->world, status, err);
}

int nb6_rank_share_begin(struct nb6_rank_share *r, int status, const struct nb6_collisionless *whole,
                         struct nbc_error *err)
{
    struct nb6_collisionless *s = r->bodies;
    if (!status && r->domains.sections) status = nb6_rank_domains_begin(&r->domains, s, whole, err);
    if (!status)
        status = r->is_start ? nb6_leapfrog_start(s, err)
                             : nb6_world_agree(r->world, nb6_leapfrog_check_levels(s, err), err);
    if (!status) status = open_part(r, err);
    if (status) nb6_rank_share_close(r);
    return status;
}

/* ---- rows */

/* Those of equal shares, which stay as they are. */
static void *column_of_number(const struct nb6_rank_share *r, enum nb6_body_column column)
{
    return r->domains.sections && column == NB6_ROWS_NAME ? r->label : NULL;
}

void nb6_rank_share_take(const struct nb6_rank_share *r, enum nb6_body_column column, int64_t first, int64_t count,
                         const void *rows)
{
    void *mine = column_of_number(r, column);
    if (!mine && column >= NB6_ROWS_PLACE_RANK)
        mine = nb6_rank_places_column(&r->domains.then, column);
    else if (!mine)
        mine = nb6_rank_column(r->bodies, column, NULL);
    if (!mine) return; /* on all ranks: places of another number of them */
    nb6_rank_rows_in(r->world, r->n, nb6_rank_row_bytes(column), first, count, rows, mine);
}

void nb6_rank_share_give(const struct nb6_rank_share *r, enum nb6_body_column column, int64_t first, int64_t count,
                         void *rows)
{
    const struct nb6_collisionless *s = r->bodies;
    const size_t row = nb6_rank_row_bytes(column);
    const void *by_number = column_of_number(r, column);
    if (by_number)
        nb6_rank_rows_out(r->world, r->n, row, first, count, by_number, rows);
    else if (r->domains.sections)
        nb6_rank_rows_find(r->world, s->n, s->name, row, first, count, nb6_rank_column(s, column, r->pot), rows,
                           r->scratch);
    else
        nb6_rank_rows_out(r->world, r->n, row, first, count, nb6_rank_column(s, column, r->pot), rows);
}

/* ---- blocks */

static int make_block(struct nb6_collisionless *s, struct nbc_error *err)
{
    return s->rank_part ? nb6_rank_part_block(s, err) : nb6_leapfrog_block(s, err);
}

int nb6_rank_share_evolve(struct nb6_rank_share *r, nb6_time ti_end, struct nbc_error *err)
{
    struct nb6_collisionless *s = r->bodies;
    int status = NBC_OK;
    while (s->ti_now < ti_end && !status) {
        status = nb6_rank_domains_settle(&r->domains, s, err);
        if (!status) status = make_block(s, err);
        if (!status && r->domains.sections) nb6_rank_domains_note(&r->domains, s);
    }
    return status ? status : nb6_rank_domains_settle(&r->domains, s, err);
}

int nb6_rank_share_home(struct nb6_rank_share *r, struct nbc_error *err)
{
    struct nb6_collisionless *s = r->bodies;
    const int status = s->rank_part ? nb6_rank_part_home(s, err) : NBC_OK;
    if (r->domains.sections) nb6_rank_plan_judge(s);
    return status;
}

/* ---- potentials and surveys */

static int sum_potential(struct nb6_rank_share *r, struct nbc_error *err)
{
    struct nb6_collisionless *s = r->bodies;
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

static int provide_pot(struct nb6_rank_share *r, struct nbc_error *err)
{
    const int64_t n = r->bodies->n;
    if (r->pot && n <= r->pot_room) return NBC_OK;
    nbc_free(r->pot);
    r->pot_room = r->bodies->room;
    r->pot = nbc_alloc_unset((size_t)r->pot_room, sizeof *r->pot);
    return r->pot ? NBC_OK : nbc_fail(err, NBC_NO_MEMORY, "no memory for potentials");
}

int nb6_rank_share_potential(struct nb6_rank_share *r, struct nbc_error *err)
{
    int status = nb6_world_agree(r->world, provide_pot(r, err), err);
    if (status) return status;
    status = r->domains.sections ? nb6_rank_domains_potential(r->bodies, r->pot, err) : sum_potential(r, err);
    return nb6_world_agree(r->world, status, err);
}

int nb6_rank_share_survey(const struct nb6_rank_share *r, struct nb6_rank_survey *survey, struct nbc_error *err)
{
    if (r->domains.sections) return nb6_rank_survey_domain(r->bodies, r->pot, survey, err);
    return nb6_rank_survey(r->bodies, nb6_exchange_spread(r->bodies->exchange), r->pot, survey, err);
}
