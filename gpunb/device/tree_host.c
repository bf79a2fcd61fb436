/* Softened forces by trees in memory of the first device of a handle (device/tree.h): the trees of a handle, and calls
 * from the host. */
#include "gpunb/device/tree_host.h"
#include "common/team.h"
#include "gpunb/softened_device.h"
#include "gpunb/tree/essential_test.h"
#include "gpunb/tree/tree.h"

#include <string.h>

enum { TARGETS_OF_A_PART = 4096 }; /* copied by a thread in some ten microseconds */

/* Scratch of sorts of n keys, and of n_i places. */
static int ask_sorts(const struct device_gpu *gpu, size_t n, size_t n_i, size_t *of_build, size_t *of_force,
                     struct nbc_error *err)
{
    const struct gpunb_kernels *k = gpu->kernels;
    const int bits = TREE_KEY_BITS;
    *of_build = *of_force = 0;
    NBD_LAUNCH(err, &gpu->device, k->sort64(NULL, of_build, NULL, NULL, NULL, NULL, (int)n, bits, NULL));
    NBD_LAUNCH(err, &gpu->device, k->sort64(NULL, of_force, NULL, NULL, NULL, NULL, (int)n_i, bits, NULL));
    return NBC_OK;
}

/* ---- the trees of a handle */

static struct device_tree_force force_of(void *state, const struct gpunb_tree_use *use)
{
    struct device_state *devices = state;
    return (struct device_tree_force){
        .gpu = &devices->gpus[0], .use = use, .stream = devices->gpus[0].stream, .to_float = !devices->twofloat};
}

static struct softened_sources sources_of(const struct device_gpu *gpu)
{
    const struct device_source *sources = gpu->sources.data;
    return (struct softened_sources){.x = sources->x,
                                     .mass = &sources->m,
                                     .x_step = sizeof *sources,
                                     .mass_step = sizeof *sources,
                                     .mass_is_float = 1,
                                     .n = (int)gpu->n_j};
}

static int fill_kept(struct device_state *devices, const struct gpunb_tree_use *use, const struct gpunb_tree *tree,
                     int is_new, double *seconds, struct nbc_error *err)
{
    struct device_kept_tree *kept = tree->kept;
    struct device_gpu *gpu = kept->gpu;
    const struct device_tree_force force = force_of(devices, use);
    const struct softened_sources sources = sources_of(gpu);
    struct device_tree_building b = {.force = &force, .tree = &kept->tree, .sources = &sources, .shape = &kept->shape};
    size_t sort_bytes, unused;
    NBD_TRY(nbd_use(&gpu->device, err));
    NBD_TRY(gpunb_device_settle(devices, err));
    NBD_TRY(gpunb_device_make_expected(gpu, err));
    NBD_TRY(gpunb_device_tree_ready(gpu, err));
    if (is_new) {
        NBD_TRY(ask_sorts(gpu, gpu->n_j, 1, &sort_bytes, &unused, err));
        NBD_TRY(
            gpunb_device_reserve(gpu, &kept->memory, gpunb_device_tree_lay_out(use, gpu->n_j, NULL, &kept->tree), err));
        NBD_TRY(gpunb_device_reserve(gpu, &gpu->softened_work,
                                     gpunb_device_tree_lay_out_build(&kept->tree, sort_bytes, NULL, &b.scratch), err));
        gpunb_device_tree_lay_out(use, gpu->n_j, kept->memory.data, &kept->tree);
        kept->tree.root = tree_root_of(tree->build);
        gpunb_device_tree_lay_out_build(&kept->tree, sort_bytes, gpu->softened_work.data, &b.scratch);
        NBD_TRY(gpunb_device_tree_make_cells(&b, seconds, err));
    }
    const double begin = nbc_wtime();
    NBD_TRY(gpunb_device_tree_make_moments(&b, err));
    NBD_TRY(gpunb_device_tree_read(&b, err));
    seconds[GPUNB_TREE_MOMENTS] += nbc_wtime() - begin;
    devices->reading = 0;
    return gpunb_device_check_predictions(devices, err);
}

static int fill(void *state, const struct gpunb_tree_use *use, struct gpunb_tree *tree, int is_new, double *seconds,
                struct nbc_error *err)
{
    if (!gpunb_device_tree_record(state, tree)) return nbc_fail(err, NBC_NO_MEMORY, "gpunb: no memory for a tree");
    return fill_kept(state, use, tree, is_new, seconds, err);
}

