#include "gpunb/tree/regular.h"

#include "common/team.h"
#include "gpunb/tree/regular_walk.h"

#include <math.h>

enum {
    ORDER = TREE_MOST_LOCAL - 2, /* of a tree whose moments are those of the expansions */
    LEAF = 16,
    GROUP = 16,
    REGION = 1024, /* targets of a task, at most; with few targets there are at least so many tasks: */
    TASKS = 64,
    RUNS_OF_A_PART = 1, /* tasks of a thread */
    CELLS_OF_A_PART = 16,
    BODIES_OF_A_PART = 4096
};

/* The aim for a term in units of force_error, and that for what expansions leave of masses: measured, so that half of
 * all accelerations are within a sixteenth of force_error, 99 of 100 within it, and jerks within 1 and 30 times it
 * (docs/algorithms/regular_tree.md). */
static const double TERM_AIM = 1, STEADY_AIM = 39;
/* The same for multipoles that act on targets of a device: accelerations of single targets among many decide. */
static const double DEVICE_TERM_AIM = 2.5;

/* Cells and regions look smaller than this from each other in the force that sets the scale. */
static const double FIRST_THETA = 0.7;

/* A body of this part of all mass acts as itself. */
static const double HEAVY_PART = 0.01;

/* Nominal costs, in pairs of direct sums (bench/bench_regular): to build the tree, for each source; the lists of a
 * target, if all sources are targets, and how they grow with the number of sources for each target, since the fewer
 * there are, the wider are their groups. Blocks of most sources have direct sums in which pairs are made once for both
 * (gpunb/cpu/mutual.c). */
static const double PAIRS_OF_A_SOURCE = 1500, PAIRS_OF_A_TARGET = 33000, GROWTH = 0.42, MUTUAL_PART = 0.6;
/* The same on a GPU (an H200, docs/algorithms/regular_tree.md), where launches and the longest list cost as well; the
 * part of that on emulated devices, which nothing takes by itself: they are for tests, which have few stars. */
static const double DEVICE_PAIRS = 6e9, DEVICE_PAIRS_OF_A_SOURCE = 3700, DEVICE_PAIRS_OF_A_TARGET = 64000,
                    EMULATED_PART = 0.002;
enum { FEWEST_MUTUAL = 6144, SHARE_MUTUAL = 2 };

/** The tree of regular forces. It stays while the sources do. */
struct tree_regular {
    struct gpunb_tree_use use; /* settings of its tree */
    struct gpunb_tree *tree;
    double (*v)[3];             /* [n] by place */
    struct tree_motion *motion; /* [cells] */
    void *rate;                 /* [cells][moments] */
    struct tree_groups groups;
    struct tree_room vs, unsorted, motions, rates, spaces, targets, runs, last;
};

static void free_regular(struct tree_regular *regular)
{
    if (!regular) return;
    struct tree_room *rooms[] = {&regular->vs,     &regular->unsorted, &regular->motions, &regular->rates,
                                 &regular->spaces, &regular->targets,  &regular->runs,    &regular->last};
    for (size_t r = 0; r < sizeof rooms / sizeof rooms[0]; r++) nbc_free(rooms[r]->data);
    tree_free_groups(&regular->groups);
    gpunb_tree_free(regular->tree);
    nbc_free(regular);
}

int gpunb_regf_has_tree(const gpunb_t *handle)
{
    const struct gpunb_tree_use *use = handle->tree;
    if (!use || !(use->force_error > 0)) return 0;
    return use->method->regular || (use->method->device && handle->precision == GPUNB_TWOFLOAT);
}

static double pairs_by_tree(const gpunb_t *handle, double n_i, double n_j)
{
    const struct gpunb_tree_use *use = handle->tree;
    const double part = handle->backend->n_worth > 0 ? 1 : EMULATED_PART;
    const double sparse = n_i > 0 ? fmax(1, n_j / n_i) : 1;
    if (use->method->regular) return PAIRS_OF_A_SOURCE * n_j + PAIRS_OF_A_TARGET * pow(sparse, GROWTH) * n_i;
    return part *
           (DEVICE_PAIRS + DEVICE_PAIRS_OF_A_SOURCE * n_j + DEVICE_PAIRS_OF_A_TARGET * pow(sparse, GROWTH) * n_i);
}

