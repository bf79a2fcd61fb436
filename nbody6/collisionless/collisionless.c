#include "nbody6/collisionless/collisionless.h"

#include "common/nbc.h"
#include "device/device.h"
#include "gpunb/backend.h"
#include "gpunb/gpunb.h"
#include "gpunb/softened_device.h"
#include "gpunb/tree.h"
#include "gpunb/tree_kept.h"
#include "nbody6/analysis/frame.h"
#include "nbody6/collisionless/domain.h"
#include "nbody6/collisionless/leapfrog.h"
#include "nbody6/collisionless/owners.h"
#include "nbody6/collisionless/ranks/backend.h"
#include "nbody6/collisionless/ranks/ranks.h"
#include "nbody6/collisionless/ranks/rows.h"
#include "nbody6/collisionless/ranks/sections.h"
#include "nbody6/collisionless/resident.h"
#include "nbody6/collisionless/system_check.h"
#include "nbody6/collisionless/system_memory.h"
#include "nbody6/state/body.h"
#include "nbody6/state/level.h"
#include "nbody6/world/world.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Ticks of times have room in 63 bits. */
static const double LAST_TIME = 0x1p22;

/* Bodies are in the arrays of the system; otherwise ranks have them. */
static int has_arrays(const struct nb6_collisionless_options *o)
{
    return nb6_world_size(o->world) == 1;
}

static int check_ranks(const struct nb6_collisionless_options *o, struct nbc_error *err)
{
    const int ranks = nb6_world_size(o->world);
    if (o->bodies && has_arrays(o))
        return nbc_fail(err, NBC_BAD_ARGUMENT, "bodies come in pieces to several ranks alone");
    if (ranks == 1) return NBC_OK;
    if (gpunb_tree_is_asked(&o->force) && o->engine != NB6_COLLISIONLESS_AUTO && o->engine != NB6_COLLISIONLESS_HOST)
        return nbc_fail(err, NBC_BAD_ARGUMENT, "devices keep bodies of a tree on one rank alone; there are %d", ranks);
    if (o->parts > 1) return nbc_fail(err, NBC_BAD_ARGUMENT, "a rank has one part of the bodies, not %d", o->parts);
    return NBC_OK;
}

/* With a tree there is no memory for sources yet: bodies that stay on devices are never sent. Direct sums take as many
 * GPUs as there is work for. */
static int open_force(gpunb_t **force, int64_t n, const struct nb6_collisionless_options *o, struct nbc_error *err)
{
    char asked[NB6_RANK_BACKEND_TEXT], own[NB6_RANK_BACKEND_TEXT];
    struct gpunb_options options = o->force;
    options.costs = o->costs[0] ? o->costs : NULL;
    if (nb6_world_size(o->world) == 1 && gpunb_tree_is_asked(&o->force))
        return gpunb_create_empty(force, (size_t)n, &options, err);
    if (nb6_world_size(o->world) == 1) return gpunb_create(force, (size_t)n, &options, err);
    int status = nb6_ranks_backend(o->world, options.backend, n, asked, err);
    if (!status) status = nb6_rank_backend_own(o->world, asked, own, err);
    options.backend = own;
    return status ? status : gpunb_create(force, 1, &options, err);
}