static void drop(struct gpunb_tree *tree)
{
    struct device_kept_tree *kept = tree->kept;
    if (!kept) return;
    nbd_buffer_release(&kept->gpu->device, &kept->memory);
    nbd_buffer_release(&kept->gpu->device, &kept->on_host);
    nbd_buffer_release(&kept->gpu->device, &kept->choice);
    nbd_buffer_release(&kept->gpu->device, &kept->packed);
    for (int p = 0; p < kept->parts; p++) nbd_buffer_release(&kept->gpu->device, &kept->sent[p]);
    nbc_free(kept->sent);
    nbc_free(kept);
    tree->kept = NULL;
}

static void get_shape(const struct gpunb_tree *tree, size_t *cells, int *depth, size_t *largest_leaf, size_t *bytes)
{
    const struct device_kept_tree *kept = tree->kept;
    if (cells) *cells = (size_t)kept->shape.n_cells;
    if (depth) *depth = kept->shape.n_levels;
    if (largest_leaf) *largest_leaf = (size_t)kept->shape.largest;
    if (bytes) *bytes = sizeof *kept + kept->memory.bytes + kept->on_host.bytes;
}

static int add_counts(void *state, struct gpunb_tree_counts *counts, struct nbc_error *err)
{
    const struct device_gpu *gpu = &((const struct device_state *)state)->gpus[0];
    unsigned long long own[DEVICE_TREE_COUNTS];
    if (!gpu->tree_counts.data) return NBC_OK;
    NBD_TRY(nbd_wait(&gpu->device, err));
    NBD_TRY(nbd_copy(&gpu->device, gpu->stream, own, gpu->tree_counts.data, sizeof own, err));
    NBD_TRY(nbd_stream_wait(&gpu->device, gpu->stream, err));
    counts->groups += own[DEVICE_TREE_GROUPS];
    counts->targets += own[DEVICE_TREE_TARGETS];
    counts->tests += own[DEVICE_TREE_TESTS];
    counts->listed_cells += own[DEVICE_TREE_LISTED_CELLS];
    counts->listed_bodies += own[DEVICE_TREE_LISTED_BODIES];
    counts->cell_terms += own[DEVICE_TREE_CELL_TERMS];
    counts->pair_terms += own[DEVICE_TREE_PAIR_TERMS];
    counts->local_terms += own[DEVICE_TREE_LOCAL_TERMS];
    return NBC_OK;
}

/* ---- forces from the host, and back: [n_i] x, then acc_last and self as far as they are given */

struct call {
    struct device_state *devices;
    const struct gpunb_softened_job *job;
    int is_first;   /* as of struct device_tree_targets */
    int is_there;   /* targets are on the device, in their order */
    uint32_t *cost; /* [n_i] or NULL */
    size_t in_bytes, out_bytes;
};

/* The arrays of the targets in one piece of memory. */
static void find_targets(const struct gpunb_softened_job *job, void *in, struct device_tree_targets *t)
{
    double(*x)[3] = in;
    double(*behind)[3] = x + job->n_i;
    t->x = (const double(*)[3])x;
    t->acc_last = job->acc_last ? (const double(*)[3])behind : NULL;
    if (job->acc_last) behind += job->n_i;
    t->self = job->self ? (const void *)behind : NULL;
}

static void stage(void *context, int part, int parts)
{
    const struct call *call = context;
    const struct gpunb_softened_job *job = call->job;
    struct device_tree_targets to;
    int64_t first, end;
    find_targets(job, call->devices->host_targets.data, &to);
    nbc_range((int64_t)job->n_i, part, parts, &first, &end);
    const size_t n = (size_t)(end - first);
    memcpy((double(*)[3])(uintptr_t)(to.x + first), job->x + first, n * sizeof *job->x);
    if (to.acc_last)
        memcpy((double(*)[3])(uintptr_t)(to.acc_last + first), job->acc_last + first, n * sizeof *job->acc_last);
    if (to.self) memcpy((int32_t *)(uintptr_t)(to.self + first), job->self + first, n * sizeof *job->self);
}

static void collect(void *context, int part, int parts)
{
    const struct call *call = context;
    const struct gpunb_softened_job *job = call->job;
    const double(*acc)[3] = call->devices->gpus[0].host_softened.data;
    const double *pot = (const void *)(acc + job->n_i);
    int64_t first, end;
    nbc_range((int64_t)job->n_i, part, parts, &first, &end);
    const size_t n = (size_t)(end - first);
    const uint32_t *cost = (const void *)(pot + (job->pot ? job->n_i : 0));
    memcpy(job->acc + first, acc + first, n * sizeof *acc);
    if (job->pot) memcpy(job->pot + first, pot + first, n * sizeof *pot);
    if (call->cost) memcpy(call->cost + first, cost + first, n * sizeof *cost);
}

