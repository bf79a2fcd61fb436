/* Trees that are kept in memory of a device: that memory, and their layouts, which go to the host and come back. */
#include "gpunb/device/tree_host.h"
#include "gpunb/tree/layout.h"
#include "gpunb/tree/tree.h"

#include <string.h>

struct device_kept_tree *gpunb_device_tree_record(void *state, struct gpunb_tree *tree)
{
    struct device_state *devices = state;
    if (!tree->kept) {
        struct device_kept_tree *made = nbc_alloc(1, sizeof *made);
        if (made) made->gpu = &devices->gpus[0];
        if (made) made->on_host.where = NBD_ON_HOST;
        tree->kept = made;
    }
    return tree->kept;
}

/* As nbd_buffer_reserve, and not more: the number of sources stays. */
static int provide_memory(const struct nbd_device *device, struct nbd_buffer *memory, size_t bytes,
                          struct nbc_error *err)
{
    if (bytes <= memory->bytes) return NBC_OK;
    nbd_buffer_release(device, memory);
    NBD_TRY(nbd_alloc(device, memory->where, bytes, &memory->data, err));
    memory->bytes = bytes;
    return NBC_OK;
}

int gpunb_device_tree_provide(void *state, const struct gpunb_tree_use *use, struct gpunb_tree *tree, size_t n,
                              struct nbc_error *err)
{
    struct device_kept_tree *kept = gpunb_device_tree_record(state, tree);
    if (!kept) return nbc_fail(err, NBC_NO_MEMORY, "gpunb: no memory for a tree");
    const size_t bytes = gpunb_device_tree_lay_out(use, n, NULL, &kept->tree);
    NBD_TRY(nbd_use(&kept->gpu->device, err));
    NBD_TRY(provide_memory(&kept->gpu->device, &kept->memory, bytes, err));
    gpunb_device_tree_lay_out(use, n, kept->memory.data, &kept->tree);
    tree->n = n;
    return NBC_OK;
}

int gpunb_device_tree_renumber(void *state, const struct gpunb_tree *tree, size_t first, void *stream,
                               struct nbc_error *err)
{
    const struct device_gpu *gpu = &((const struct device_state *)state)->gpus[0];
    const struct device_kept_tree *kept = tree->kept;
    NBD_LAUNCH(err, &gpu->device, gpu->kernels->tree->renumber(&kept->tree, (int)first, stream));
    return NBC_OK;
}

/* ---- to the host */

static int fetch(const struct device_kept_tree *kept, void *to, const void *from, size_t bytes, struct nbc_error *err)
{
    NBD_TRY(nbd_copy(&kept->gpu->device, kept->gpu->stream, to, from, bytes, err));
    return nbd_stream_wait(&kept->gpu->device, kept->gpu->stream, err);
}

/* Waits for all that was asked of the device before. */
int gpunb_device_tree_get_layout(void *state, const struct gpunb_tree *tree, int32_t *order, uint8_t *cut,
                                 struct nbc_error *err)
{
    (void)state;
    const struct device_kept_tree *kept = tree->kept;
    const struct device_tree_shape *shape = &kept->shape;
    struct tree_cell *cell = nbc_alloc_unset((size_t)shape->n_cells, sizeof *cell);
    if (!cell) return nbc_fail(err, NBC_NO_MEMORY, "gpunb: no memory for the layout of a tree");
    int status = nbd_use(&kept->gpu->device, err);
    if (!status) status = nbd_wait(&kept->gpu->device, err);
    if (!status) status = fetch(kept, order, kept->tree.number, tree->n * sizeof *order, err);
    if (!status) status = fetch(kept, cell, kept->tree.view.cell, (size_t)shape->n_cells * sizeof *cell, err);
    if (!status) tree_layout_cuts(cell, shape->n_levels, shape->level, tree->n, cut);
    nbc_free(cell);
    return status;
}

/* ---- back */

/* The host's record of such cells. */
static void describe(const struct tree_cells *cells, struct device_tree_shape *shape)
{
    memset(shape, 0, sizeof *shape);
    for (int k = 0; k < 3; k++) shape->low[k] = shape->high[k] = nbc_ordered_bits(0);
    shape->negative = DEVICE_TREE_NO_SOURCE;
    shape->n_levels = cells->n_levels;
    for (int l = 0; l <= cells->n_levels; l++) shape->level[l] = (int32_t)cells->level[l];
    shape->n_cells = shape->level[cells->n_levels];
    for (int32_t c = 0; c < shape->n_cells; c++)
        if (cells->cell[c].n_child == 0 && cells->cell[c].count > shape->largest) shape->largest = cells->cell[c].count;
}

/* The tables of a tree come with its box: here that of one body at the origin, in a copy of the record. */
static int make_tables(const struct device_kept_tree *kept, struct nbc_error *err)
{
    const struct device_gpu *gpu = kept->gpu;
    struct device_tree one = kept->tree;
    const struct softened_sources origin = {
        .x = one.x, .mass = one.mass, .x_step = sizeof *one.x, .mass_step = sizeof *one.mass, .n = 1};
    one.n = 1;
    NBD_TRY(nbd_fill(&gpu->device, gpu->stream, one.x, 0, sizeof *one.x, err));
    NBD_LAUNCH(err, &gpu->device, gpu->kernels->tree->begin(&one, &origin, gpu->stream));
    return NBC_OK;
}

/* Keys of zeros, in a box without width, give targets that are no sources one place. */
static int send(const struct device_kept_tree *kept, const struct tree_cells *cells, struct nbc_error *err)
{
    const struct device_gpu *gpu = kept->gpu;
    const struct device_tree *tree = &kept->tree;
    const size_t of_cells = (size_t)kept->shape.n_cells * sizeof *cells->cell;
    NBD_TRY(make_tables(kept, err));
    NBD_TRY(nbd_copy(&gpu->device, gpu->stream, tree->number, cells->number, cells->n * sizeof *cells->number, err));
    NBD_TRY(nbd_copy(&gpu->device, gpu->stream, tree->view.cell, cells->cell, of_cells, err));
    NBD_TRY(nbd_fill(&gpu->device, gpu->stream, tree->key[0], 0, cells->n * sizeof *tree->key[0], err));
    NBD_TRY(nbd_copy(&gpu->device, gpu->stream, tree->shape, &kept->shape, sizeof kept->shape, err));
    return nbd_stream_wait(&gpu->device, gpu->stream, err);
}

int gpunb_device_tree_restore(void *state, const struct gpunb_tree_use *use, struct gpunb_tree *tree,
                              const struct tree_cells *cells, struct nbc_error *err)
{
    NBD_TRY(gpunb_device_tree_provide(state, use, tree, cells->n, err));
    struct device_kept_tree *kept = tree->kept;
    describe(cells, &kept->shape);
    if (kept->shape.n_cells > kept->tree.room)
        return nbc_fail(err, NBC_BAD_ARGUMENT,
                        "gpunb_tree_restore: there is no room for %d cells, made with other leaves",
                        kept->shape.n_cells);
    kept->tree.passes = 1;
    return send(kept, cells, err);
}