/* A system without forces, at t = 0. */
static int open_system(struct nb6_collisionless **system, int64_t n, const int64_t *name, const double *mass,
                       const double (*x)[3], const double (*v)[3], const struct nb6_collisionless_options *options,
                       struct nbc_error *err)
{
    int status = nb6_system_check_options(n, options, err);
    if (!status) status = check_ranks(options, err);
    if (!status && !options->bodies) status = nb6_system_check_bodies(n, mass, v, err);
    if (status) return status;
    struct nb6_collisionless *s = nbc_alloc(1, sizeof *s);
    if (!s) return nbc_fail(err, NBC_NO_MEMORY, "no memory for a system");
    *system = s;
    s->n = n;
    s->softening = options->softening;
    s->eta = options->eta;
    s->options = options->force;
    s->block = options->steps == NB6_COLLISIONLESS_BLOCK;
    s->max_level = nb6_level_of(options->dt, NB6_LONGEST_LEVEL);
    s->reuse = gpunb_tree_is_asked(&options->force) && options->reuse > 1 ? options->reuse : 1;
    if (has_arrays(options)) status = nb6_collisionless_allocate(s, err);
    if (!status) status = nb6_kept_tree_open(s, has_arrays(options), err);
    if (!status) status = open_force(&s->force, n, options, err);
    if (status) return status;
    s->options.backend = gpunb_info(s->force)->name;
    gpunb_tree_costs_in_use(s->force, s->costs);
    s->options.costs = s->costs[0] ? s->costs : NULL;
    if (!has_arrays(options)) return NBC_OK; /* shares get the bodies */
    for (int64_t i = 0; i < n; i++) s->name[i] = name ? name[i] : i + 1;
    memcpy(s->mass, mass, (size_t)n * sizeof *mass);
    memcpy(s->x0, x, (size_t)n * sizeof *x);
    memcpy(s->v, v, (size_t)n * sizeof *v);
    return NBC_OK;
}

/* ---- where the state is */

/* `auto` keeps bodies on one GPU: the bits are the same as in memory. Several GPUs are used on request only, since
 * their number changes the bits. With a tree over several ranks devices make forces of bodies in memory.
 *  @return not auto */
static enum nb6_collisionless_engine settle(const gpunb_t *force, const struct nb6_collisionless_options *o)
{
    if (o->engine != NB6_COLLISIONLESS_AUTO) return o->engine;
    if (gpunb_tree_is_asked(&o->force) && nb6_world_size(o->world) > 1) return NB6_COLLISIONLESS_HOST;
    const int is_there = nb6_residence_cuda && gpunb_softened_devices(force, 0, NULL) == 1;
    return is_there ? NB6_COLLISIONLESS_DEVICE : NB6_COLLISIONLESS_HOST;
}

static int check_engine(const gpunb_t *force, int64_t n, const struct nb6_collisionless_options *o,
                        struct nbc_error *err)
{
    switch (settle(force, o)) {
    case NB6_COLLISIONLESS_DEVICE:
        if (nb6_residence_cuda && gpunb_softened_devices(force, 0, NULL) > 0) return NBC_OK;
        return nbc_fail(err, NBC_UNAVAILABLE,
                        "the device engine keeps bodies on GPUs that make two-float forces; the backend is %s%s",
                        gpunb_info(force)->name, nb6_residence_cuda ? "" : ", and this program was built without CUDA");
    case NB6_COLLISIONLESS_EMULATED:
        if (o->parts <= NB6_MOST_PARTS && o->parts <= n) return NBC_OK;
        return nbc_fail(err, NBC_BAD_ARGUMENT, "%d parts of %lld bodies; there are 1 to %d, and no empty ones",
                        o->parts, (long long)n, NB6_MOST_PARTS);
    case NB6_COLLISIONLESS_HOST:
        return NBC_OK;
    default:
        return nbc_fail(err, NBC_BAD_ARGUMENT, "there is no engine number %d", (int)o->engine);
    }
}

/* NULL: memory. */
static const struct nb6_residence *residence_of(enum nb6_collisionless_engine settled)
{
    if (settled == NB6_COLLISIONLESS_DEVICE) return nb6_residence_cuda;
    return settled == NB6_COLLISIONLESS_EMULATED ? &nb6_residence_emulated : NULL;
}

/* The device of each part: all GPUs that make the forces, or emulated ones in turn.   @return parts; 0: memory */
static int find_parts(const gpunb_t *force, int64_t n, const struct nb6_collisionless_options *o,
                      int device[NB6_MOST_PARTS])
{
    const char *why;
    const enum nb6_collisionless_engine settled = settle(force, o);
    int parts = 0;
    if (settled == NB6_COLLISIONLESS_DEVICE) {
        parts = gpunb_softened_devices(force, NB6_MOST_PARTS, device);
        if (parts > NB6_MOST_PARTS) parts = NB6_MOST_PARTS;
        if (parts > n) parts = (int)n;
    } else if (settled == NB6_COLLISIONLESS_EMULATED) {
        parts = o->parts > 0 ? o->parts : 1;
        for (int p = 0; p < parts; p++) device[p] = p % nbd_count(nbd_emulated, &why);
    }
    return parts;
}

