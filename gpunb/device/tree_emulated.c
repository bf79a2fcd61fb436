/* Trees of an emulated device: a team of lanes is one thread that does what all would (tree/lanes.h), a kernel a loop
 * over teams or threads. */
#include "common/team.h"
#include "device/emulated/emulated.h"
#include "gpunb/device/emulated.h"
#include "gpunb/device/tree_kernels.h"
#include "gpunb/device/tree_walk.h"
#include "gpunb/tree/moments.h"

enum { TEAMS_OF_A_PART = 2, CELLS_OF_A_PART = 16, THREADS_OF_A_PART = 4096 };

/* Arguments of the kernels of one tree. */
struct tree_job {
    struct device_tree tree;
    struct softened_sources sources;
    struct device_tree_scratch scratch;
    int to_float, first, end, are_leaves;
};

static int launch(struct nbd_stream *stream, nbd_kernel *kernel, const struct tree_job *job)
{
    return nbd_emulated_launch(stream, kernel, job, sizeof *job);
}

/* ---- keys */

static void add_to_box(uint64_t low[3], uint64_t high[3], const double x[3])
{
    for (int k = 0; k < 3; k++) {
        const uint64_t bits = nbc_ordered_bits(x[k]);
        low[k] = bits < low[k] ? bits : low[k];
        high[k] = bits > high[k] ? bits : high[k];
    }
}

static void empty_box(uint64_t low[3], uint64_t high[3])
{
    for (int k = 0; k < 3; k++) {
        low[k] = UINT64_MAX;
        high[k] = 0;
    }
}

static void check_all(const void *job)
{
    const struct tree_job *j = job;
    int first = 0;
    while (first < j->tree.n && !(softened_mass(&j->sources, (size_t)first) < 0)) first++;
    j->tree.shape->negative = first < j->tree.n ? first : DEVICE_TREE_NO_SOURCE;
}

static int check(const struct device_tree *tree, const struct softened_sources *sources, struct nbd_stream *stream)
{
    const struct tree_job job = {.tree = *tree, .sources = *sources};
    return launch(stream, check_all, &job);
}

static void begin_all(const void *job)
{
    const struct tree_job *j = job;
    struct device_tree_shape *shape = j->tree.shape;
    shape->tied = shape->n_levels = shape->n_cells = shape->is_full = shape->largest = 0;
    empty_box(shape->low, shape->high);
    for (int i = 0; i < j->tree.n; i++) add_to_box(shape->low, shape->high, softened_position(&j->sources, (size_t)i));
    tree_fill_tables(j->tree.tables, j->tree.view.order + 2, 0, 1);
}

static int begin(const struct device_tree *tree, const struct softened_sources *sources, struct nbd_stream *stream)
{
    const struct tree_job job = {.tree = *tree, .sources = *sources};
    return launch(stream, begin_all, &job);
}

static void keys_all(const void *job)
{
    const struct tree_job *j = job;
    for (int i = 0; i < j->tree.n; i++) {
        const int32_t source = tree_source_of(&j->tree, i);
        j->scratch.key[i] = tree_source_key(&j->tree, softened_position(&j->sources, (size_t)source));
        j->scratch.number[i] = source;
    }
}

static int keys(const struct device_tree *tree, const struct softened_sources *sources,
                const struct device_tree_scratch *scratch, struct nbd_stream *stream)
{
    const struct tree_job job = {.tree = *tree, .sources = *sources, .scratch = *scratch};
    return launch(stream, keys_all, &job);
}

static void ties_all(const void *job)
{
    const struct tree_job *j = job;
    j->tree.shape->tied = 0;
    for (int p = 0; p < j->tree.n; p++) j->tree.shape->tied += tree_is_to_part(&j->tree, &j->sources, p);
}

static int ties(const struct device_tree *tree, const struct softened_sources *sources, struct nbd_stream *stream)
{
    const struct tree_job job = {.tree = *tree, .sources = *sources};
    return launch(stream, ties_all, &job);
}

static void next_keys_all(const void *job)
{
    const struct tree_job *j = job;
    const struct device_tree_scratch *s = &j->scratch;
    for (int p = 0; p < j->tree.n; p++) {
        int32_t first, end;
        tree_find_run(&j->tree, p, &first, &end);
        if (p == first) empty_box(s->box[p], s->box[p] + 3);
        add_to_box(s->box[first], s->box[first] + 3, softened_position(&j->sources, (size_t)j->tree.number[p]));
        s->run[p] = (uint64_t)first;
        s->other[p] = p;
    }
    for (int p = 0; p < j->tree.n; p++) s->key[p] = tree_next_key(&j->tree, s, &j->sources, p);
}

static int next_keys(const struct device_tree *tree, const struct softened_sources *sources,
                     const struct device_tree_scratch *scratch, struct nbd_stream *stream)
{
    const struct tree_job job = {.tree = *tree, .sources = *sources, .scratch = *scratch};
    return launch(stream, next_keys_all, &job);
}

