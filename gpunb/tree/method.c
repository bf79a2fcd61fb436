/* The tree of a handle: its options, and the calls of tree.h. */
#include "gpunb/tree/method.h"

#include "common/team.h"
#include "gpunb/softened_device.h"
#include "gpunb/tree/force.h"

#include <math.h>
#include <string.h>

enum {
    MOST_LEAF = 1024,
    MOST_GROUP = 16384,
    BODIES_OF_A_PART = 4096 /* copied by a thread in some ten microseconds */
};
static const double MOST_ERROR = 0.1, LEAST_THETA = 0.1, MOST_THETA = 1;

static int check_sizes(const struct gpunb_options *o, struct nbc_error *err)
{
    if (o->order < 0 || o->order > GPUNB_MOST_ORDER)
        return nbc_fail(err, NBC_BAD_ARGUMENT,
                        "gpunb_create: order = %d; the orders of a tree are 1 to %d, 0: by itself", o->order,
                        GPUNB_MOST_ORDER);
    if (o->leaf < 0 || o->leaf > MOST_LEAF)
        return nbc_fail(err, NBC_BAD_ARGUMENT, "gpunb_create: leaf = %d; a leaf has 1 to %d bodies, 0: the default",
                        o->leaf, MOST_LEAF);
    if (o->group < 0 || o->group > MOST_GROUP)
        return nbc_fail(err, NBC_BAD_ARGUMENT, "gpunb_create: group = %d; a group has 1 to %d targets, 0: the default",
                        o->group, MOST_GROUP);
    if ((int)o->walk < GPUNB_WALK_DEFAULT || o->walk > GPUNB_WALK_FMM)
        return nbc_fail(err, NBC_BAD_ARGUMENT, "gpunb_create: walk = %d is none of enum gpunb_walk", (int)o->walk);
    return NBC_OK;
}

int gpunb_tree_check_options(const struct gpunb_options *o, struct nbc_error *err)
{
    if (!(o->force_error >= 0 && o->force_error <= MOST_ERROR))
        return nbc_fail(err, NBC_BAD_ARGUMENT,
                        "gpunb_create: force_error = %g; the aim of a tree is above 0, up to %g, 0: direct sums",
                        o->force_error, MOST_ERROR);
    if (o->theta != 0 && !(o->theta >= LEAST_THETA && o->theta <= MOST_THETA))
        return nbc_fail(err, NBC_BAD_ARGUMENT, "gpunb_create: theta = %g; the angle of a tree is %g to %g, 0: none",
                        o->theta, LEAST_THETA, MOST_THETA);
    if (o->theta > 0 && o->force_error > 0)
        return nbc_fail(err, NBC_BAD_ARGUMENT,
                        "gpunb_create: force_error = %g and theta = %g; a tree has an aim or an angle, not both",
                        o->force_error, o->theta);
    return check_sizes(o, err);
}

/* An angle, with the default order, has errors of an aim of about this size. */
static double aim_of_angle(double theta)
{
    return 0.02 * theta * theta;
}

/* Costs of the options, or the committed ones, and the sizes that are cheapest by them where none are asked for. */
static int choose_sizes(gpunb_t *handle, const struct gpunb_options *o, struct nbc_error *err)
{
    struct gpunb_tree_use *use = handle->tree;
    use->sizes =
        (struct gpunb_tree_sizes){o->order > 0 || o->theta == 0 ? o->order : GPUNB_DEFAULT_ORDER, o->leaf, o->group};
    gpunb_tree_costs_row(handle->backend->name, &use->costs);
    if (o->costs) {
        const int status = gpunb_tree_costs_read(o->costs, "gpunb_create: costs", &use->costs, err);
        if (status) return status;
        if (strcmp(use->costs.backend, handle->backend->name) != 0)
            return nbc_fail(err, NBC_BAD_ARGUMENT,
                            "gpunb_create: the costs are those of backend '%s', this one is '%s'", use->costs.backend,
                            handle->backend->name);
        use->has_own_costs = 1;
    }
    gpunb_tree_choose(&use->costs, use->aim, &use->sizes);
    return NBC_OK;
}

