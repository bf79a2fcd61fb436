#include "gpunb/device/regular_tree_host.h"

#include "gpunb/device/regular_tree.h"
#include "gpunb/device/tree_host.h"
#include "gpunb/regf_device.h"
#include "gpunb/tree/regular.h"

enum { TARGETS_MORE = 1024, REGIONS_MORE = 64 };

struct device_regular_kept {
    struct gpunb_tree_use use; /* settings of its tree */
    struct device_regular_tree tree;
    struct device_tree_shape shape;
    uint64_t version; /* of the sources; 0: unknown */
    uint64_t build;   /* its number */
    void *scratch;    /* where it is; NULL: there is none */
};

/* Parts of the scratch that no tree stays in. */
struct work {
    struct device_tree_scratch build;
    void *sort;
    size_t sort_bytes;
};

/* A call on its way. */
struct call {
    const struct device_gpu *gpu;
    const struct gpunb_regular_tree_kernels *kernels;
    struct device_regular_kept *kept;
    struct nbd_stream *stream;
    struct work work;
};

void gpunb_device_regular_forget(struct device_state *devices)
{
    nbc_free(devices->regular_tree);
    devices->regular_tree = NULL;
}

/* ---- memory */

static struct gpunb_tree_use settings_of(const struct gpunb_tree_use *use)
{
    struct gpunb_tree_use own = *use;
    own.sizes.order = REGULAR_ORDER;
    own.sizes.leaf = use->leaf_asked > 0 ? use->leaf_asked : REGULAR_LEAF;
    return own;
}

/* Arrays of targets, of which there may be as many as sources. */
static size_t lay_out_targets(struct device_regular_tree *t, size_t n, size_t sort_bytes, char *at, struct work *work)
{
    struct device_tree_layout l = {at, 0};
    const size_t regions = 2 * n / REGULAR_REGION_FROM + REGIONS_MORE, groups = 2 * n + TARGETS_MORE;
    t->key = gpunb_device_tree_take(&l, n, sizeof *t->key);
    t->sorted_key = gpunb_device_tree_take(&l, n, sizeof *t->sorted_key);
    t->number = gpunb_device_tree_take(&l, n, sizeof *t->number);
    t->order = gpunb_device_tree_take(&l, n, sizeof *t->order);
    t->target = gpunb_device_tree_take(&l, n, sizeof *t->target);
    t->parent = gpunb_device_tree_take(&l, (size_t)t->tree.room, sizeof *t->parent);
    t->region_of = gpunb_device_tree_take(&l, (size_t)t->tree.room, sizeof *t->region_of);
    t->region = gpunb_device_tree_take(&l, regions, sizeof *t->region);
    t->region_cell = gpunb_device_tree_take(&l, regions, sizeof *t->region_cell);
    t->acting = gpunb_device_tree_take(&l, regions * REGULAR_LEFT, sizeof *t->acting);
    t->left = gpunb_device_tree_take(&l, regions * REGULAR_LEFT, sizeof *t->left);
    t->group = gpunb_device_tree_take(&l, groups, sizeof *t->group);
    t->counters = gpunb_device_tree_take(&l, 1, sizeof *t->counters);
    work->sort = gpunb_device_tree_take(&l, sort_bytes, 1);
    work->sort_bytes = sort_bytes;
    t->region_room = (int)regions;
    t->group_room = (int)groups;
    return l.bytes;
}