double gpunb_regf_pairs(const gpunb_t *handle, size_t n_i, size_t n_j, double *by_tree)
{
    const int is_mutual = n_i >= FEWEST_MUTUAL && SHARE_MUTUAL * n_i >= n_j;
    const double direct = (double)n_i * (double)n_j * (is_mutual ? MUTUAL_PART : 1);
    *by_tree = gpunb_regf_has_tree(handle) ? pairs_by_tree(handle, (double)n_i, (double)n_j) : direct;
    return direct;
}

int gpunb_regf_by_tree(const gpunb_t *handle, size_t n_i, size_t n_j)
{
    double by_tree;
    if (!gpunb_regf_has_tree(handle) || n_i == 0 || n_j == 0) return 0;
    return gpunb_regf_pairs(handle, n_i, n_j, &by_tree) > by_tree || handle->tree->always;
}

/* ---- the tree */

static struct tree_regular *provide(gpunb_t *handle)
{
    struct gpunb_tree_use *use = handle->tree;
    if (use->regular) return use->regular;
    struct tree_regular *made = nbc_alloc(1, sizeof *made);
    struct gpunb_tree *tree = nbc_alloc(1, sizeof *tree);
    if (!made || !tree) {
        nbc_free(made);
        nbc_free(tree);
        return NULL;
    }
    made->use = *use;
    made->use.sizes.order = ORDER;
    made->use.sizes.leaf = use->leaf_asked > 0 ? use->leaf_asked : LEAF;
    made->use.sizes.group = use->group_asked > 0 ? use->group_asked : GROUP;
    made->tree = tree;
    tree->use = &made->use;
    use->regular = made;
    use->free_regular = free_regular;
    return made;
}

/* Velocities by place, and motions and rates level by level, the deepest first. */
struct filling {
    const gpunb_t *handle;
    struct tree_regular *regular;
    double (*unsorted)[3];
    const struct tree_rates_view *view;
    size_t begin, end; /* cells of the level */
};

static void read_part(void *context, int part, int parts)
{
    const struct filling *f = context;
    int64_t first, end;
    nbc_range((int64_t)f->regular->tree->n, part, parts, &first, &end);
    f->regular->use.method->regular->read_v(f->handle->state, (size_t)first, (size_t)end, f->unsorted + first);
}

static void order_part(void *context, int part, int parts)
{
    const struct filling *f = context;
    const struct gpunb_tree *tree = f->regular->tree;
    int64_t first, end;
    nbc_range((int64_t)tree->n, part, parts, &first, &end);
    for (int64_t p = first; p < end; p++)
        memcpy(f->regular->v[p], f->unsorted[tree->cells.number[p]], sizeof f->regular->v[p]);
}

static void rates_part(void *context, int part, int parts)
{
    const struct filling *f = context;
    struct tree_rates_memory memory;
    int64_t first, end;
    nbc_range((int64_t)(f->end - f->begin), part, parts, &first, &end);
    for (int64_t c = first; c < end; c++) tree_make_rates(f->view, f->begin + (size_t)c, &memory);
}

static int make_rates(const gpunb_t *handle, struct tree_regular *regular)
{
    const struct gpunb_tree *tree = regular->tree;
    const size_t n = tree->cells.level[tree->cells.n_levels],
                 size = regular->use.method->in_double ? sizeof(double) : sizeof(float);
    struct tree_tables tables;
    struct filling f = {
        .handle = handle, .regular = regular, .unsorted = tree_room(&regular->unsorted, tree->n, sizeof *f.unsorted)};
    regular->v = tree_room(&regular->vs, tree->n, sizeof *regular->v);
    regular->motion = tree_room(&regular->motions, n, sizeof *regular->motion);
    regular->rate = tree_room(&regular->rates, n * tree->moments, size);
    if (!f.unsorted || !regular->v || !regular->motion || !regular->rate) return NBC_NO_MEMORY;
    const int parts = nbc_parts((int64_t)tree->n, BODIES_OF_A_PART);
    nbc_team_run(parts, read_part, &f);
    nbc_team_run(parts, order_part, &f);
    tree_fill_tables(&tables, ORDER + 2, 0, 1);
    const struct tree_view view = tree_view_of(tree, &tables);
    const struct tree_rates_view rates = {&view, (const double(*)[3])regular->v, regular->motion, regular->rate};
    f.view = &rates;
    for (int l = tree->cells.n_levels - 1; l >= 0; l--) {
        f.begin = tree->cells.level[l];
        f.end = tree->cells.level[l + 1];
        nbc_team_run(nbc_parts((int64_t)(f.end - f.begin), CELLS_OF_A_PART), rates_part, &f);
    }
    return NBC_OK;
}