/* A GPU that has no memory for them is left alone, unless it was asked for.
 * @param[in] owners  of a system that goes on, or NULL */
static int open_engine(struct nb6_collisionless *s, const struct nb6_collisionless_options *o,
                       const struct nb6_owners *owners, struct nbc_error *err)
{
    int device[NB6_MOST_PARTS];
    struct nbc_error why = {0};
    int status = check_engine(s->force, s->n, o, err);
    if (status) return status;
    const int parts = find_parts(s->force, s->n, o, device);
    if (parts == 0) return NBC_OK;
    if (parts > 1 && nb6_collisionless_has_tree(s)) {
        s->owners = nb6_owners_create(s->n, parts);
        if (!s->owners) return nbc_fail(err, NBC_NO_MEMORY, "no memory for the owners of %lld bodies", (long long)s->n);
        nb6_owners_take(s->owners, owners, s->block);
    }
    status = nb6_resident_open(&s->resident, residence_of(settle(s->force, o)), s, parts, device, &why);
    if (status == NBC_NO_MEMORY && o->engine == NB6_COLLISIONLESS_AUTO) return NBC_OK;
    if (status) *err = why;
    return status;
}

/* from: the bodies. */
static int open_ranks(struct nb6_collisionless *s, const struct nb6_collisionless_options *o,
                      const struct nb6_body_source *from, int is_start, struct nbc_error *err)
{
    char asked[NB6_RANK_BACKEND_TEXT];
    const struct nb6_ranks_plan plan = {
        .is_start = is_start, .room = o->room, .backend = asked, .engine = settle(s->force, o)};
    int status = check_engine(s->force, s->n, o, err);
    if (!status && plan.engine == NB6_COLLISIONLESS_EMULATED && strcmp(s->options.backend, "emulated") != 0)
        status = nbc_fail(err, NBC_UNAVAILABLE,
                          "the emulated engine of several ranks has the forces of emulated devices, not of backend %s",
                          s->options.backend);
    if (!status) status = nb6_ranks_backend(o->world, o->force.backend, s->n, asked, err);
    if (!status) status = nb6_ranks_open(&s->ranks, o->world, s, from, &plan, err);
    return status ? status : nb6_collisionless_home(s, err);
}

/* The state of a system goes to where it is advanced.   @param[in] then  that it goes on from; NULL: it starts */
static int open_state(struct nb6_collisionless *s, const struct nb6_collisionless_options *o,
                      const struct nb6_collisionless *then, struct nbc_error *err)
{
    const int status = open_engine(s, o, then ? then->owners : NULL, err);
    if (status || then) return status;
    return s->resident ? nb6_resident_start(s->resident, s, err) : nb6_leapfrog_start(s, err);
}

static const char *engine_name(const struct nb6_residence *residence)
{
    return residence ? residence->name : "host";
}

/* ---- plans */

/* Sources, targets and results of the forces that the host asks for, of a body, in memory of a GPU. */
static const double HANDLE_BYTES = 150;

/* Memory of the largest part, or of the handle where bodies stay in memory of the host. */
static int plan_memory(gpunb_t *force, int64_t n, const struct nb6_collisionless_options *o,
                       struct nb6_collisionless_plan *plan, struct nbc_error *err)
{
    int device[NB6_MOST_PARTS];
    size_t work = 0;
    const int parts = find_parts(force, n, o, device);
    const struct nb6_part largest = {
        .n = (int32_t)n,
        .n_own = (int32_t)(parts > 0 ? (n + parts - 1) / parts : 0),
        .room = (int32_t)nb6_owners_room(n, parts > 0 ? parts : 1, o->steps == NB6_COLLISIONLESS_BLOCK),
        .keeps_tree = gpunb_tree_is_asked(&o->force) && o->reuse > 1};
    if (parts > 0)
        return nb6_domain_bytes(residence_of(settle(force, o)), &largest, device[0], &o->force, force,
                                &plan->device_bytes, err);
    if (plan->gpus == 0) return NBC_OK;
    const int status = gpunb_softened_device_bytes(force, (size_t)n, (size_t)n, &work);
    if (status) return nbc_fail(err, status, "%s", gpunb_last_error(force));
    plan->device_bytes = (double)work + HANDLE_BYTES * (double)n;
    return NBC_OK;
}