/* The tree stays; behind it is what builds it, and then what forces need. */
static size_t lay_out(const struct gpunb_tree_use *use, size_t n, size_t sort_bytes, char *at,
                      struct device_regular_tree *t, struct work *work)
{
    struct device_tree_layout l = {at, 0};
    l.bytes = gpunb_device_tree_lay_out(use, n, at, &t->tree);
    const size_t cells = (size_t)t->tree.room;
    t->v = gpunb_device_tree_take(&l, n, sizeof *t->v);
    t->sorted = gpunb_device_tree_take(&l, n, sizeof *t->sorted);
    t->motion = gpunb_device_tree_take(&l, cells, sizeof *t->motion);
    t->rate = gpunb_device_tree_take(&l, cells * (size_t)t->tree.view.moments, sizeof *t->rate);
    t->term = gpunb_device_tree_take(&l, cells * REGULAR_ROW_ROOM, sizeof *t->term);
    char *behind = at ? at + l.bytes : NULL;
    struct device_tree_layout of_build = {behind, 0};
    of_build.bytes = gpunb_device_tree_lay_out_build(&t->tree, sort_bytes, behind, &work->build);
    t->x_all = gpunb_device_tree_take(&of_build, n, sizeof *t->x_all);
    t->mass_all = gpunb_device_tree_take(&of_build, n, sizeof *t->mass_all);
    const size_t of_force = lay_out_targets(t, n, sort_bytes, behind, work);
    return l.bytes + (of_build.bytes > of_force ? of_build.bytes : of_force);
}

static int ask_sort(const struct device_gpu *gpu, size_t n, size_t *bytes, struct nbc_error *err)
{
    *bytes = 0;
    NBD_LAUNCH(err, &gpu->device,
               gpu->kernels->sort64(NULL, bytes, NULL, NULL, NULL, NULL, (int)n, TREE_KEY_BITS, NULL));
    return NBC_OK;
}

int gpunb_device_regular_tree_bytes(struct device_state *devices, const struct gpunb_tree_use *use, size_t n,
                                    size_t *bytes, struct nbc_error *err)
{
    struct device_gpu *gpu = &devices->gpus[0];
    const struct gpunb_tree_use own = settings_of(use);
    struct device_regular_tree t;
    struct work work;
    size_t sort_bytes;
    *bytes = 0;
    if (n == 0) return NBC_OK;
    if (!devices->regular_tree) devices->regular_tree = nbc_alloc(1, sizeof *devices->regular_tree);
    if (!devices->regular_tree) return nbc_fail(err, NBC_NO_MEMORY, "gpunb_regf: no memory for a tree");
    NBD_TRY(gpunb_device_tree_ready(gpu, err));
    NBD_TRY(ask_sort(gpu, n, &sort_bytes, err));
    *bytes = lay_out(&own, n, sort_bytes, NULL, &t, &work);
    return NBC_OK;
}

/* ---- the tree */

/* @param[out] is_sound  0: a mass is negative */
static int build(const struct call *c, int *is_sound, struct nbc_error *err)
{
    struct device_regular_kept *kept = c->kept;
    struct device_regular_tree *t = &kept->tree;
    const struct nbd_device *device = &c->gpu->device;
    const struct device_tree_force force = {.gpu = c->gpu, .use = &kept->use, .stream = c->stream};
    const struct softened_sources sources = {.x = t->x_all,
                                             .mass = t->mass_all,
                                             .x_step = sizeof *t->x_all,
                                             .mass_step = sizeof *t->mass_all,
                                             .n = t->tree.n};
    const struct device_tree_building b = {
        .force = &force, .tree = &t->tree, .sources = &sources, .scratch = c->work.build, .shape = &kept->shape};
    NBD_LAUNCH(err, device, c->kernels->sources(t, c->stream));
    NBD_LAUNCH(err, device, c->gpu->kernels->tree->check(&t->tree, &sources, c->stream));
    NBD_TRY(gpunb_device_tree_begin_cells(&b, err));
    NBD_TRY(gpunb_device_tree_end_cells(&b, err));
    *is_sound = kept->shape.negative == DEVICE_TREE_NO_SOURCE;
    if (!*is_sound) return NBC_OK;
    NBD_TRY(gpunb_device_tree_make_moments(&b, err));
    NBD_LAUNCH(err, device, c->kernels->sort(t, c->stream));
    NBD_LAUNCH(err, device, c->kernels->leaves(t, kept->shape.n_cells, c->stream));
    for (int l = kept->shape.n_levels - 1; l >= 0; l--)
        NBD_LAUNCH(err, device, c->kernels->wholes(t, kept->shape.level[l], kept->shape.level[l + 1], c->stream));
    NBD_LAUNCH(err, device, c->kernels->rows(t, kept->shape.n_cells, c->stream));
    return NBC_OK;
}