int gpunb_tree_open(gpunb_t *handle, const struct gpunb_options *o, struct nbc_error *err)
{
    const struct gpunb_tree_method *method = handle->backend->tree;
    if (o->force_error > 0 && o->force_error < method->least_error)
        return nbc_fail(
            err, NBC_BAD_ARGUMENT,
            "gpunb_create: force_error = %g; the least that backend '%s' can be asked for is %g, direct sums "
            "(0) have less",
            o->force_error, handle->backend->name, method->least_error);
    struct gpunb_tree_use *use = nbc_alloc(1, sizeof *use);
    if (use) use->scratch = nbc_alloc(1, sizeof *use->scratch);
    handle->tree = use;
    if (!use || !use->scratch) return nbc_fail(err, NBC_NO_MEMORY, "gpunb_create: no memory for a tree");
    use->method = method;
    use->force_error = o->force_error;
    use->theta = o->theta;
    use->aim = o->theta > 0 ? aim_of_angle(o->theta) : o->force_error;
    const int status = choose_sizes(handle, o, err);
    if (status) return status;
    use->leaf_asked = o->leaf;
    use->group_asked = o->group;
    use->always = o->theta > 0 || o->walk != GPUNB_WALK_DEFAULT;
    use->walk = o->walk == GPUNB_WALK_DEFAULT ? GPUNB_WALK_HYBRID : o->walk;
    return NBC_OK;
}

void gpunb_tree_close(gpunb_t *handle)
{
    if (!handle->tree) return;
    if (handle->tree->scratch) {
        gpunb_tree_free(handle->tree->scratch->own);
        tree_free_scratch(handle->tree->scratch);
    }
    if (handle->tree->regular) handle->tree->free_regular(handle->tree->regular);
    nbc_free(handle->tree->scratch);
    nbc_free(handle->tree);
    handle->tree = NULL;
}

void gpunb_tree_forget(gpunb_t *handle)
{
    if (handle->tree) handle->tree->version++;
}

double gpunb_tree_least_error(const gpunb_t *handle)
{
    return handle->backend->tree->least_error;
}

void gpunb_tree_settings(const gpunb_t *handle, struct gpunb_options *options)
{
    static const struct gpunb_tree_use none;
    const struct gpunb_tree_use *use = handle->tree ? handle->tree : &none;
    options->force_error = use->force_error;
    options->theta = use->theta;
    options->order = use->sizes.order;
    options->leaf = use->sizes.leaf;
    options->group = use->sizes.group;
    options->walk = use->walk;
}

/* ---- costs */

/* The start of direct sums is left out of both. */
double gpunb_softened_pairs(const gpunb_t *handle, size_t n_i, size_t n_j, double *by_tree)
{
    const double direct = (double)n_i * (double)n_j;
    if (by_tree) *by_tree = direct;
    if (by_tree && handle->tree && n_j > 0) {
        const struct gpunb_tree_use *use = handle->tree;
        *by_tree =
            (gpunb_tree_cost(&use->costs, &use->sizes, use->aim, n_i, n_j) - gpunb_direct_cost(&use->costs, n_i, n_j)) /
                use->costs.pair +
            direct;
    }
    return direct;
}

int gpunb_tree_is_worth(const gpunb_t *handle, size_t n_i, size_t n_j)
{
    double by_tree;
    if (!handle->tree) return 0;
    return gpunb_softened_pairs(handle, n_i, n_j, &by_tree) > by_tree || handle->tree->always;
}

/* ---- building */

int gpunb_tree_check_call(gpunb_t *handle, const char *call)
{
    if (!handle->tree)
        return nbc_fail(&handle->error, NBC_BAD_STATE,
                        "%s: this handle makes direct sums; give gpunb_create a force_error or theta", call);
    if (!handle->sent)
        return nbc_fail(&handle->error, NBC_BAD_STATE, "%s: no sources yet: call gpunb_send_positions first", call);
    return NBC_OK;
}

static int no_memory(gpunb_t *handle, size_t n)
{
    return nbc_fail(&handle->error, NBC_NO_MEMORY, "gpunb: no memory for a tree of %zu bodies", n);
}

static int provide(struct gpunb_tree *tree)
{
    tree->x = tree_room(&tree->xs, tree->n, sizeof *tree->x);
    tree->mass = tree_room(&tree->masses, tree->n, sizeof *tree->mass);
    tree->place = tree_room(&tree->places, tree->n, sizeof *tree->place);
    return tree->x && tree->mass && tree->place;
}

/* Sources by number, and by place. */
struct filling {
    const gpunb_t *handle;
    struct gpunb_tree *tree;
    double *mass, (*x)[3]; /* [n] by number */
    int64_t negative;      /* the first source with a negative mass; n or more: none */
};