/* @return NBC_OK; NBC_NO_MEMORY; NBC_BAD_ARGUMENT (a mass is negative) */
static int build(gpunb_t *handle, struct tree_regular *regular, uint64_t number)
{
    struct gpunb_tree *tree = regular->tree;
    if (tree->is_sound && tree->version == handle->tree->version && tree->build == number) return NBC_OK;
    tree->is_sound = 0;
    tree->build = number;
    tree->n = handle->n_sources;
    int status = gpunb_tree_fill_on_host(handle, tree, 1);
    if (status) return status;
    const double begin = nbc_wtime();
    status = make_rates(handle, regular);
    handle->tree->counts.seconds[GPUNB_TREE_MOMENTS] += nbc_wtime() - begin;
    tree->version = handle->tree->version;
    tree->is_sound = status == NBC_OK;
    handle->tree->counts.builds += (uint64_t)tree->is_sound;
    return status;
}

/* ---- forces */

struct work {
    struct tree_regular_force force;
    const struct tree_run *run;
    size_t n_runs, space_bytes;
    char *spaces;
    double (*x)[3], (*last)[3];
    struct nbc_queue queue;
};

static struct tree_regular_space *space_of(const struct work *work, int part)
{
    return (struct tree_regular_space *)(void *)(work->spaces + (size_t)part * work->space_bytes);
}

static void walk_part(void *context, int part, int parts)
{
    struct work *work = context;
    (void)parts;
    for (int64_t r; (r = nbc_take(&work->queue)) < (int64_t)work->n_runs;)
        tree_walk_run(&work->force, space_of(work, part), &work->run[r], part);
}

static void round_part(void *context, int part, int parts)
{
    const struct work *work = context;
    const struct gpunb_block *block = work->force.block;
    int64_t first, end;
    nbc_range((int64_t)block->n_i, part, parts, &first, &end);
    for (int64_t i = first; i < end; i++)
        work->force.tree->use->method->round(work->force.state, block->x[i], work->x[i]);
}

struct tree_rule gpunb_regular_rule(double force_error)
{
    const double aim = TERM_AIM * force_error, theta2 = FIRST_THETA * FIRST_THETA;
    return (struct tree_rule){.aim2 = (float)(aim * aim),
                              .steady = (float)(STEADY_AIM * force_error),
                              .region_theta2 = (float)theta2,
                              .order = ORDER};
}

struct tree_rule gpunb_regular_term_rule(double force_error, int order)
{
    const double aim = DEVICE_TERM_AIM * force_error, theta2 = FIRST_THETA * FIRST_THETA;
    return (struct tree_rule){.aim2 = (float)(aim * aim), .theta2 = (float)theta2, .order = order};
}

double gpunb_regular_heavy_part(void)
{
    return HEAVY_PART;
}

static void run_walks(struct work *work, int parts, size_t most, struct gpunb_tree_counts *counts)
{
    work->queue.next = 0;
    for (int p = 0; p < parts; p++) tree_regular_space_at(work->spaces + (size_t)p * work->space_bytes, most);
    nbc_team_run(parts, walk_part, work);
    for (int p = 0; p < parts; p++) gpunb_tree_add_counts(counts, &space_of(work, p)->counts);
}