/* Each part makes the forces on its own bodies. */
static void plan_pairs(const gpunb_t *force, int64_t n, const struct nb6_collisionless_options *o,
                       struct nb6_collisionless_plan *plan)
{
    int device[NB6_MOST_PARTS];
    const double builds = o->reuse > 1 ? 1.0 / o->reuse : 1;
    const int found = find_parts(force, n, o, device), parts = found > 0 ? found : 1;
    const size_t all = (size_t)n, mine = (all + (size_t)parts - 1) / (size_t)parts;
    plan->pairs = gpunb_softened_pairs(force, all, all, NULL);
    plan->pairs_by_tree = parts * gpunb_tree_kept_pairs(force, mine, all, builds);
    plan->tree_is_worth = gpunb_tree_kept_is_worth(force, mine, all, builds);
    /* A tree in memory of GPUs that the host asks for is on the first of them. */
    if (found == 0 && plan->gpus > 1 && gpunb_tree_is_asked(&o->force)) plan->gpus = 1;
}

int nb6_collisionless_plan(int64_t n, const struct nb6_collisionless_options *options,
                           struct nb6_collisionless_plan *plan, struct nbc_error *err)
{
    gpunb_t *force = NULL;
    struct nb6_collisionless_plan made = {0};
    int status = nb6_system_check_options(n, options, err);
    if (!status) status = open_force(&force, n, options, err);
    if (!status) status = check_engine(force, n, options, err);
    if (!status) {
        made = (struct nb6_collisionless_plan){.backend = gpunb_info(force)->name,
                                               .engine = engine_name(residence_of(settle(force, options))),
                                               .pair_ns = gpunb_tree_pair_cost(force),
                                               .gpus = gpunb_gpus(force, 0, NULL),
                                               .force = options->force,
                                               .reuse = options->reuse > 1 ? options->reuse : 1};
        gpunb_tree_settings(force, &made.force);
        gpunb_tree_describe_costs(force, made.costs);
        status = plan_memory(force, n, options, &made, err);
    }
    if (!status) {
        plan_pairs(force, n, options, &made);
        *plan = made;
    }
    gpunb_free(force);
    return status;
}

int nb6_collisionless_home(struct nb6_collisionless *s, struct nbc_error *err)
{
    if (s->ranks) return nb6_ranks_home(s->ranks, s, err);
    return s->resident ? nb6_resident_home(s->resident, s, err) : nb6_kept_tree_home(s, err);
}

const char *nb6_collisionless_engine_name(const struct nb6_collisionless *s)
{
    if (s->ranks) return nb6_ranks_engine(s->ranks);
    return engine_name(s->resident ? nb6_resident_residence(s->resident) : NULL);
}

void nb6_collisionless_describe_costs(const struct nb6_collisionless *s, char text[GPUNB_TREE_MACHINE])
{
    gpunb_tree_describe_costs(s->force, text);
}

int nb6_collisionless_has_tree(const struct nb6_collisionless *s)
{
    return gpunb_tree_is_asked(&s->options);
}

void nb6_collisionless_tree_counts(const struct nb6_collisionless *s, struct gpunb_tree_counts *counts)
{
    gpunb_tree_get_counts(s->force, counts);
    if (s->resident) (void)nb6_resident_add_tree_counts(s->resident, counts, NULL); /* those of a device may be lost */
}

/* ---- making and freeing */

static int give(struct nb6_collisionless **system, struct nb6_collisionless *made, int status)
{
    if (status)
        nb6_collisionless_free(made);
    else
        *system = made;
    return status;
}

