/* Trees of parts (gpunb/tree/essential.h) in memory of a device: the own one is read by the host, which makes of it
 * what other parts need; the cells that have come follow those of the own tree, below one root.
 *
 * Of the tree of all, cell 0 is its root; the own cells from 1 on keep their places, and so the numbers of their parts;
 * the others of the host follow, among them the own root. Own bodies have the first places. */
#include "gpunb/device/tree_host.h"

#include "common/team.h"
#include "gpunb/tree/tree.h"

#include <string.h>

/* ---- to the host */

/* Arrays of the host, in memory that the device reaches. */
static size_t lay_out_host(struct gpunb_tree *tree, const struct device_tree_shape *shape, const struct tree_view *view,
                           char *at)
{
    const size_t n = tree->n, cells = (size_t)shape->n_cells;
    struct device_tree_layout l = {at, 0};
    tree->moments = (size_t)view->moments;
    tree->x = gpunb_device_tree_take(&l, n, sizeof *tree->x);
    tree->mass = gpunb_device_tree_take(&l, n, sizeof *tree->mass);
    tree->place = gpunb_device_tree_take(&l, n, sizeof *tree->place);
    tree->cells.number = gpunb_device_tree_take(&l, n, sizeof *tree->cells.number);
    tree->cells.cell = gpunb_device_tree_take(&l, cells, sizeof *tree->cells.cell);
    tree->node = gpunb_device_tree_take(&l, cells, sizeof *tree->node);
    tree->moment = gpunb_device_tree_take(&l, cells * tree->moments, sizeof(float));
    return l.bytes;
}

static int copy_to_host(const struct device_kept_tree *kept, const struct gpunb_tree *tree, struct nbc_error *err)
{
    const struct device_tree *from = &kept->tree;
    const size_t n = tree->n, cells = (size_t)kept->shape.n_cells;
    const struct {
        void *to;
        const void *from;
        size_t bytes;
    } copies[] = {{tree->x, from->x, n * sizeof *tree->x},
                  {tree->mass, from->mass, n * sizeof *tree->mass},
                  {tree->place, from->place, n * sizeof *tree->place},
                  {tree->cells.number, from->number, n * sizeof *tree->cells.number},
                  {tree->cells.cell, from->view.cell, cells * sizeof *tree->cells.cell},
                  {tree->node, from->view.node, cells * sizeof *tree->node},
                  {tree->moment, from->view.moment, cells * tree->moments * sizeof(float)}};
    for (size_t k = 0; k < sizeof copies / sizeof copies[0]; k++)
        NBD_TRY(nbd_copy(&kept->gpu->device, kept->gpu->stream, copies[k].to, copies[k].from, copies[k].bytes, err));
    return nbd_stream_wait(&kept->gpu->device, kept->gpu->stream, err);
}

int gpunb_device_tree_fetch(void *state, struct gpunb_tree *tree, struct nbc_error *err)
{
    (void)state;
    struct device_kept_tree *kept = tree->kept;
    const struct device_tree_shape *shape = &kept->shape;
    NBD_TRY(gpunb_device_reserve(kept->gpu, &kept->on_host, lay_out_host(tree, shape, &kept->tree.view, NULL), err));
    lay_out_host(tree, shape, &kept->tree.view, kept->on_host.data);
    tree->cells.n = tree->n;
    tree->cells.n_levels = shape->n_levels;
    for (int l = 0; l <= shape->n_levels; l++) tree->cells.level[l] = (size_t)shape->level[l];
    return copy_to_host(kept, tree, err);
}

int gpunb_device_tree_fetch_top(struct gpunb_tree *tree, size_t bytes, void **behind, struct nbc_error *err)
{
    struct device_kept_tree *kept = tree->kept;
    const struct nbd_device *device = &kept->gpu->device;
    const struct tree_view *view = &kept->tree.view;
    const size_t n = tree->n, row = (size_t)view->moments * sizeof(float);
    const size_t most = 1024 + sizeof *tree->cells.cell + row + n * sizeof *tree->cells.number + bytes;
    NBD_TRY(gpunb_device_reserve(kept->gpu, &kept->on_host, most, err));
    struct device_tree_layout l = {kept->on_host.data, 0};
    tree->moments = (size_t)view->moments;
    tree->cells.n = n;
    tree->cells.n_levels = kept->shape.n_levels;
    for (int k = 0; k <= kept->shape.n_levels; k++) tree->cells.level[k] = (size_t)kept->shape.level[k];
    tree->cells.cell = gpunb_device_tree_take(&l, 1, sizeof *tree->cells.cell);
    tree->moment = gpunb_device_tree_take(&l, 1, row);
    tree->cells.number = gpunb_device_tree_take(&l, n, sizeof *tree->cells.number);
    *behind = gpunb_device_tree_take(&l, 1, bytes);
    tree->x = NULL; /* the device alone has these */
    tree->mass = NULL;
    tree->place = NULL;
    tree->node = NULL;
    NBD_TRY(nbd_copy(device, kept->gpu->stream, tree->cells.cell, view->cell, sizeof *view->cell, err));
    NBD_TRY(nbd_copy(device, kept->gpu->stream, tree->moment, view->moment, row, err));
    return nbd_copy(device, kept->gpu->stream, tree->cells.number, kept->tree.number, n * sizeof *tree->cells.number,
                    err);
}