/* Without last accelerations a force by angle comes first, whose results are the last ones of the second. */
static void make_force(struct work *work, int parts, size_t most, struct gpunb_tree_counts *counts)
{
    const struct gpunb_block *block = work->force.block;
    work->force.acc_last = block->acc_last;
    if (!block->acc_last) {
        const struct tree_rule rule = work->force.rule;
        work->force.rule.aim2 = 0;
        run_walks(work, parts, most, counts);
        counts->first_forces++;
        memcpy(work->last, block->acc, block->n_i * sizeof *work->last);
        work->force.rule = rule;
        work->force.acc_last = (const double(*)[3])work->last;
    }
    run_walks(work, parts, most, counts);
    counts->forces++;
}

/* Regions that are tasks: as many whatever the number of threads. */
static int32_t most_of_a_task(const struct tree_regular *regular, size_t n_i)
{
    const size_t share = n_i / TASKS, group = (size_t)regular->use.sizes.group;
    return (int32_t)(share > REGION ? REGION : share > group ? share : group);
}

static int provide_work(struct tree_regular *regular, struct work *work, int32_t most, int threads)
{
    const struct gpunb_block *block = work->force.block;
    struct tree_run *run = NULL;
    work->n_runs = tree_list_runs(&regular->groups, most, NULL);
    work->run = run = tree_room(&regular->runs, work->n_runs, sizeof *run);
    work->space_bytes = tree_regular_bytes((size_t)regular->use.sizes.group);
    work->spaces = tree_room(&regular->spaces, (size_t)threads, work->space_bytes);
    if (!block->acc_last) work->last = tree_room(&regular->last, block->n_i, sizeof *work->last);
    if (!run || !work->spaces || (!block->acc_last && !work->last)) return NBC_NO_MEMORY;
    tree_list_runs(&regular->groups, most, run);
    return NBC_OK;
}

static int force(gpunb_t *handle, struct tree_regular *regular, const struct gpunb_block *block)
{
    struct gpunb_tree_counts *counts = &handle->tree->counts;
    const int32_t most = most_of_a_task(regular, block->n_i);
    struct work work = {.x = tree_room(&regular->targets, block->n_i, sizeof *work.x)};
    if (!work.x) return NBC_NO_MEMORY;
    work.force = (struct tree_regular_force){.tree = regular->tree,
                                             .motion = regular->motion,
                                             .rate = regular->rate,
                                             .groups = &regular->groups,
                                             .block = block,
                                             .x = (const double(*)[3])work.x,
                                             .rule = gpunb_regular_rule(regular->use.force_error),
                                             .heavy = HEAVY_PART * regular->tree->cells.cell[0].mass,
                                             .state = handle->state};
    nbc_team_run(nbc_parts((int64_t)block->n_i, BODIES_OF_A_PART), round_part, &work);
    const struct gpunb_softened_job job = {.n_i = block->n_i, .self = block->self, .x = work.force.x};
    int status = tree_order_targets(&regular->groups, regular->tree, &job, regular->use.sizes.group, counts->seconds);
    const int parts = nbc_parts((int64_t)(block->n_i / (size_t)regular->use.sizes.group), RUNS_OF_A_PART);
    if (!status) status = provide_work(regular, &work, most, parts);
    if (!status)
        status = regular->use.method->regular->begin(handle->state, regular->tree->cells.number, parts,
                                                     (size_t)regular->use.sizes.group);
    if (!status) make_force(&work, parts, (size_t)regular->use.sizes.group, counts);
    return status;
}

int gpunb_regular_force(gpunb_t *handle, const struct gpunb_block *block, int *done)
{
    struct tree_regular *regular = provide(handle);
    *done = 1;
    int status = regular ? build(handle, regular, block->build) : NBC_NO_MEMORY;
    if (status == NBC_BAD_ARGUMENT) {
        *done = 0;
        return NBC_OK;
    }
    if (!status) status = force(handle, regular, block);
    return status ? nbc_fail(&handle->error, status, "gpunb_regf: no memory for a tree of %zu sources, %zu targets",
                             handle->n_sources, block->n_i)
                  : NBC_OK;
}