static void take_runs_all(const void *job)
{
    const struct tree_job *j = job;
    for (int p = 0; p < j->tree.n; p++) j->scratch.sorted_run[p] = j->scratch.run[j->scratch.number[p]];
}

static int take_runs(const struct device_tree *tree, const struct device_tree_scratch *scratch,
                     struct nbd_stream *stream)
{
    const struct tree_job job = {.tree = *tree, .scratch = *scratch};
    return launch(stream, take_runs_all, &job);
}

static void take_keys_all(const void *job)
{
    const struct tree_job *j = job;
    for (int p = 0; p < j->tree.n; p++) {
        j->tree.key[j->tree.passes][p] = j->scratch.key[j->scratch.other[p]];
        j->scratch.number[p] = j->tree.number[j->scratch.other[p]];
    }
}

static int take_keys(const struct device_tree *tree, const struct device_tree_scratch *scratch,
                     struct nbd_stream *stream)
{
    const struct tree_job job = {.tree = *tree, .scratch = *scratch};
    return launch(stream, take_keys_all, &job);
}

/* ---- cells */

static int32_t cut_cell(const struct device_tree *tree, int c)
{
    int32_t *cut = tree->cut[c], parts = 0;
    const struct tree_cell *cell = &tree->view.cell[c];
    for (int digit = 0; digit < TREE_PARTS; digit++) cut[digit] = tree_digit_begin(tree, c, digit);
    for (int digit = 0; digit < TREE_PARTS; digit++)
        parts += cut[digit] < (digit + 1 < TREE_PARTS ? cut[digit + 1] : cell->first + cell->count);
    return cut[TREE_PARTS] = parts > 1 ? parts : 0;
}

/* @return the end of the next level; -1: it has no room */
static int add_level(const struct device_tree *tree, int begin, int end)
{
    int next = end;
    for (int c = begin; c < end; c++) next += cut_cell(tree, c);
    if (next > tree->room) return -1;
    for (int c = begin, child = end; c < end; child += tree->cut[c++][TREE_PARTS]) {
        const int32_t leaf = tree_add_parts(tree, c, child);
        if (leaf > tree->shape->largest) tree->shape->largest = leaf;
    }
    return next;
}

static void link_all(const void *job)
{
    const struct device_tree *tree = &((const struct tree_job *)job)->tree;
    struct device_tree_shape *shape = tree->shape;
    int begin = 0, end = 1;
    tree_begin_cells(tree);
    shape->n_levels = shape->is_full = shape->largest = 0;
    while (begin < end && shape->n_levels < TREE_LEVELS - 1) {
        shape->level[shape->n_levels++] = begin;
        const int next = add_level(tree, begin, end);
        if (next < 0) {
            shape->is_full = 1;
            break;
        }
        begin = end;
        end = next;
    }
    shape->level[shape->n_levels] = shape->n_cells = end;
}

static int link_cells(const struct device_tree *tree, struct nbd_stream *stream)
{
    const struct tree_job job = {.tree = *tree};
    return launch(stream, link_all, &job);
}

/* ---- bodies and multipoles */

struct number_job {
    struct device_tree tree;
    int first;
};

static void renumber_all(const void *job)
{
    const struct number_job *j = job;
    for (int p = 0; p < j->tree.n; p++) j->tree.number[p] = tree_number_from(&j->tree, j->first, p);
}

static int renumber(const struct device_tree *tree, int first, struct nbd_stream *stream)
{
    const struct number_job job = {*tree, first};
    return nbd_emulated_launch(stream, renumber_all, &job, sizeof job);
}

static void gather_part(void *context, int part, int parts)
{
    const struct tree_job *j = context;
    int64_t first, end;
    nbc_range(j->tree.n, part, parts, &first, &end);
    for (int64_t p = first; p < end; p++) tree_gather_source(&j->tree, &j->sources, j->to_float, (int)p);
}

static void gather_all(const void *job)
{
    struct tree_job own = *(const struct tree_job *)job;
    nbc_team_run(nbc_parts(own.tree.n, THREADS_OF_A_PART), gather_part, &own);
}

static int gather(const struct device_tree *tree, const struct softened_sources *sources, int to_float,
                  struct nbd_stream *stream)
{
    const struct tree_job job = {.tree = *tree, .sources = *sources, .to_float = to_float};
    return launch(stream, gather_all, &job);
}

static void cells_part(void *context, int part, int parts)
{
    const struct tree_job *j = context;
    struct tree_moments_memory memory;
    int64_t first, end;
    nbc_range(j->end - j->first, part, parts, &first, &end);
    for (int64_t c = j->first + first; c < j->first + end; c++)
        if ((j->tree.view.cell[c].n_child == 0) == j->are_leaves) tree_make_cell(&j->tree.view, (size_t)c, &memory);
}

static void cells_all(const void *job)
{
    struct tree_job own = *(const struct tree_job *)job;
    nbc_team_run(nbc_parts(own.end - own.first, CELLS_OF_A_PART), cells_part, &own);
}

