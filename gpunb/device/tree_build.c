/* Trees in memory of a device: their layout, their cells and their multipoles. */
#include "gpunb/device/tree_host.h"

#include <string.h>

/* ---- layouts */

/* Cells that there is room for: with leaves of half their size on average, and parts of eight, fewer than a quarter of
 * that; with path-compressed cells 2n - 1 are the most. */
static size_t room_for(size_t n, int leaf)
{
    const size_t room = 8 * n / (size_t)leaf + 1024;
    return room < 2 * n ? room : 2 * n;
}

/* Bodies by place and all of cells that follows from these, which are made when the cells are there. */
static void lay_out_moments(struct device_tree_layout *l, size_t n, size_t room, struct device_tree *t)
{
    t->x = gpunb_device_tree_take(l, n, sizeof *t->x);
    t->mass = gpunb_device_tree_take(l, n, sizeof *t->mass);
    t->place = gpunb_device_tree_take(l, n, sizeof *t->place);
    t->view.x = (const double(*)[3])t->x;
    t->view.mass = t->mass;
    t->view.node = gpunb_device_tree_take(l, room, sizeof *t->view.node);
    t->view.moment = gpunb_device_tree_take(l, room * (size_t)t->view.moments, sizeof(float));
    t->view.coefficient = gpunb_device_tree_take(l, room * (size_t)t->view.stride, sizeof(float));
}

/* Second keys and the boxes of those that they tell apart, which cells are made by.   @return the boxes */
static void *lay_out_ties(struct device_tree_layout *l, size_t n, uint64_t *key[DEVICE_TREE_PASSES])
{
    for (int pass = 1; pass < DEVICE_TREE_PASSES; pass++) key[pass] = gpunb_device_tree_take(l, n, sizeof *key[pass]);
    return gpunb_device_tree_take(l, n, sizeof(uint64_t[6]));
}

/* Arrays that are used before there are moments share memory with those that are used from then on. */
size_t gpunb_device_tree_lay_out(const struct gpunb_tree_use *use, size_t n, char *at, struct device_tree *t)
{
    struct device_tree_layout l = {at, 0};
    static const int strides[] = DEVICE_TREE_STRIDES;
    const int order = use->sizes.order, moments = DEVICE_TREE_ROW(tree_kept_moments(order)), stride = strides[order];
    const size_t room = room_for(n, use->sizes.leaf);
    *t = (struct device_tree){.n = (int)n,
                              .leaf = use->sizes.leaf,
                              .room = (int)room,
                              .origin = n > 0 ? (int)((size_t)use->origin % n) : 0,
                              .root = tree_root_of(0),
                              .view = {.moments = moments, .stride = stride, .order = order}};
    t->shape = gpunb_device_tree_take(&l, 1, sizeof *t->shape);
    t->tables = gpunb_device_tree_take(&l, 1, sizeof *t->tables);
    t->view.tables = t->tables;
    t->number = gpunb_device_tree_take(&l, n, sizeof *t->number);
    t->key[0] = gpunb_device_tree_take(&l, n, sizeof *t->key[0]);
    t->cut = gpunb_device_tree_take(&l, room, sizeof *t->cut);
    t->totals = gpunb_device_tree_take(&l, DEVICE_TREE_BLOCKS, sizeof *t->totals);
    t->view.cell = gpunb_device_tree_take(&l, room, sizeof *t->view.cell);
    struct device_tree_layout ties = l;
    (void)lay_out_ties(&ties, n, t->key);
    lay_out_moments(&l, n, room, t);
    return l.bytes > ties.bytes ? l.bytes : ties.bytes;
}

size_t gpunb_device_tree_lay_out_build(const struct device_tree *tree, size_t sort_bytes, char *at,
                                       struct device_tree_scratch *s)
{
    const size_t n = (size_t)tree->n;
    struct device_tree_layout l = {at, 0};
    s->key = gpunb_device_tree_take(&l, n, sizeof *s->key);
    s->number = gpunb_device_tree_take(&l, n, sizeof *s->number);
    s->other = gpunb_device_tree_take(&l, n, sizeof *s->other);
    s->run = gpunb_device_tree_take(&l, n, sizeof *s->run);
    s->sorted_run = gpunb_device_tree_take(&l, n, sizeof *s->sorted_run);
    uint64_t *key[DEVICE_TREE_PASSES];
    struct device_tree_layout ties = {(char *)tree->key[1], 0}; /* in the memory of the tree */
    s->box = lay_out_ties(&ties, n, key);
    s->sort = gpunb_device_tree_take(&l, sort_bytes, 1);
    s->sort_bytes = sort_bytes;
    return l.bytes;
}