/* ---- the tree of all */

/* Bodies and cells of the own tree and of others. */
static size_t lay_out_whole(const struct device_tree *own, size_t n, size_t cells, char *at, struct device_tree *t)
{
    struct device_tree_layout l = {at, 0};
    *t = *own; /* places and tables */
    t->n = (int)n;
    t->room = (int)cells;
    t->x = gpunb_device_tree_take(&l, n, sizeof *t->x);
    t->mass = gpunb_device_tree_take(&l, n, sizeof *t->mass);
    t->view.x = (const double(*)[3])t->x;
    t->view.mass = t->mass;
    t->view.cell = gpunb_device_tree_take(&l, cells, sizeof *t->view.cell);
    t->view.node = gpunb_device_tree_take(&l, cells, sizeof *t->view.node);
    t->view.moment = gpunb_device_tree_take(&l, cells * (size_t)t->view.moments, sizeof(float));
    t->view.coefficient = gpunb_device_tree_take(&l, cells * (size_t)t->view.stride, sizeof(float));
    return l.bytes;
}

enum { ROWS_OF_A_PART = 256 };

/* Rows of cells as the device keeps them: of floats, the rest of a row is 0. */
struct rows {
    float *to;
    const float *from;
    size_t stride, length, n;
};

static void copy_part(void *context, int part, int parts)
{
    const struct rows *r = context;
    int64_t first, end;
    nbc_range((int64_t)r->n, part, parts, &first, &end);
    for (size_t c = (size_t)first; c < (size_t)end; c++) {
        float *row = r->to + c * r->stride;
        memcpy(row, r->from + c * r->length, r->length * sizeof *row);
        for (size_t k = r->length; k < r->stride; k++) row[k] = 0;
    }
}

static void copy_rows(float *to, size_t stride, const float *from, size_t length, size_t n)
{
    struct rows rows = {to, from, stride, length, n};
    nbc_team_run(nbc_parts((int64_t)n, ROWS_OF_A_PART), copy_part, &rows);
}

/* Cells of the host, as they follow those of a device. */
struct others {
    size_t n;
    struct tree_cell *cell;      /* [n] */
    float *moment, *coefficient; /* [n] rows */
};

/* Numbers of parts and places are those of the tree of all. */
static void place_cells(const struct others *o, const struct gpunb_tree *local, const struct gpunb_tree *whole,
                        int32_t own)
{
    const int32_t shift = (int32_t)local->cells.level[local->cells.n_levels] - 1;
    for (size_t c = 0; c < o->n; c++) {
        struct tree_cell *cell = &o->cell[c];
        *cell = (int32_t)c == own ? local->cells.cell[0] : whole->cells.cell[c];
        if ((int32_t)c == own) continue;
        if (cell->n_child > 0) cell->child += shift;
        if (cell->n_child == 0) cell->first += (int32_t)local->n;
    }
}

static size_t lay_out_others(size_t n, const struct tree_view *view, char *at, struct others *o)
{
    struct device_tree_layout l = {at, 0};
    o->n = n;
    o->cell = gpunb_device_tree_take(&l, n, sizeof *o->cell);
    o->moment = gpunb_device_tree_take(&l, n * (size_t)view->moments, sizeof *o->moment);
    o->coefficient = gpunb_device_tree_take(&l, n * (size_t)view->stride, sizeof *o->coefficient);
    return l.bytes;
}

/* Copies of the last force are done. */
static int pack_others(struct device_kept_tree *kept, const struct gpunb_tree *local, const struct gpunb_tree *whole,
                       int32_t own, struct others *o, struct nbc_error *err)
{
    const struct tree_view *view = &((const struct device_kept_tree *)local->kept)->tree.view;
    const size_t n = whole->cells.level[whole->cells.n_levels];
    NBD_TRY(gpunb_device_reserve(kept->gpu, &kept->on_host, lay_out_others(n, view, NULL, o), err));
    lay_out_others(n, view, kept->on_host.data, o);
    place_cells(o, local, whole, own);
    copy_rows(o->moment, (size_t)view->moments, whole->moment, whole->moments, n);
    copy_rows(o->coefficient, (size_t)view->stride, whole->coefficient, whole->coefficients, n);
    return NBC_OK;
}