static void read_part(void *context, int part, int parts)
{
    struct filling *f = context;
    int64_t first, end;
    nbc_range((int64_t)f->tree->n, part, parts, &first, &end);
    f->handle->tree->method->read(f->handle->state, (size_t)first, (size_t)end, f->mass + first, f->x + first);
    for (int64_t j = first; j < end; j++)
        if (f->mass[j] < 0) {
            nbc_atomic_min(&f->negative, j);
            break;
        }
}

static int read_sources(gpunb_t *handle, struct filling *f)
{
    f->negative = INT64_MAX;
    nbc_team_run(nbc_parts((int64_t)f->tree->n, BODIES_OF_A_PART), read_part, f);
    if (f->negative == INT64_MAX) return NBC_OK;
    return nbc_fail(&handle->error, NBC_BAD_ARGUMENT,
                    "gpunb: the mass of source %lld is negative; a tree takes masses of 0 and more",
                    (long long)f->negative);
}

static void order_part(void *context, int part, int parts)
{
    const struct filling *f = context;
    struct gpunb_tree *tree = f->tree;
    int64_t first, end;
    nbc_range((int64_t)tree->n, part, parts, &first, &end);
    for (int64_t p = first; p < end; p++) {
        const int32_t j = tree->cells.number[p];
        tree->mass[p] = f->mass[j];
        memcpy(tree->x[p], f->x[j], sizeof tree->x[p]);
        tree->place[j] = (int32_t)p;
    }
}

/* Cells, if they are to be new, and what is in them. */
int gpunb_tree_fill_on_host(gpunb_t *handle, struct gpunb_tree *tree, int is_new)
{
    const size_t n = tree->n;
    struct tree_scratch *scratch = handle->tree->scratch;
    struct filling f = {.handle = handle,
                        .tree = tree,
                        .mass = tree_room(&scratch->masses, n, sizeof *f.mass),
                        .x = tree_room(&scratch->positions, n, sizeof *f.x)};
    double *seconds = handle->tree->counts.seconds;
    int status = f.mass && f.x && provide(tree) ? read_sources(handle, &f) : no_memory(handle, n);
    if (!status && is_new && n > 0 &&
        tree_make_cells(&tree->cells, n, (const double(*)[3])f.x, tree->build, tree->use->sizes.leaf,
                        handle->tree->origin, seconds))
        status = no_memory(handle, n);
    const double begin = nbc_wtime();
    if (!status) nbc_team_run(nbc_parts((int64_t)n, BODIES_OF_A_PART), order_part, &f);
    if (!status && n > 0 && tree_make_moments(tree)) status = no_memory(handle, n);
    seconds[GPUNB_TREE_MOMENTS] += nbc_wtime() - begin;
    return status;
}

int gpunb_tree_fill(gpunb_t *handle, struct gpunb_tree *tree, int is_new)
{
    struct gpunb_tree_use *use = handle->tree;
    const struct gpunb_tree_device *device = use->method->device;
    int status = NBC_OK;
    tree->n = handle->n_sources;
    tree->is_sound = 0;
    if (is_new) tree->has_cells = 0;
    if (!device)
        status = gpunb_tree_fill_on_host(handle, tree, is_new);
    else if (tree->n > 0)
        status = device->fill(handle->state, use, tree, is_new, use->counts.seconds, &handle->error);
    tree->version = use->version;
    tree->is_sound = status == NBC_OK;
    if (is_new) tree->has_cells = status == NBC_OK && tree->n > 0;
    return status;
}

static struct gpunb_tree *new_tree(gpunb_t *handle)
{
    struct gpunb_tree *made = nbc_alloc(1, sizeof *made);
    if (!made) {
        no_memory(handle, handle->n_sources);
        return NULL;
    }
    made->use = handle->tree;
    return made;
}

int gpunb_tree_build(gpunb_t *handle, gpunb_tree_t **tree)
{
    return gpunb_tree_build_moved(handle, 0, tree);
}

int gpunb_tree_build_moved(gpunb_t *handle, uint64_t build, gpunb_tree_t **tree)
{
    if (!handle || !tree) return NBC_BAD_ARGUMENT;
    int status = gpunb_tree_check_call(handle, "gpunb_tree_build");
    if (status) return status;
    struct gpunb_tree *made = new_tree(handle);
    if (!made) return NBC_NO_MEMORY;
    made->build = build;
    status = gpunb_tree_fill(handle, made, 1);
    if (status) {
        gpunb_tree_free(made);
        return status;
    }
    handle->tree->counts.builds++;
    *tree = made;
    return NBC_OK;
}