/* ---- forces */

static int order_targets(const struct call *c, struct nbc_error *err)
{
    const struct device_regular_tree *t = &c->kept->tree;
    const struct device_tree_shape *shape = &c->kept->shape;
    const struct nbd_device *device = &c->gpu->device;
    struct regular_counters *n = t->counters;
    size_t bytes = c->work.sort_bytes;
    NBD_LAUNCH(err, device, c->kernels->places(t, c->stream));
    NBD_LAUNCH(err, device,
               c->gpu->kernels->sort64(c->work.sort, &bytes, t->key, t->sorted_key, t->number, t->order, t->n_i,
                                       gpunb_device_tree_bits((size_t)t->tree.n), c->stream));
    NBD_LAUNCH(err, device, c->kernels->targets(t, c->stream));
    NBD_TRY(nbd_fill(device, c->stream, n, 0, sizeof *n, err));
    for (int l = 0; l < shape->n_levels; l++) {
        NBD_LAUNCH(err, device, c->kernels->plan(t, shape->level[l], shape->level[l + 1], c->stream));
        NBD_TRY(nbd_copy(device, c->stream, &n->begin[l + 1], &n->regions, sizeof n->regions, err));
    }
    return nbd_copy(device, c->stream, &n->end[0], &n->groups, sizeof n->groups, err);
}

/* Regions of a level, at most. */
static int most_regions(const struct call *c, int level)
{
    const struct device_tree_shape *shape = &c->kept->shape;
    const int cells = shape->level[level + 1] - shape->level[level], most = c->kept->tree.n_i / REGULAR_REGION_FROM;
    return cells < most ? cells : most;
}

/* Regions level by level, since lists and expansions begin with those of the regions around. */
static int make_regions(const struct call *c, struct nbc_error *err)
{
    const struct device_regular_tree *t = &c->kept->tree;
    const struct nbd_device *device = &c->gpu->device;
    const int levels = c->kept->shape.n_levels;
    int all = 0;
    for (int l = 0; l < levels; l++) {
        const int most = most_regions(c, l);
        if (most > 0) NBD_LAUNCH(err, device, c->kernels->regions(t, l, most, c->stream));
        all = most < t->region_room - all ? all + most : t->region_room;
    }
    if (all > 0) NBD_LAUNCH(err, device, c->kernels->expand(t, levels, all, c->stream));
    for (int l = 0; l < levels; l++) {
        const int most = most_regions(c, l);
        if (most > 0) NBD_LAUNCH(err, device, c->kernels->around(t, l, most, c->stream));
    }
    return NBC_OK;
}

/* Walks for all regions, then groups. */
static int walk(const struct call *c, struct nbc_error *err)
{
    const struct device_regular_tree *t = &c->kept->tree;
    const struct nbd_device *device = &c->gpu->device;
    struct regular_counters *n = t->counters;
    NBD_TRY(nbd_copy(device, c->stream, &n->groups, &n->end[0], sizeof n->groups, err));
    NBD_TRY(make_regions(c, err));
    NBD_LAUNCH(err, device, c->kernels->fields(t, c->stream));
    for (int stage = 0; stage < REGULAR_STAGES; stage++) {
        NBD_TRY(nbd_copy(device, c->stream, &n->end[stage], &n->groups, sizeof n->groups, err));
        NBD_LAUNCH(err, device, c->kernels->cells(t, stage, c->stream));
    }
    NBD_LAUNCH(err, device, c->kernels->pairs(t, c->stream));
    return NBC_OK;
}