/* ---- building */

int gpunb_device_tree_ready(struct device_gpu *gpu, struct nbc_error *err)
{
    const size_t bytes = DEVICE_TREE_COUNTS * sizeof(unsigned long long);
    if (gpu->tree_counts.data) return NBC_OK;
    NBD_TRY(gpunb_device_reserve(gpu, &gpu->tree_word, sizeof(struct device_tree_shape), err));
    NBD_TRY(gpunb_device_reserve(gpu, &gpu->tree_counts, bytes, err));
    NBD_TRY(nbd_fill(&gpu->device, gpu->stream, gpu->tree_counts.data, 0, bytes, err));
    return nbd_stream_wait(&gpu->device, gpu->stream, err);
}

static int enqueue_shape(const struct device_tree_building *b, struct nbc_error *err)
{
    const struct device_gpu *gpu = b->force->gpu;
    return nbd_copy(&gpu->device, b->force->stream, gpu->tree_word.data, b->tree->shape, sizeof *b->shape, err);
}

static int await_shape(const struct device_tree_building *b, struct nbc_error *err)
{
    const struct device_gpu *gpu = b->force->gpu;
    NBD_TRY(nbd_stream_wait(&gpu->device, b->force->stream, err));
    memcpy(b->shape, gpu->tree_word.data, sizeof *b->shape);
    return NBC_OK;
}

static int read_shape(const struct device_tree_building *b, struct nbc_error *err)
{
    NBD_TRY(enqueue_shape(b, err));
    return await_shape(b, err);
}

static int take_numbers(const struct device_tree_building *b, struct nbc_error *err)
{
    return nbd_copy(&b->force->gpu->device, b->force->stream, b->tree->number, b->scratch.number,
                    (size_t)b->tree->n * sizeof *b->tree->number, err);
}

static int sort_by_first_keys(const struct device_tree_building *b, struct nbc_error *err)
{
    const struct device_gpu *gpu = b->force->gpu;
    const struct gpunb_tree_kernels *k = gpu->kernels->tree;
    const struct device_tree_scratch *s = &b->scratch;
    struct nbd_stream *stream = b->force->stream;
    size_t bytes = s->sort_bytes;
    NBD_LAUNCH(err, &gpu->device, k->begin(b->tree, b->sources, stream));
    NBD_LAUNCH(err, &gpu->device, k->keys(b->tree, b->sources, s, stream));
    NBD_LAUNCH(err, &gpu->device,
               gpu->kernels->sort64(s->sort, &bytes, s->key, b->tree->key[0], s->number, b->tree->number, b->tree->n,
                                    TREE_KEY_BITS, stream));
    b->tree->passes = 1;
    return NBC_OK;
}

/* Those that the keys so far do not tell apart are sorted within their runs: by the next key, then, which keeps this
 * order, by run. */
static int sort_by_next_keys(const struct device_tree_building *b, struct nbc_error *err)
{
    const struct device_gpu *gpu = b->force->gpu;
    const struct gpunb_tree_kernels *k = gpu->kernels->tree;
    const struct device_tree_scratch *s = &b->scratch;
    struct nbd_stream *stream = b->force->stream;
    size_t bytes = s->sort_bytes;
    NBD_LAUNCH(err, &gpu->device, k->next_keys(b->tree, b->sources, s, stream));
    NBD_LAUNCH(err, &gpu->device,
               gpu->kernels->sort64(s->sort, &bytes, s->key, b->tree->key[b->tree->passes], s->other, s->number,
                                    b->tree->n, TREE_KEY_BITS, stream));
    NBD_LAUNCH(err, &gpu->device, k->take_runs(b->tree, s, stream));
    NBD_LAUNCH(err, &gpu->device,
               gpu->kernels->sort64(s->sort, &bytes, s->sorted_run, s->run, s->number, s->other, b->tree->n,
                                    gpunb_device_tree_bits((size_t)b->tree->n), stream));
    NBD_LAUNCH(err, &gpu->device, k->take_keys(b->tree, s, stream));
    b->tree->passes++;
    return take_numbers(b, err);
}