int gpunb_tree_renew(gpunb_t *handle, gpunb_tree_t *tree)
{
    if (!handle || !tree) return NBC_BAD_ARGUMENT;
    int status = gpunb_tree_check_call(handle, "gpunb_tree_renew");
    if (status) return status;
    if (tree->n > 0 && !tree->has_cells)
        return nbc_fail(&handle->error, NBC_BAD_STATE, "gpunb_tree_renew: the tree has no cells; rebuild it");
    if (tree->use != handle->tree || tree->n != handle->n_sources)
        return nbc_fail(&handle->error, NBC_BAD_ARGUMENT,
                        "gpunb_tree_renew: the tree is of %zu sources%s, of which there are %zu now; build a new one",
                        tree->n, tree->use != handle->tree ? " of another handle" : "", handle->n_sources);
    status = gpunb_tree_fill(handle, tree, 0);
    if (!status) handle->tree->counts.renewals++;
    return status;
}

void gpunb_tree_free(gpunb_tree_t *tree)
{
    if (!tree) return;
    if (tree->kept) tree->use->method->device->drop(tree);
    tree_free_cells(&tree->cells);
    nbc_free(tree->nodes.data);
    nbc_free(tree->xs.data);
    nbc_free(tree->masses.data);
    nbc_free(tree->places.data);
    nbc_free(tree->moments_room.data);
    nbc_free(tree->coefficients_room.data);
    nbc_free(tree);
}

/* ---- forces */

/* Without sources there is no force. */
static void give_nothing(const struct gpunb_softened_job *job)
{
    memset(job->acc, 0, job->n_i * sizeof *job->acc);
    if (job->pot) memset(job->pot, 0, job->n_i * sizeof *job->pot);
}

/* Targets as the backend keeps sources. */
struct rounding {
    const gpunb_t *handle;
    const struct gpunb_softened_job *job;
    double (*x)[3];
};

static void round_part(void *context, int part, int parts)
{
    const struct rounding *r = context;
    int64_t first, end;
    nbc_range((int64_t)r->job->n_i, part, parts, &first, &end);
    for (int64_t i = first; i < end; i++) r->handle->tree->method->round(r->handle->state, r->job->x[i], r->x[i]);
}

/* @return their positions; NULL without memory */
static const double (*round_targets(gpunb_t *handle, const struct gpunb_softened_job *job))[3]
{
    struct rounding r = {handle, job, tree_room(&handle->tree->scratch->targets, job->n_i, sizeof *r.x)};
    if (r.x) nbc_team_run(nbc_parts((int64_t)job->n_i, BODIES_OF_A_PART), round_part, &r);
    return (const double(*)[3])r.x;
}

/* The tree that is built and dropped with a force: its memory stays for the next one.   @return NBC_OK, or a failure */
static int build_own(gpunb_t *handle, uint64_t build)
{
    struct tree_scratch *scratch = handle->tree->scratch;
    if (!scratch->own) scratch->own = new_tree(handle);
    if (!scratch->own) return NBC_NO_MEMORY;
    scratch->own->build = build;
    const int status = gpunb_tree_fill(handle, scratch->own, 1);
    if (!status) handle->tree->counts.builds++;
    return status;
}

static int force_on_host(gpunb_t *handle, const gpunb_tree_t *tree, const struct gpunb_softened_job *job)
{
    struct gpunb_softened_job rounded = *job;
    rounded.x = round_targets(handle, job);
    if (!rounded.x) return no_memory(handle, handle->n_sources);
    return tree_force(tree, &rounded, handle->tree->scratch, &handle->tree->counts, &handle->error);
}

/* Forces of a device are counted where they are asked for; targets and terms where they are made. */
static void count_force(struct gpunb_tree_use *use, const void *acc_last)
{
    use->counts.forces++;
    use->counts.first_forces += use->theta == 0 && !acc_last;
}

static int force_on_device(gpunb_t *handle, const gpunb_tree_t *tree, const struct gpunb_softened_job *job)
{
    struct gpunb_tree_use *use = handle->tree;
    const int status = use->method->device->force(handle->state, tree, job, use->counts.seconds, &handle->error);
    if (!status) count_force(use, job->acc_last);
    return status;
}