/* Memory of a call, and its targets there. */
static int place_call(const struct call *call, const struct gpunb_tree_use *use, struct device_tree_targets *targets,
                      struct device_tree_force_scratch *scratch, struct nbc_error *err)
{
    struct device_gpu *gpu = &call->devices->gpus[0];
    const struct gpunb_softened_job *job = call->job;
    size_t of_build, of_force;
    *targets = (struct device_tree_targets){
        .n = job->n_i, .softening = job->softening, .is_first = call->is_first, .is_ordered = call->is_there};
    NBD_TRY(ask_sorts(gpu, 1, job->n_i, &of_build, &of_force, err));
    NBD_TRY(gpunb_device_reserve(gpu, &gpu->softened_in, call->in_bytes, err));
    NBD_TRY(gpunb_device_reserve(gpu, &gpu->softened_out, call->out_bytes, err));
    NBD_TRY(gpunb_device_reserve(gpu, &gpu->host_softened, call->out_bytes, err));
    NBD_TRY(gpunb_device_reserve(gpu, &gpu->softened_work,
                                 gpunb_device_tree_lay_out_force(use, job->n_i, of_force, NULL, scratch), err));
    gpunb_device_tree_lay_out_force(use, job->n_i, of_force, gpu->softened_work.data, scratch);
    find_targets(job, gpu->softened_in.data, targets);
    if (call->is_there) return NBC_OK;
    gpu->bytes_sent += call->in_bytes;
    return nbd_copy(&gpu->device, gpu->stream, gpu->softened_in.data, call->devices->host_targets.data, call->in_bytes,
                    err);
}

/* Targets to the device, unless they are there, their sums and the way back, which is waited for. */
static int sum_call(struct call *call, const struct gpunb_tree_use *use, const struct device_tree *tree,
                    struct nbc_error *err)
{
    struct device_state *devices = call->devices;
    struct device_gpu *gpu = &devices->gpus[0];
    const struct gpunb_softened_job *job = call->job;
    const struct device_tree_force force = force_of(devices, use);
    struct device_tree_targets targets;
    struct device_tree_force_scratch scratch;
    NBD_TRY(place_call(call, use, &targets, &scratch, err));
    targets.acc = gpu->softened_out.data;
    double *behind = (void *)(targets.acc + job->n_i);
    targets.pot = job->pot ? behind : NULL;
    targets.cost = call->cost ? (void *)(behind + (job->pot ? job->n_i : 0)) : NULL;
    NBD_TRY(gpunb_device_tree_sum(&force, tree, &targets, &scratch, err));
    NBD_TRY(nbd_copy(&gpu->device, gpu->stream, gpu->host_softened.data, targets.acc, call->out_bytes, err));
    devices->bytes_received += call->out_bytes;
    return nbd_stream_wait(&gpu->device, gpu->stream, err);
}

/* Targets into memory that the device reads. */
static int begin_call(struct call *call, struct nbc_error *err)
{
    struct device_state *devices = call->devices;
    struct device_gpu *gpu = &devices->gpus[0];
    const struct gpunb_softened_job *job = call->job;
    call->in_bytes =
        job->n_i * (sizeof *job->x + (job->acc_last ? sizeof *job->acc_last : 0) + (job->self ? sizeof *job->self : 0));
    if (job->n_i > INT32_MAX)
        return nbc_fail(err, NBC_BAD_ARGUMENT, "gpunb_softened: %zu targets, but numbers are 32-bit", job->n_i);
    NBD_TRY(nbd_use(&gpu->device, err));
    NBD_TRY(gpunb_device_settle(devices, err));
    if (call->is_there) return NBC_OK;
    NBD_TRY(gpunb_device_reserve(gpu, &devices->host_targets, call->in_bytes, err));
    nbc_team_run(nbc_parts((int64_t)job->n_i, TARGETS_OF_A_PART), stage, call);
    return NBC_OK;
}

static int measure_call(struct call *call, struct gpunb_tree *tree, const struct essential_measure **measure,
                        struct nbc_error *err)
{
    struct device_state *devices = call->devices;
    struct device_gpu *gpu = &devices->gpus[0];
    const struct device_kept_tree *kept = tree->kept;
    const struct device_tree_force force = force_of(devices, tree->use);
    struct device_tree_targets targets;
    struct device_tree_force_scratch scratch;
    void *to;
    NBD_TRY(place_call(call, tree->use, &targets, &scratch, err));
    NBD_TRY(gpunb_device_tree_measure(&force, &kept->tree, &targets, &scratch, gpu->softened_out.data, err));
    NBD_TRY(gpunb_device_tree_fetch_top(tree, call->out_bytes, &to, err));
    *measure = to;
    NBD_TRY(nbd_copy(&gpu->device, gpu->stream, to, gpu->softened_out.data, call->out_bytes, err));
    return nbd_stream_wait(&gpu->device, gpu->stream, err);
}

