#include "gpunb/tree/essential.h"

#include "common/team.h"
#include "gpunb/handle.h"
#include "gpunb/tree/essential_parts.h"
#include "gpunb/tree/force.h"
#include "gpunb/tree_kept.h"

#include <string.h>

enum { TARGETS_OF_A_PART = 4096 };

static int no_memory(struct gpunb_essential *e)
{
    return nbc_fail(&e->handle->error, NBC_NO_MEMORY, "gpunb: no memory for the trees of %d parts", e->parts);
}

/* ---- opening and closing */

static int allocate(struct gpunb_essential *e)
{
    const size_t parts = (size_t)e->parts;
    e->whole = nbc_alloc(1, sizeof *e->whole);
    e->top = nbc_alloc(parts, gpunb_essential_top_bytes(e));
    e->reach = nbc_alloc(parts, sizeof *e->reach);
    e->out = nbc_alloc(parts, sizeof *e->out);
    e->in = nbc_alloc(parts, sizeof *e->in);
    return e->whole && e->top && e->reach && e->out && e->in;
}

int gpunb_essential_open(struct gpunb_essential **essential, gpunb_t *handle, int parts, int own)
{
    gpunb_tree_t *local = NULL;
    int status = gpunb_tree_create(handle, &local);
    if (status) return status;
    struct gpunb_essential *e = nbc_alloc(1, sizeof *e);
    if (!e) {
        gpunb_tree_free(local);
        return nbc_fail(&handle->error, NBC_NO_MEMORY, "gpunb: no memory for the trees of %d parts", parts);
    }
    e->handle = handle;
    e->parts = parts;
    e->own = own;
    e->local = local;
    if (!allocate(e)) {
        status = no_memory(e);
        gpunb_essential_free(e);
        return status;
    }
    e->whole->use = handle->tree;
    *essential = e;
    return NBC_OK;
}

void gpunb_essential_free(struct gpunb_essential *e)
{
    if (!e) return;
    for (int p = 0; p < e->parts && e->out; p++) {
        nbc_free(e->out[p].data.data);
        nbc_free(e->out[p].box_room.data);
        nbc_free(e->out[p].cell_room.data);
    }
    for (int p = 0; p < e->parts && e->in; p++) nbc_free(e->in[p].links.data);
    struct tree_room *rooms[] = {&e->targets, &e->box_room, &e->nodes,  &e->queue,  &e->shapes,  &e->ats,
                                 &e->origins, &e->known,    &e->places, &e->leasts, &e->boxes_of};
    for (size_t r = 0; r < sizeof rooms / sizeof rooms[0]; r++) nbc_free(rooms[r]->data);
    tree_free_groups(&e->groups);
    gpunb_tree_free(e->local);
    gpunb_tree_free(e->whole);
    nbc_free(e->top);
    nbc_free(e->reach);
    nbc_free(e->out);
    nbc_free(e->in);
    nbc_free(e);
}

void gpunb_essential_get_counts(const struct gpunb_essential *e, struct gpunb_essential_counts *counts)
{
    *counts = e->counts;
}

int gpunb_essential_has_aim(const struct gpunb_essential *e)
{
    return e->handle->tree->theta == 0;
}

const int32_t *gpunb_essential_order(const struct gpunb_essential *e)
{
    return e->local->n > 0 ? e->local->cells.number : NULL;
}

/* ---- the own tree and its targets */

static void round_part(void *context, int part, int parts)
{
    struct gpunb_essential *e = context;
    double(*x)[3] = e->targets.data;
    int64_t first, end;
    nbc_range((int64_t)e->job.n_i, part, parts, &first, &end);
    for (int64_t i = first; i < end; i++) e->handle->tree->method->round(e->handle->state, e->job.x[i], x[i]);
}

/* Groups of cells that may have so many targets have about half of them, so that even ones of half as many cost as
 * much. Those for which an expansion is worth it stay such. */
static int most_of_even(int most)
{
    return most / 2 < TREE_WORTH_AN_EXPANSION ? most : most / 2;
}

/* Faces of domains cut cells. How much of them is left changes from build to build, and with it the work of a part
 * whose groups are cells. Devices round targets and make groups themselves; one part has no faces. */