static int leaves(const struct device_tree *tree, int n_cells, struct nbd_stream *stream)
{
    const struct tree_job job = {.tree = *tree, .end = n_cells, .are_leaves = 1};
    return launch(stream, cells_all, &job);
}

static int wholes(const struct device_tree *tree, int first, int end, struct nbd_stream *stream)
{
    const struct tree_job job = {.tree = *tree, .first = first, .end = end};
    return launch(stream, cells_all, &job);
}

static void nodes_all(const void *job)
{
    const struct tree_job *j = job;
    for (int c = 0; c < j->end; c++) tree_make_node(&j->tree.view, (size_t)c);
}

static int nodes(const struct device_tree *tree, int n_cells, struct nbd_stream *stream)
{
    const struct tree_job job = {.tree = *tree, .end = n_cells};
    return launch(stream, nodes_all, &job);
}

/* ---- forces */

struct targets_job {
    struct device_tree_walk walk;
    uint64_t *keys;
    int32_t *numbers;
};

static void targets_all(const void *job)
{
    const struct targets_job *j = job;
    const struct device_tree_walk *walk = &j->walk;
    for (int i = 0; i < walk->n_i; i++) {
        j->keys[i] = tree_target_place(&walk->tree, walk->x[i], walk->self ? walk->self[i] : -1);
        j->numbers[i] = i;
    }
}

static int targets(const struct device_tree_walk *walk, uint64_t *keys, int32_t *numbers, struct nbd_stream *stream)
{
    const struct targets_job job = {*walk, keys, numbers};
    return nbd_emulated_launch(stream, targets_all, &job, sizeof job);
}

static int regions_of(const struct device_tree_walk *walk)
{
    return (walk->n_i + walk->region_targets - 1) / walk->region_targets;
}

static void regions_part(void *context, int part, int parts)
{
    const struct device_tree_walk *job = context;
    struct tree_walk_memory memory;
    int64_t first, end;
    nbc_range(regions_of(job), part, parts, &first, &end);
    for (int64_t item = first; item < end; item++) tree_make_region(job, &memory, (int)item, job->rule.order);
}

static void regions_all(const void *job)
{
    struct device_tree_walk own = *(const struct device_tree_walk *)job;
    nbc_team_run(nbc_parts(regions_of(&own), 1), regions_part, &own);
}

static int regions(const struct device_tree_walk *job, struct nbd_stream *stream)
{
    return nbd_emulated_launch(stream, regions_all, job, sizeof *job);
}

typedef void item_of_order(const struct device_tree_walk *job, struct tree_walk_memory *memory, int64_t item);

static const int strides[] = DEVICE_TREE_STRIDES;

/* A function for each order, whose expansion is straight code. */
#define ITEM(order)                                                                                                    \
    static __attribute__((noinline)) void item_##order(const struct device_tree_walk *job,                             \
                                                       struct tree_walk_memory *memory, int64_t item)                  \
    {                                                                                                                  \
        tree_walk_item(job, memory, item, order, strides[order], job->pot != NULL);                                    \
    }
ITEM(1)
ITEM(2)
ITEM(3)
ITEM(4)
ITEM(5)
ITEM(6)
ITEM(7)
ITEM(8)
#undef ITEM

static void walk_part(void *context, int part, int parts)
{
    static item_of_order *const of_order[] = {item_1, item_2, item_3, item_4, item_5, item_6, item_7, item_8};
    const struct device_tree_walk *job = context;
    struct tree_walk_memory memory;
    int64_t first, end;
    nbc_range(tree_items(job), part, parts, &first, &end);
    for (int64_t item = first; item < end; item++) of_order[job->rule.order - 1](job, &memory, item);
}

static void walk_all(const void *job)
{
    struct device_tree_walk own = *(const struct device_tree_walk *)job;
    nbc_team_run(nbc_parts(tree_items(&own), TEAMS_OF_A_PART), walk_part, &own);
}

static int walk(const struct device_tree_walk *job, struct nbd_stream *stream)
{
    return nbd_emulated_launch(stream, walk_all, job, sizeof *job);
}

static void add_all(const void *job)
{
    const struct device_tree_walk *walk = job;
    const int left = walk->n_i - walk->first_group * walk->group;
    for (int i = 0; i < walk->group && i < left; i++) tree_add_shares(walk, i);
}

static int add_shares(const struct device_tree_walk *job, struct nbd_stream *stream)
{
    return nbd_emulated_launch(stream, add_all, job, sizeof *job);
}

const struct gpunb_tree_kernels gpunb_emulated_tree_kernels = {
    .check = check,
    .begin = begin,
    .keys = keys,
    .ties = ties,
    .next_keys = next_keys,
    .take_runs = take_runs,
    .take_keys = take_keys,
    .link = link_cells,
    .renumber = renumber,
    .gather = gather,
    .leaves = leaves,
    .wholes = wholes,
    .nodes = nodes,
    .targets = targets,
    .regions = regions,
    .walk = walk,
    .add_shares = add_shares,
    .measure = gpunb_emulated_tree_measure,
    .choose = gpunb_emulated_tree_choose,
    .write = gpunb_emulated_tree_write,
};