int gpunb_tree_softened(gpunb_t *handle, gpunb_tree_t *tree, const struct gpunb_softened_job *job)
{
    struct gpunb_tree_use *use = handle->tree;
    struct tree_scratch *scratch = use->scratch;
    if (handle->n_sources == 0) {
        give_nothing(job);
        return NBC_OK;
    }
    const int status = tree ? NBC_OK : build_own(handle, job->build);
    if (status) return status;
    if (!tree) tree = scratch->own;
    return use->method->device ? force_on_device(handle, tree, job) : force_on_host(handle, tree, job);
}

int gpunb_tree_device_bytes(gpunb_t *handle, size_t n_i, size_t n_j, size_t *bytes)
{
    const struct gpunb_tree_device *device = handle->tree->method->device;
    size_t tree, work;
    const int status = device->bytes(handle->state, handle->tree, n_i, n_j, &tree, &work, &handle->error);
    if (!status) *bytes = tree + work;
    return status;
}

int gpunb_tree_device_begin(gpunb_t *handle, const struct gpunb_softened_device *job, void *stream)
{
    struct gpunb_tree_use *use = handle->tree;
    return use->method->device->begin(handle->state, use, job, stream, &handle->error);
}

int gpunb_tree_device_force(gpunb_t *handle, const struct gpunb_softened_device *job, void *stream)
{
    struct gpunb_tree_use *use = handle->tree;
    const int status = use->method->device->enqueue(handle->state, use, job, stream, &handle->error);
    if (status) return status;
    if (job->kept == GPUNB_TREE_RENEWED)
        use->counts.renewals++;
    else
        use->counts.builds++;
    if (job->n_i > 0) count_force(use, job->acc_last);
    return NBC_OK;
}

int gpunb_tree_check(gpunb_t *handle, const gpunb_tree_t *tree)
{
    int status = gpunb_tree_check_call(handle, "gpunb_tree_force");
    if (status) return status;
    if (tree->use != handle->tree)
        return nbc_fail(&handle->error, NBC_BAD_ARGUMENT, "gpunb_tree_force: the tree is of another handle");
    if (!tree->is_sound || tree->version != handle->tree->version)
        return nbc_fail(&handle->error, NBC_BAD_STATE,
                        "gpunb_tree_force: the tree is not that of the present sources; call gpunb_tree_renew first");
    return NBC_OK;
}

/* ---- what there is to tell */

const char *gpunb_tree_stage_name(enum gpunb_tree_stage stage)
{
    static const char *const names[] = {"key", "sort", "link", "moments", "lists", "cells", "pairs"};
    return (int)stage >= 0 && stage < GPUNB_TREE_STAGES ? names[stage] : NULL;
}

void gpunb_tree_get_counts(const gpunb_t *handle, struct gpunb_tree_counts *counts)
{
    if (!counts) return;
    memset(counts, 0, sizeof *counts);
    if (!handle || !handle->tree) return;
    *counts = handle->tree->counts;
    const struct gpunb_tree_device *device = handle->tree->method->device;
    struct nbc_error err;
    if (device && device->add_counts(handle->state, counts, &err)) *counts = handle->tree->counts; /* it is lost */
}

void gpunb_tree_shape(const gpunb_tree_t *tree, size_t *cells, int *depth, size_t *largest_leaf, size_t *bytes)
{
    const struct tree_cells *all = &tree->cells;
    if (tree->kept) {
        tree->use->method->device->shape(tree, cells, depth, largest_leaf, bytes);
        return;
    }
    const size_t n = tree->n > 0 ? all->level[all->n_levels] : 0;
    size_t largest = 0;
    for (size_t c = 0; c < n; c++)
        if (all->cell[c].n_child == 0 && (size_t)all->cell[c].count > largest) largest = (size_t)all->cell[c].count;
    if (cells) *cells = n;
    if (depth) *depth = tree->n > 0 ? all->n_levels : 0;
    if (largest_leaf) *largest_leaf = largest;
    if (bytes)
        *bytes = sizeof *tree + all->numbers.bytes + all->cells.bytes + all->entries.bytes + all->others.bytes +
                 all->counts.bytes + all->marks.bytes + tree->nodes.bytes + tree->xs.bytes + tree->masses.bytes +
                 tree->places.bytes + tree->moments_room.bytes + tree->coefficients_room.bytes;
}