/* Arrays of a tree in memory of a device. */
struct piece {
    void *to;
    const void *own, *others; /* others: those of the host */
    size_t size;
};

/* Cells: the root, the own ones from 1 on, all others. */
static int send_cells(const struct device_kept_tree *kept, const struct piece *piece, size_t own, size_t others,
                      struct nbc_error *err)
{
    const struct device_gpu *gpu = kept->gpu;
    const size_t size = piece->size;
    char *to = piece->to;
    NBD_TRY(nbd_copy(&gpu->device, gpu->stream, to, piece->own, own * size, err));
    NBD_TRY(nbd_copy(&gpu->device, gpu->stream, to, piece->others, size, err));
    if (others == 1) return NBC_OK;
    return nbd_copy(&gpu->device, gpu->stream, to + own * size, (const char *)piece->others + size, (others - 1) * size,
                    err);
}

static int send_bodies(const struct device_kept_tree *kept, const struct device_tree *own,
                       const struct gpunb_tree *whole, struct nbc_error *err)
{
    const struct device_gpu *gpu = kept->gpu;
    const struct device_tree *t = &kept->tree;
    const size_t n = (size_t)own->n;
    const struct piece pieces[] = {{t->x, own->x, whole->x, sizeof *t->x},
                                   {t->mass, own->mass, whole->mass, sizeof *t->mass}};
    for (size_t k = 0; k < sizeof pieces / sizeof pieces[0]; k++) {
        const struct piece *p = &pieces[k];
        NBD_TRY(nbd_copy(&gpu->device, gpu->stream, p->to, p->own, n * p->size, err));
        if (whole->n > 0)
            NBD_TRY(
                nbd_copy(&gpu->device, gpu->stream, (char *)p->to + n * p->size, p->others, whole->n * p->size, err));
    }
    return NBC_OK;
}

static int send(const struct device_kept_tree *kept, const struct device_kept_tree *local,
                const struct gpunb_tree *whole, const struct others *o, struct nbc_error *err)
{
    const struct device_gpu *gpu = kept->gpu;
    const struct tree_view *to = &kept->tree.view, *own = &local->tree.view;
    const size_t cells = (size_t)local->shape.n_cells;
    const struct piece pieces[] = {
        {to->cell, own->cell, o->cell, sizeof *to->cell},
        {to->moment, own->moment, o->moment, (size_t)to->moments * sizeof(float)},
        {to->coefficient, own->coefficient, o->coefficient, (size_t)to->stride * sizeof(float)}};
    NBD_TRY(send_bodies(kept, &local->tree, whole, err));
    for (size_t k = 0; k < sizeof pieces / sizeof pieces[0]; k++)
        NBD_TRY(send_cells(kept, &pieces[k], cells, o->n, err));
    NBD_LAUNCH(err, &gpu->device, gpu->kernels->tree->nodes(&kept->tree, kept->tree.room, gpu->stream));
    return NBC_OK;
}

static int join(struct device_kept_tree *kept, const struct gpunb_tree *local, const struct gpunb_tree *whole,
                const struct others *o, struct nbc_error *err)
{
    const struct device_kept_tree *own = local->kept;
    const size_t n = local->n + whole->n, cells = (size_t)own->shape.n_cells + o->n - 1;
    if (n > INT32_MAX || cells > INT32_MAX)
        return nbc_fail(err, NBC_NO_MEMORY, "gpunb: a tree of %zu bodies and %zu cells has no numbers", n, cells);
    NBD_TRY(nbd_use(&kept->gpu->device, err));
    NBD_TRY(
        gpunb_device_reserve(kept->gpu, &kept->memory, lay_out_whole(&own->tree, n, cells, NULL, &kept->tree), err));
    lay_out_whole(&own->tree, n, cells, kept->memory.data, &kept->tree);
    kept->tree.others = own->shape.n_cells;
    kept->tree.end_of_others = (int)cells;
    return send(kept, own, whole, o, err);
}

int gpunb_device_tree_join(void *state, const struct gpunb_tree *local, struct gpunb_tree *whole, int32_t own,
                           struct nbc_error *err)
{
    struct device_kept_tree *kept = gpunb_device_tree_record(state, whole);
    struct others others;
    if (!kept) return nbc_fail(err, NBC_NO_MEMORY, "gpunb: no memory for the tree of all parts");
    NBD_TRY(pack_others(kept, local, whole, own, &others, err));
    return join(kept, local, whole, &others, err);
}