int nb6_collisionless_create(struct nb6_collisionless **system, int64_t n, const int64_t *name, const double *mass,
                             const double (*x)[3], const double (*v)[3],
                             const struct nb6_collisionless_options *options, struct nbc_error *err)
{
    struct nb6_collisionless *made = NULL;
    struct nb6_rank_arrays arrays = {.n = n, .column = {name, mass, x, v}};
    const struct nb6_body_source all = {nb6_rank_give_arrays, &arrays},
                                 *from = options->bodies ? options->bodies : &all;
    int status = open_system(&made, n, name, mass, x, v, options, err);
    if (!status)
        status = nb6_world_size(options->world) > 1 ? open_ranks(made, options, from, 1, err)
                                                    : open_state(made, options, NULL, err);
    return give(system, made, status);
}

static int take_state(struct nb6_collisionless *s, const struct nb6_collisionless *then, struct nbc_error *err)
{
    if (then->ti_now < 0 || !nb6_step_ends(s->max_level, then->ti_now))
        return nbc_fail(err, NBC_BAD_ARGUMENT, "the time %.12g is no multiple of the longest step, %.12g",
                        nb6_collisionless_time(then), nb6_collisionless_longest_step(s));
    if (s->level) { /* of one rank */
        memcpy(s->acc, then->acc, (size_t)s->n * sizeof *s->acc);
        memcpy(s->level, then->level, (size_t)s->n * sizeof *s->level);
        const int status = nb6_leapfrog_check_levels(s, err);
        if (status) return status;
    }
    s->ti_now = then->ti_now;
    s->n_blocks = then->n_blocks;
    s->n_steps = then->n_steps;
    nb6_kept_tree_take(s, then);
    return NBC_OK;
}

/* The costs that the system had, so that it makes the choices that it would have made; another backend has its own. */
static void keep_costs(const struct nb6_collisionless *then, struct nb6_collisionless_options *options)
{
    struct gpunb_tree_costs costs;
    const char *devices;
    if (options->costs[0] || !then->costs[0] || gpunb_tree_costs_read(then->costs, "costs", &costs, NULL)) return;
    const int row = gpunb_backend_select(options->force.backend, (size_t)then->n, &devices, NULL);
    if (row < 0) return; /* the reason is told where the forces are opened */
    if (!strcmp(costs.backend, gpunb_backend_row(row)->name))
        memcpy(options->costs, then->costs, sizeof options->costs);
}

/* Domains of as many ranks are kept, and lists that they have made. */
static int resume_ranks(struct nb6_collisionless *s, const struct nb6_collisionless_options *o,
                        const struct nb6_collisionless *then, const struct nb6_body_source *from, struct nbc_error *err)
{
    s->sections = then->sections && then->sections->ranks == nb6_world_size(o->world) ? then->sections : NULL;
    if (!s->sections && s->rebuild.state == NB6_TREE_STANDS) s->rebuild.state = NB6_TREE_IS_MISSING;
    const int status = open_ranks(s, o, from, 0, err);
    s->sections = NULL;
    return status;
}

int nb6_collisionless_resume(struct nb6_collisionless **system, const struct nb6_collisionless *then,
                             const struct nb6_collisionless_options *options, struct nbc_error *err)
{
    struct nb6_collisionless *made = NULL;
    struct nb6_collisionless_options own = *options;
    keep_costs(then, &own);
    struct nb6_rank_arrays arrays = {.n = then->n,
                                     .column = {then->name, then->mass, then->x0, then->v, then->acc, then->level}};
    const struct nb6_body_source all = {nb6_rank_give_arrays, &arrays},
                                 *from = options->bodies ? options->bodies : &all;
    int status = open_system(&made, then->n, then->name, then->mass, (const double(*)[3])then->x0,
                             (const double(*)[3])then->v, &own, err);
    if (!status) status = take_state(made, then, err);
    if (!status)
        status = nb6_world_size(own.world) > 1 ? resume_ranks(made, &own, then, from, err)
                                               : open_state(made, &own, then, err);
    return give(system, made, status);
}

void nb6_collisionless_free(struct nb6_collisionless *s)
{
    if (!s) return;
    nb6_resident_free(s->resident);
    nb6_ranks_free(s->ranks);
    nb6_kept_tree_close(s);
    nb6_owners_free(s->owners);
    gpunb_free(s->force);
    nb6_collisionless_release(s);
    nbc_free(s);
}