static int measure_targets(void *state, struct gpunb_tree *tree, const struct gpunb_softened_job *job,
                           const struct essential_measure **measure, size_t *groups, struct nbc_error *err)
{
    struct call call = {.devices = state, .job = job};
    void *unused;
    *measure = NULL;
    *groups = job->n_i > 0 ? gpunb_device_tree_groups(tree->use, job->n_i) : 0;
    call.out_bytes = *groups * sizeof **measure;
    NBD_TRY(begin_call(&call, err));
    if (job->n_i == 0) {
        NBD_TRY(gpunb_device_tree_fetch_top(tree, 0, &unused, err));
        return nbd_stream_wait(&call.devices->gpus[0].device, call.devices->gpus[0].stream, err);
    }
    call.devices->in_flight = 1;
    NBD_TRY(measure_call(&call, tree, measure, err));
    call.devices->in_flight = 0;
    return NBC_OK;
}

static int part_force(void *state, const struct gpunb_tree *tree, const struct gpunb_softened_job *job, int is_first,
                      int is_there, uint32_t *cost, double *seconds, struct nbc_error *err)
{
    struct device_state *devices = state;
    const struct device_kept_tree *kept = tree->kept;
    const int parts = nbc_parts((int64_t)job->n_i, TARGETS_OF_A_PART);
    const double begin = nbc_wtime();
    struct call call = {.devices = devices, .job = job, .is_first = is_first, .is_there = is_there, .cost = cost};
    call.out_bytes = job->n_i * (sizeof *job->acc + (job->pot ? sizeof *job->pot : 0) + (cost ? sizeof *cost : 0));
    NBD_TRY(begin_call(&call, err));
    devices->in_flight = 1;
    NBD_TRY(sum_call(&call, tree->use, &kept->tree, err));
    devices->in_flight = 0;
    nbc_team_run(parts, collect, &call);
    seconds[GPUNB_TREE_LISTS] += nbc_wtime() - begin;
    return NBC_OK;
}

static int make_force(void *state, const struct gpunb_tree *tree, const struct gpunb_softened_job *job, double *seconds,
                      struct nbc_error *err)
{
    return part_force(state, tree, job, 0, 0, NULL, seconds, err);
}

/* ---- in device memory: the scratch holds a tree that is not kept, then what builds it, or what the force needs */

/* Parts of the scratch behind the tree. */
struct work {
    struct device_tree_scratch build;
    struct device_tree_force_scratch force;
};

/* @param[out] bytes  of both, which are not needed at a time */
static int lay_out_work(const struct device_gpu *gpu, const struct gpunb_tree_use *use, size_t n_i,
                        const struct device_tree *tree, char *at, struct work *work, size_t *bytes,
                        struct nbc_error *err)
{
    size_t of_build, of_force;
    NBD_TRY(ask_sorts(gpu, (size_t)tree->n, n_i > 0 ? n_i : 1, &of_build, &of_force, err));
    const size_t one = gpunb_device_tree_lay_out_build(tree, of_build, at, &work->build),
                 other = gpunb_device_tree_lay_out_force(use, n_i, of_force, at, &work->force);
    *bytes = one > other ? one : other;
    return NBC_OK;
}

static int work_bytes(void *state, const struct gpunb_tree_use *use, size_t n_i, size_t n_j, size_t *tree,
                      size_t *bytes, struct nbc_error *err)
{
    struct device_tree of_tree;
    struct work work;
    *tree = *bytes = 0;
    if (n_i == 0 || n_j == 0) return NBC_OK;
    *tree = gpunb_device_tree_lay_out(use, n_j, NULL, &of_tree);
    return lay_out_work(&((const struct device_state *)state)->gpus[0], use, n_i, &of_tree, NULL, &work, bytes, err);
}

/* A force of bodies in device memory. */
struct device_tree_job {
    struct device_tree_force force;
    struct softened_sources sources;
    struct device_tree tree; /* that is not kept, and its shape */
    struct device_tree_shape shape;
    struct work work;
    struct device_tree_building building;
};