static int begin_targets(struct gpunb_essential *e)
{
    struct gpunb_tree_use *use = e->handle->tree;
    const size_t n = e->job.n_i;
    if (!use->method->device) {
        if (!tree_room(&e->targets, n, sizeof(double[3]))) return NBC_NO_MEMORY;
        nbc_team_run(nbc_parts((int64_t)n, TARGETS_OF_A_PART), round_part, e);
        e->job.x = e->targets.data;
    }
    const int most = tree_most_of_group(use), are_cells = use->method->device || most == 1 || e->parts == 1;
    const int status =
        are_cells ? tree_make_groups(&e->groups, e->local, &e->job, most, use->counts.seconds)
                  : tree_make_even_groups(&e->groups, e->local, &e->job, most_of_even(most), use->counts.seconds);
    e->n_groups = status ? 0 : e->groups.n;
    return status;
}

static int provide_boxes(struct gpunb_essential *e)
{
    e->boxes = e->n_groups < GPUNB_ESSENTIAL_BOXES ? e->n_groups : GPUNB_ESSENTIAL_BOXES;
    e->box = tree_room(&e->box_room, e->boxes, sizeof *e->box);
    if (!e->box || e->stage != ESSENTIAL_PLAN) return e->box ? NBC_OK : NBC_NO_MEMORY;
    e->least2 = tree_room(&e->leasts, e->boxes, sizeof *e->least2);
    e->box_of = tree_room(&e->boxes_of, e->job.n_i, sizeof *e->box_of);
    return e->least2 && e->box_of ? NBC_OK : NBC_NO_MEMORY;
}

static void take_job(struct gpunb_essential *e, const struct gpunb_softened_job *job, enum essential_stage stage)
{
    const struct gpunb_tree_use *use = e->handle->tree;
    e->job = *job;
    e->stage = stage;
    e->is_first = tree_force_has_first(use, job);
    e->rule = e->is_first ? gpunb_tree_first_rule(use, job) : gpunb_tree_rule(use, job);
    for (int p = 0; p < e->parts; p++) e->in[p].data = NULL;
}

/* The host reads the own tree, if a device has it. */
static int fetch_local(struct gpunb_essential *e)
{
    const struct gpunb_tree_device *device = e->handle->tree->method->device;
    if (!device || e->local->n == 0) return NBC_OK;
    return device->fetch(e->handle->state, e->local, &e->handle->error);
}

/* It knows the groups of targets, and the host the top cell. */
static int measure_on_device(struct gpunb_essential *e)
{
    if (e->local->n == 0) return NBC_OK;
    return e->handle->tree->method->device->measure(e->handle->state, e->local, &e->job, &e->measure, &e->n_groups,
                                                    &e->handle->error);
}

static int begin(struct gpunb_essential *e, const struct gpunb_softened_job *job, enum essential_stage stage)
{
    int status = gpunb_tree_rebuild(e->handle, job->build, e->local);
    take_job(e, job, stage);
    e->boxes = e->n_groups = 0;
    e->measure = NULL;
    if (!status) status = essential_is_on_device(e) ? measure_on_device(e) : fetch_local(e);
    if (status || job->n_i == 0) return status;
    const int has_groups = essential_is_on_device(e) || begin_targets(e) == NBC_OK;
    return has_groups && provide_boxes(e) == NBC_OK ? NBC_OK : no_memory(e);
}

int gpunb_essential_begin(struct gpunb_essential *e, const struct gpunb_softened_job *job)
{
    return begin(e, job, ESSENTIAL_ANEW);
}

int gpunb_essential_plan(struct gpunb_essential *e, const struct gpunb_softened_job *job, const double *drift)
{
    e->drift = drift;
    for (int p = 0; p < e->parts; p++) e->out[p].cells = 0;
    return begin(e, job, ESSENTIAL_PLAN);
}

int gpunb_essential_renew(struct gpunb_essential *e, const struct gpunb_softened_job *job)
{
    int status = NBC_OK;
    if (e->local->version != e->handle->tree->version) {
        status = gpunb_tree_renew(e->handle, e->local);
        if (!status) status = fetch_local(e);
    }
    take_job(e, job, ESSENTIAL_KEPT);
    const int on_host = !e->handle->tree->method->device; /* a device has the groups of its walks */
    if (!status && on_host && job->n_i > 0 && begin_targets(e)) status = no_memory(e);
    return status;
}

/* ---- what all parts know of each other */

size_t gpunb_essential_top_bytes(const struct gpunb_essential *e)
{
    return essential_cell_bytes(e);
}