double nb6_collisionless_longest_step(const struct nb6_collisionless *s)
{
    return nb6_step_length(s->max_level);
}

double nb6_collisionless_time(const struct nb6_collisionless *s)
{
    return nb6_time_to_double(s->ti_now);
}

int nb6_collisionless_evolve(struct nb6_collisionless *s, double t, struct nbc_error *err)
{
    const double steps = t / nb6_collisionless_longest_step(s); /* exact: a power of two */
    if (!(t >= nb6_collisionless_time(s) && t <= LAST_TIME))
        return nbc_fail(err, NBC_BAD_ARGUMENT, "the time %.12g is not between %.12g and %g", t,
                        nb6_collisionless_time(s), LAST_TIME);
    if (steps != floor(steps))
        return nbc_fail(err, NBC_BAD_ARGUMENT, "the time %.12g is no multiple of the longest step, %.12g", t,
                        nb6_collisionless_longest_step(s));
    const nb6_time ti_end = (nb6_time)steps * nb6_step_ticks(s->max_level);
    int status = NBC_OK;
    if (s->ranks) return s->ti_now < ti_end ? nb6_ranks_evolve(s->ranks, s, ti_end, err) : NBC_OK;
    while (s->ti_now < ti_end && !status)
        status = s->resident ? nb6_resident_block(s->resident, s, err) : nb6_leapfrog_block(s, err);
    return status;
}

/* Where the bodies are; what is wrong with one of them is told here. */
static int potential(struct nb6_collisionless *s, double *pot, struct nbc_error *err)
{
    int is_good = 0;
    const int status = s->resident ? nb6_resident_potentials(s->resident, s, pot, &is_good, err) : NBC_OK;
    return status || is_good ? status : nb6_leapfrog_potentials(s, pot, err);
}

/* Nobody has the arrays: rows come from their ranks. */
static int frame_of_ranks(struct nb6_collisionless *s, int with_potential, struct nb6_frame *frame,
                          struct nbc_error *err)
{
    const int status = with_potential ? nb6_ranks_potential(s->ranks, err) : NBC_OK;
    if (status) return status;
    *frame = (struct nb6_frame){
        .t = nb6_collisionless_time(s), .n = s->n, .rows = nb6_ranks_rows(s->ranks), .has_pot = with_potential};
    return NBC_OK;
}

struct nb6_body_rows nb6_collisionless_rows(struct nb6_collisionless *s)
{
    return !s->x0 ? nb6_ranks_rows(s->ranks) : (struct nb6_body_rows){nb6_collisionless_get_rows, s};
}

int nb6_collisionless_frame(struct nb6_collisionless *s, int options, struct nb6_frame *frame, struct nbc_error *err)
{
    const size_t n = (size_t)s->n;
    const int with_potential = (options & NB6_FRAME_POTENTIAL) != 0;
    if (!nb6_step_ends(s->max_level, s->ti_now))
        return nbc_fail(err, NBC_BAD_STATE, "at t = %.12g bodies are within their steps", nb6_collisionless_time(s));
    int status = nb6_collisionless_home(s, err);
    if (status) return status;
    if (!s->x0) return frame_of_ranks(s, with_potential, frame, err);
    struct nb6_frame f = {.t = nb6_collisionless_time(s),
                          .n = s->n,
                          .name = s->name,
                          .mass = s->mass,
                          .x = s->x0,
                          .v = s->v,
                          .acc = s->acc,
                          .shows = 1};
    f.dt_irr = nbc_alloc_unset(n, sizeof *f.dt_irr);
    if (with_potential) f.pot = nbc_alloc(n, sizeof *f.pot);
    if (!f.dt_irr || (with_potential && !f.pot))
        status = nbc_fail(err, NBC_NO_MEMORY, "no memory for a frame of %lld bodies", (long long)f.n);
    if (!status && with_potential) status = potential(s, f.pot, err);
    if (status) {
        nb6_frame_free(&f);
        return status;
    }
    for (int64_t i = 0; i < s->n; i++) f.dt_irr[i] = nb6_step_length(s->level[i]);
    *frame = f;
    return NBC_OK;
}
