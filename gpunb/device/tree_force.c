/* Forces of a tree in memory of a device: lists of all groups in a launch. */
#include "gpunb/device/tree_host.h"

enum { LEAST_REGION = 256, PARTS_OF_A_RUN = 8, TARGETS_WORTH_A_SAMPLE = 32768 };

static int is_one_by_one(const struct gpunb_tree_use *use)
{
    return use->walk == GPUNB_WALK_ONE_BY_ONE_I || use->walk == GPUNB_WALK_ONE_BY_ONE_J;
}

static int has_groups(const struct gpunb_tree_use *use)
{
    return !is_one_by_one(use) && use->walk != GPUNB_WALK_SINGLE;
}

/* Targets of a list. */
static int group_for(const struct gpunb_tree_use *use, size_t n_i)
{
    const int group = use->walk == GPUNB_WALK_SINGLE ? 1 : use->sizes.group;
    return has_groups(use) ? tree_group_of_device(group, n_i) : group;
}

/* The least number of targets of a region; 0: there are none. It does not depend on the number of targets, so that more
 * of them never need less memory. */
static size_t least_region(const struct gpunb_tree_use *use, size_t n_i)
{
    const int least = DEVICE_TREE_REGION_GROUPS * use->sizes.group,
              has_regions =
                  use->walk == GPUNB_WALK_FMM || (use->walk == GPUNB_WALK_HYBRID && n_i >= TREE_TARGETS_WORTH_REGIONS);
    return !has_regions ? 0 : least > LEAST_REGION ? (size_t)least : LEAST_REGION;
}

/* Targets of a region: whole groups. */
static int region_targets(const struct gpunb_tree_use *use, size_t n_i)
{
    const size_t group = (size_t)group_for(use, n_i);
    return (int)((least_region(use, n_i) + group - 1) / group * group);
}

/* Scratch of the order of targets. */
static void lay_out_order(struct device_tree_layout *l, size_t n_i, size_t sort_bytes,
                          struct device_tree_force_scratch *s)
{
    s->key = gpunb_device_tree_take(l, n_i, sizeof *s->key);
    s->sorted_key = gpunb_device_tree_take(l, n_i, sizeof *s->sorted_key);
    s->number = gpunb_device_tree_take(l, n_i, sizeof *s->number);
    s->sort = gpunb_device_tree_take(l, sort_bytes, 1);
    s->sort_bytes = sort_bytes;
}

/* Scratch of the walks. */
static void lay_out_walks(struct device_tree_layout *l, const struct gpunb_tree_use *use, size_t n_i,
                          struct device_tree_force_scratch *s)
{
    const size_t shares = use->walk == GPUNB_WALK_ONE_BY_ONE_J ? DEVICE_TREE_SHARES : 0;
    s->first = gpunb_device_tree_take(l, use->theta == 0 ? n_i : 0, sizeof *s->first);
    s->partial = gpunb_device_tree_take(l, shares * (size_t)use->sizes.group, 4 * sizeof *s->partial);
    const size_t region = least_region(use, n_i), regions = region > 0 ? n_i / region + 1 : 0;
    s->region = gpunb_device_tree_take(l, regions, sizeof *s->region);
    s->region_cell = gpunb_device_tree_take(l, regions * DEVICE_TREE_REGION_CELLS, sizeof *s->region_cell);
    s->sampled = gpunb_device_tree_take(l, 1, sizeof *s->sampled);
    for (int k = 0; k < 2; k++)
        s->left[k] = gpunb_device_tree_take(l, sizeof *s->left[k] + n_i * sizeof s->left[k]->run[0], 1);
}

/* Walks begin when the targets have their order: both have the same memory. */
size_t gpunb_device_tree_lay_out_force(const struct gpunb_tree_use *use, size_t n_i, size_t sort_bytes, char *at,
                                       struct device_tree_force_scratch *s)
{
    struct device_tree_layout l = {at, 0};
    s->order = gpunb_device_tree_take(&l, n_i, sizeof *s->order);
    struct device_tree_layout of_order = l;
    lay_out_order(&of_order, n_i, sort_bytes, s);
    lay_out_walks(&l, use, n_i, s);
    return l.bytes > of_order.bytes ? l.bytes : of_order.bytes;
}

/* Lists that are some times as long as usual ones are left for smaller groups: an eighth of the targets, then single
 * ones. A sample of groups tells the usual length. */
static int launch_left(const struct device_tree_force *f, const struct device_tree_walk *walk,
                       const struct device_tree_force_scratch *s, struct nbc_error *err)
{
    const struct gpunb_tree_kernels *k = f->gpu->kernels->tree;
    struct device_tree_walk again = *walk;
    again.again = s->left[0];
    again.left = s->left[1];
    again.parts = PARTS_OF_A_RUN;
    NBD_LAUNCH(err, &f->gpu->device, k->walk(&again, f->stream));
    again.again = s->left[1];
    again.parts = DEVICE_TREE_MOST_TARGETS / PARTS_OF_A_RUN;
    again.has_limit = 0;
    NBD_LAUNCH(err, &f->gpu->device, k->walk(&again, f->stream));
    return NBC_OK;
}

static int launch_sample(const struct device_tree_force *f, const struct device_tree_walk *walk,
                         const struct device_tree_force_scratch *s, struct nbc_error *err)
{
    struct device_tree_walk sample = *walk;
    for (int n = 0; n < 2; n++)
        NBD_TRY(nbd_fill(&f->gpu->device, f->stream, &s->left[n]->n, 0, sizeof s->left[n]->n, err));
    NBD_TRY(nbd_fill(&f->gpu->device, f->stream, s->sampled, 0, sizeof *s->sampled, err));
    sample.sample = 1;
    sample.n_groups = (walk->n_i + walk->group - 1) / walk->group;
    NBD_LAUNCH(err, &f->gpu->device, f->gpu->kernels->tree->walk(&sample, f->stream));
    return NBC_OK;
}