void essential_write_cell(const struct gpunb_essential *e, size_t c, void *to)
{
    const struct tree_cell *cell = &e->local->cells.cell[c];
    struct essential_cell sent = {.mass = cell->mass, .radius = cell->radius, .rest = cell->rest, .count = cell->count};
    memcpy(sent.low, cell->low, sizeof sent.low);
    memcpy(sent.high, cell->high, sizeof sent.high);
    memcpy(sent.centre, cell->centre, sizeof sent.centre);
    const size_t size = e->local->use->method->in_double ? sizeof(double) : sizeof(float);
    memset(to, 0, essential_cell_bytes(e));
    memcpy(to, &sent, sizeof sent);
    memcpy((char *)to + sizeof sent, tree_moments_of(e->local, c),
           (size_t)tree_kept_moments(e->local->use->sizes.order) * size);
}

void gpunb_essential_top(const struct gpunb_essential *e, void *top)
{
    if (e->local->n > 0)
        essential_write_cell(e, 0, top);
    else
        memset(top, 0, essential_cell_bytes(e));
    ((struct essential_cell *)top)->has_targets = e->job.n_i > 0;
}

void gpunb_essential_take_tops(struct gpunb_essential *e, const void *tops)
{
    memcpy(e->top, tops, (size_t)e->parts * essential_cell_bytes(e));
    e->mass = 0;
    for (int p = 0; p < e->parts; p++) e->mass += essential_top_of(e, p)->mass;
    if (e->stage != ESSENTIAL_KEPT) essential_make_boxes(e);
}

void gpunb_essential_take_reaches(struct gpunb_essential *e, const struct gpunb_essential_reach *reaches)
{
    memcpy(e->reach, reaches, (size_t)e->parts * sizeof *reaches);
    for (int p = 0; p < e->parts && e->stage == ESSENTIAL_PLAN; p++) {
        e->out[p].is_close = gpunb_essential_is_sent(e, e->own, p);
        e->in[p].is_close = gpunb_essential_is_sent(e, p, e->own);
    }
}

int gpunb_essential_is_sent(const struct gpunb_essential *e, int from, int to)
{
    const struct essential_cell *top = essential_top_of(e, from);
    if (from == to || !essential_top_of(e, to)->has_targets || !(top->mass > 0)) return 0;
    if (e->stage == ESSENTIAL_KEPT && (from == e->own ? e->out[to].is_close : e->in[from].is_close)) return 1;
    const struct essential_test test = essential_test_of(e);
    return !essential_accepts(&test, top->centre, top->mass, top->radius, &top->rest, top->count, &e->reach[to].box);
}

const struct gpunb_essential_box *gpunb_essential_boxes(const struct gpunb_essential *e)
{
    return e->box;
}

/* ---- the force */

static int force_on_device(struct gpunb_essential *e, int32_t own, uint32_t *cost)
{
    struct gpunb *handle = e->handle;
    struct gpunb_tree_use *use = handle->tree;
    const struct gpunb_tree_device *device = use->method->device;
    struct gpunb_softened_job job = e->job;
    if (e->is_first) job.pot = NULL;
    int status = device->join(handle->state, e->local, e->whole, own, &handle->error);
    if (!status)
        status = device->part_force(handle->state, e->whole, &job, e->is_first, essential_is_on_device(e), cost,
                                    use->counts.seconds, &handle->error);
    use->counts.first_forces += (uint64_t)(!status && e->is_first);
    use->counts.forces += !status && !e->is_first;
    return status;
}

int gpunb_essential_force(struct gpunb_essential *e, uint32_t *cost)
{
    struct gpunb *handle = e->handle;
    const double begin = nbc_wtime();
    int32_t own;
    int status = NBC_OK;
    if (e->job.n_i > 0 && essential_merge(e, &own)) status = no_memory(e);
    if (!status && e->job.n_i > 0)
        status = handle->tree->method->device
                     ? force_on_device(e, own, cost)
                     : tree_force_of_groups(e->whole, &e->groups, &e->job, e->is_first, cost, handle->tree->scratch,
                                            &handle->tree->counts, &handle->error);
    if (status) return status;
    e->counts.forces++;
    handle->stats.calls++;
    handle->stats.targets += e->job.n_i;
    handle->stats.seconds_regf += nbc_wtime() - begin;
    return NBC_OK;
}