/* Without last accelerations a force by angle comes first. */
static int make_forces(const struct call *c, struct gpunb_tree_counts *counts, int has_last, struct nbc_error *err)
{
    struct device_regular_tree *t = &c->kept->tree;
    t->rule = gpunb_regular_rule(c->kept->use.force_error);
    t->rule.order = REGULAR_ORDER;
    t->term_rule = gpunb_regular_term_rule(c->kept->use.force_error, REGULAR_ORDER);
    t->heavy = gpunb_regular_heavy_part();
    t->has_sizes = has_last;
    if (!has_last) {
        const struct tree_rule rule = t->rule, term_rule = t->term_rule;
        t->rule.aim2 = t->term_rule.aim2 = 0;
        NBD_TRY(walk(c, err));
        NBD_LAUNCH(err, &c->gpu->device, c->kernels->sizes(t, c->stream));
        counts->first_forces++;
        t->rule = rule;
        t->term_rule = term_rule;
        t->has_sizes = 1;
    }
    NBD_TRY(walk(c, err));
    counts->forces++;
    return NBC_OK;
}

/* Arguments of the call, on their way to the device. */
static void set_job(struct device_regular_tree *t, const struct gpunb_regf_device *job)
{
    t->source = job->source;
    t->asked = job->asked;
    t->n_i = (int)job->n_i;
    t->lists = job->lists;
    t->row_room = (int64_t)job->row_room;
    t->weighted = job->weighted;
}

static int provide_tree(const struct call *c, struct gpunb_tree_use *use, const struct gpunb_regf_device *job,
                        uint64_t version, void *scratch, int *is_sound, struct nbc_error *err)
{
    struct device_regular_kept *kept = c->kept;
    const int is_there = kept->scratch == scratch && kept->tree.tree.n == (int)job->n_j &&
                         kept->tree.weighted == job->weighted,
              is_same = job->is_again || (version > 0 && kept->version == version && kept->build == job->build);
    *is_sound = 1;
    if (is_there && is_same) {
        set_job(&kept->tree, job);
        return NBC_OK;
    }
    kept->scratch = NULL;
    kept->use = settings_of(use);
    kept->tree = (struct device_regular_tree){.counts = c->gpu->tree_counts.data};
    struct work work;
    lay_out(&kept->use, job->n_j, c->work.sort_bytes, scratch, &kept->tree, &work);
    set_job(&kept->tree, job);
    kept->tree.tree.root = tree_root_of(job->build);
    NBD_TRY(build(c, is_sound, err));
    kept->version = version;
    kept->build = job->build;
    if (*is_sound) kept->scratch = scratch;
    use->counts.builds += (uint64_t)*is_sound;
    return NBC_OK;
}

int gpunb_device_regular_tree(struct device_state *devices, struct gpunb_tree_use *use,
                              const struct gpunb_regf_device *job, uint64_t version, void *scratch,
                              struct nbd_stream *stream, const int32_t **order, struct nbc_error *err)
{
    const struct device_gpu *gpu = &devices->gpus[0];
    struct call c = {
        .gpu = gpu, .kernels = gpu->kernels->regular_tree, .kept = devices->regular_tree, .stream = stream};
    const struct gpunb_tree_use own = settings_of(use);
    struct device_regular_tree t;
    size_t sort_bytes;
    int is_sound;
    *order = NULL;
    NBD_TRY(nbd_use(&gpu->device, err));
    NBD_TRY(ask_sort(gpu, job->n_j, &sort_bytes, err));
    lay_out(&own, job->n_j, sort_bytes, scratch, &t, &c.work);
    NBD_TRY(provide_tree(&c, use, job, version, scratch, &is_sound, err));
    if (!is_sound) return NBC_OK;
    NBD_TRY(order_targets(&c, err));
    NBD_TRY(make_forces(&c, &use->counts, job->has_last, err));
    *order = c.kept->tree.order;
    return NBC_OK;
}