static int enqueue_links(const struct device_tree_building *b, struct nbc_error *err)
{
    const struct device_gpu *gpu = b->force->gpu;
    const struct gpunb_tree_kernels *k = gpu->kernels->tree;
    NBD_LAUNCH(err, &gpu->device, k->ties(b->tree, b->sources, b->force->stream));
    NBD_LAUNCH(err, &gpu->device, k->link(b->tree, b->force->stream));
    return enqueue_shape(b, err);
}

/* Cells, in a room that is enough: larger leaves need less. */
static int await_cells(const struct device_tree_building *b, struct nbc_error *err)
{
    const struct device_gpu *gpu = b->force->gpu;
    NBD_TRY(await_shape(b, err));
    while (b->shape->is_full) {
        b->tree->leaf *= 2;
        NBD_LAUNCH(err, &gpu->device, gpu->kernels->tree->link(b->tree, b->force->stream));
        NBD_TRY(read_shape(b, err));
    }
    return NBC_OK;
}

int gpunb_device_tree_begin_cells(const struct device_tree_building *b, struct nbc_error *err)
{
    NBD_TRY(sort_by_first_keys(b, err));
    return enqueue_links(b, err);
}

int gpunb_device_tree_end_cells(const struct device_tree_building *b, struct nbc_error *err)
{
    b->tree->passes = 1;
    NBD_TRY(await_cells(b, err));
    while (b->shape->tied > 0 && b->tree->passes < DEVICE_TREE_PASSES) {
        NBD_TRY(sort_by_next_keys(b, err));
        NBD_TRY(enqueue_links(b, err));
        NBD_TRY(await_cells(b, err));
    }
    return NBC_OK;
}

int gpunb_device_tree_make_cells(const struct device_tree_building *b, double *seconds, struct nbc_error *err)
{
    const double begin = nbc_wtime();
    NBD_TRY(sort_by_first_keys(b, err));
    const double sorted = nbc_wtime();
    seconds[GPUNB_TREE_SORT] += sorted - begin;
    NBD_TRY(enqueue_links(b, err));
    NBD_TRY(gpunb_device_tree_end_cells(b, err));
    seconds[GPUNB_TREE_LINK] += nbc_wtime() - sorted;
    return NBC_OK;
}

int gpunb_device_tree_read(const struct device_tree_building *b, struct nbc_error *err)
{
    NBD_TRY(read_shape(b, err));
    if (b->shape->negative == DEVICE_TREE_NO_SOURCE) return NBC_OK;
    return nbc_fail(err, NBC_BAD_ARGUMENT,
                    "gpunb: the mass of source %d is negative; a tree takes masses of 0 and more", b->shape->negative);
}

/* Bodies by place, and the multipoles of all cells, the deepest first. */
int gpunb_device_tree_make_moments(const struct device_tree_building *b, struct nbc_error *err)
{
    const struct device_gpu *gpu = b->force->gpu;
    const struct gpunb_tree_kernels *k = gpu->kernels->tree;
    struct nbd_stream *stream = b->force->stream;
    NBD_LAUNCH(err, &gpu->device, k->check(b->tree, b->sources, stream));
    NBD_LAUNCH(err, &gpu->device, k->gather(b->tree, b->sources, b->force->to_float, stream));
    NBD_LAUNCH(err, &gpu->device, k->leaves(b->tree, b->shape->n_cells, stream));
    for (int l = b->shape->n_levels - 1; l >= 0; l--)
        NBD_LAUNCH(err, &gpu->device, k->wholes(b->tree, b->shape->level[l], b->shape->level[l + 1], stream));
    NBD_LAUNCH(err, &gpu->device, k->nodes(b->tree, b->shape->n_cells, stream));
    return NBC_OK;
}