static int has_new_cells(const struct gpunb_softened_device *job)
{
    return job->kept != GPUNB_TREE_RENEWED;
}

static int open_job(void *state, const struct gpunb_tree_use *use, const struct gpunb_softened_device *job,
                    void *stream, struct device_tree_job *f, struct nbc_error *err)
{
    struct device_state *devices = state;
    struct device_kept_tree *kept = job->kept == GPUNB_TREE_NOT_KEPT ? NULL : job->tree->kept;
    size_t bytes, before = 0;
    f->force = force_of(state, use);
    f->force.stream = stream;
    f->sources = (struct softened_sources){.x = job->x_j,
                                           .mass = job->mass,
                                           .x_step = sizeof *job->x_j,
                                           .mass_step = sizeof *job->mass,
                                           .n = (int)job->n_j};
    f->building = (struct device_tree_building){.force = &f->force,
                                                .tree = kept ? &kept->tree : &f->tree,
                                                .sources = &f->sources,
                                                .shape = kept ? &kept->shape : &f->shape};
    NBD_TRY(gpunb_device_tree_ready(&devices->gpus[0], err));
    if (kept && job->kept == GPUNB_TREE_BUILT) {
        job->tree->has_cells = 0;
        NBD_TRY(gpunb_device_tree_provide(state, use, job->tree, job->n_j, err));
    }
    if (!kept) before = gpunb_device_tree_lay_out(use, job->n_j, job->work, &f->tree);
    if (has_new_cells(job)) f->building.tree->root = tree_root_of(job->build);
    NBD_TRY(
        lay_out_work(f->force.gpu, use, job->n_i, f->building.tree, (char *)job->work + before, &f->work, &bytes, err));
    f->building.scratch = f->work.build;
    return NBC_OK;
}

static int begin(void *state, const struct gpunb_tree_use *use, const struct gpunb_softened_device *job, void *stream,
                 struct nbc_error *err)
{
    struct device_tree_job f;
    if (!has_new_cells(job)) return NBC_OK;
    NBD_TRY(open_job(state, use, job, stream, &f, err));
    return gpunb_device_tree_begin_cells(&f.building, err);
}

static int make_cells(const struct device_tree_job *f, const struct gpunb_softened_device *job, struct nbc_error *err)
{
    const struct device_tree *tree = f->building.tree;
    if (has_new_cells(job) && !job->is_begun) NBD_TRY(gpunb_device_tree_begin_cells(&f->building, err));
    if (has_new_cells(job)) NBD_TRY(gpunb_device_tree_end_cells(&f->building, err));
    if (!job->order) return NBC_OK;
    return nbd_copy(&f->force.gpu->device, f->force.stream, job->order, tree->number, job->n_j * sizeof *job->order,
                    err);
}

/* Cells, unless they are kept, multipoles and forces. */
static int enqueue(void *state, const struct gpunb_tree_use *use, const struct gpunb_softened_device *job, void *stream,
                   struct nbc_error *err)
{
    const struct device_tree_targets targets = {.x = job->x_i,
                                                .self = job->self,
                                                .acc_last = job->acc_last,
                                                .acc = job->acc,
                                                .pot = job->pot,
                                                .cost = job->cost,
                                                .n = job->n_i,
                                                .softening = job->softening};
    struct device_tree_job f;
    NBD_TRY(open_job(state, use, job, stream, &f, err));
    NBD_TRY(make_cells(&f, job, err));
    NBD_TRY(gpunb_device_tree_make_moments(&f.building, err));
    if (job->n_i > 0) NBD_TRY(gpunb_device_tree_sum(&f.force, f.building.tree, &targets, &f.work.force, err));
    if (job->kept != GPUNB_TREE_NOT_KEPT) job->tree->has_cells = 1;
    return NBC_OK;
}

static const struct gpunb_tree_device in_memory_of_a_device = {
    .fill = fill,
    .force = make_force,
    .drop = drop,
    .shape = get_shape,
    .add_counts = add_counts,
    .bytes = work_bytes,
    .begin = begin,
    .enqueue = enqueue,
    .provide = gpunb_device_tree_provide,
    .renumber = gpunb_device_tree_renumber,
    .get_layout = gpunb_device_tree_get_layout,
    .restore = gpunb_device_tree_restore,
    .fetch = gpunb_device_tree_fetch,
    .measure = measure_targets,
    .give = gpunb_device_tree_give,
    .join = gpunb_device_tree_join,
    .part_force = part_force,
};

const struct gpunb_tree_method gpunb_device_tree_method = {
    .device = &in_memory_of_a_device,
    .least_error = 1e-6,
};