/* All groups at once, or a launch for each. */
static int launch_walks(const struct device_tree_force *f, struct device_tree_walk *walk,
                        const struct device_tree_force_scratch *s, struct nbc_error *err)
{
    const struct gpunb_tree_kernels *k = f->gpu->kernels->tree;
    if (walk->region_targets > 0) NBD_LAUNCH(err, &f->gpu->device, k->regions(walk, f->stream));
    if (walk->has_limit) NBD_TRY(launch_sample(f, walk, s, err));
    const int groups = (walk->n_i + walk->group - 1) / walk->group, each = is_one_by_one(f->use) ? 1 : groups;
    for (int g = 0; g < groups; g += each) {
        walk->first_group = g;
        walk->n_groups = each;
        NBD_LAUNCH(err, &f->gpu->device, k->walk(walk, f->stream));
        if (walk->shares > 1) NBD_LAUNCH(err, &f->gpu->device, k->add_shares(walk, f->stream));
    }
    return walk->has_limit ? launch_left(f, walk, s, err) : NBC_OK;
}

static struct device_tree_walk walk_of(const struct device_tree_force *f, const struct device_tree *tree,
                                       const struct device_tree_targets *targets,
                                       const struct device_tree_force_scratch *s)
{
    const struct gpunb_softened_job job = {.softening = targets->softening, .pot = targets->pot};
    return (struct device_tree_walk){
        .tree = *tree,
        .x = targets->x,
        .self = targets->self,
        .order = s->order,
        .acc_last = f->use->theta > 0 ? NULL : targets->acc_last,
        .acc = targets->acc,
        .pot = targets->pot,
        .cost = targets->cost,
        .n_i = (int)targets->n,
        .group = group_for(f->use, targets->n),
        .has_terms = f->use->walk != GPUNB_WALK_FMM,
        .region_targets = region_targets(f->use, targets->n),
        .region = s->region,
        .region_cell = s->region_cell,
        .shares = f->use->walk == GPUNB_WALK_ONE_BY_ONE_J ? DEVICE_TREE_SHARES : 1,
        .partial = s->partial,
        .has_limit = has_groups(f->use) && targets->n >= TARGETS_WORTH_A_SAMPLE,
        .sampled = s->sampled,
        .left = s->left[0],
        .rule = gpunb_tree_rule(f->use, &job),
        .softening = targets->softening,
        .nearest = TREE_NEAREST / f->use->aim,
        .rounded = f->to_float,
        .counts = f->gpu->tree_counts.data,
    };
}

static int order_targets(const struct device_tree_force *f, const struct device_tree_walk *walk,
                         const struct device_tree_force_scratch *s, struct nbc_error *err)
{
    const struct gpunb_tree_kernels *k = f->gpu->kernels->tree;
    size_t bytes = s->sort_bytes;
    NBD_LAUNCH(err, &f->gpu->device, k->targets(walk, s->key, s->number, f->stream));
    NBD_LAUNCH(err, &f->gpu->device,
               f->gpu->kernels->sort64(s->sort, &bytes, s->key, s->sorted_key, s->number, s->order, walk->n_i,
                                       gpunb_device_tree_bits((size_t)walk->tree.n), f->stream));
    return NBC_OK;
}

size_t gpunb_device_tree_groups(const struct gpunb_tree_use *use, size_t n_i)
{
    const size_t group = (size_t)group_for(use, n_i);
    return (n_i + group - 1) / group;
}

int gpunb_device_tree_measure(const struct device_tree_force *f, const struct device_tree *tree,
                              const struct device_tree_targets *targets, const struct device_tree_force_scratch *s,
                              struct essential_measure *measure, struct nbc_error *err)
{
    const struct device_tree_walk walk = walk_of(f, tree, targets, s);
    NBD_TRY(order_targets(f, &walk, s, err));
    NBD_LAUNCH(err, &f->gpu->device, f->gpu->kernels->tree->measure(&walk, measure, f->stream));
    return NBC_OK;
}

/* Targets along the tree, and their lists; where no last accelerations are known, first those of a force by angle. */
int gpunb_device_tree_sum(const struct device_tree_force *f, const struct device_tree *tree,
                          const struct device_tree_targets *targets, const struct device_tree_force_scratch *s,
                          struct nbc_error *err)
{
    struct device_tree_walk walk = walk_of(f, tree, targets, s);
    if (!targets->is_ordered) NBD_TRY(order_targets(f, &walk, s, err));
    /* Blocks of a group read the scale of all its targets while others write results. */
    if (walk.acc_last == walk.acc && walk.acc_last) {
        NBD_TRY(nbd_copy(&f->gpu->device, f->stream, s->first, walk.acc_last, targets->n * sizeof *s->first, err));
        walk.acc_last = (const double(*)[3])s->first;
    }
    if (f->use->theta == 0 && !targets->acc_last) {
        const struct gpunb_softened_job job = {.softening = targets->softening};
        struct device_tree_walk first = walk;
        first.acc = s->first;
        first.pot = NULL;
        first.rule = gpunb_tree_first_rule(f->use, &job);
        if (targets->is_first) first.acc = targets->acc;
        NBD_TRY(launch_walks(f, &first, s, err));
        if (targets->is_first) return NBC_OK;
        walk.acc_last = (const double(*)[3])s->first;
    }
    return launch_walks(f, &walk, s, err);
}
