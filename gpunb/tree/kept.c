/* Trees that outlive a force: the calls of gpunb/tree_kept.h. */
#include "gpunb/tree_kept.h"

#include "gpunb/handle.h"
#include "gpunb/tree/layout.h"
#include "gpunb/tree/tree.h"

#include <math.h>
#include <string.h>

int gpunb_tree_create(gpunb_t *handle, gpunb_tree_t **tree)
{
    if (!handle || !tree) return NBC_BAD_ARGUMENT;
    if (!handle->tree)
        return nbc_fail(&handle->error, NBC_BAD_STATE,
                        "gpunb_tree_create: this handle makes direct sums; give gpunb_create a force_error or theta");
    struct gpunb_tree *made = nbc_alloc(1, sizeof *made);
    if (!made) return nbc_fail(&handle->error, NBC_NO_MEMORY, "gpunb_tree_create: no memory for a tree");
    made->use = handle->tree;
    *tree = made;
    return NBC_OK;
}

int gpunb_tree_rebuild(gpunb_t *handle, uint64_t build, gpunb_tree_t *tree)
{
    if (!handle || !tree) return NBC_BAD_ARGUMENT;
    int status = gpunb_tree_check_call(handle, "gpunb_tree_rebuild");
    if (status) return status;
    if (tree->use != handle->tree)
        return nbc_fail(&handle->error, NBC_BAD_ARGUMENT, "gpunb_tree_rebuild: the tree is of another handle");
    tree->build = build;
    status = gpunb_tree_fill(handle, tree, 1);
    if (!status) handle->tree->counts.builds++;
    return status;
}

int gpunb_tree_read_counts(gpunb_t *handle, struct gpunb_tree_counts *counts)
{
    const struct gpunb_tree_device *device = handle->tree ? handle->tree->method->device : NULL;
    memset(counts, 0, sizeof *counts);
    if (!handle->tree) return NBC_OK;
    *counts = handle->tree->counts;
    return device ? device->add_counts(handle->state, counts, &handle->error) : NBC_OK;
}

void gpunb_tree_number_from(gpunb_t *handle, size_t number)
{
    if (handle->tree) handle->tree->origin = (int32_t)number;
}

/* ---- costs */

/* A renewal has moments, and no keys, order and cells. */
double gpunb_tree_kept_pairs(const gpunb_t *handle, size_t n_i, size_t n_j, double builds)
{
    double by_tree;
    const double direct = gpunb_softened_pairs(handle, n_i, n_j, &by_tree);
    if (!handle->tree || n_j == 0) return direct;
    const struct gpunb_tree_costs *costs = &handle->tree->costs;
    return by_tree - (1 - builds) * (double)n_j * costs->source / costs->pair;
}

int gpunb_tree_kept_is_worth(const gpunb_t *handle, size_t n_i, size_t n_j, double builds)
{
    if (!handle->tree) return 0;
    return (double)n_i * (double)n_j > gpunb_tree_kept_pairs(handle, n_i, n_j, builds) || handle->tree->always;
}

/* ---- layouts */

static void layout_on_host(const struct gpunb_tree *tree, int32_t *order, uint8_t *cut)
{
    int32_t level[TREE_LEVELS + 1];
    const struct tree_cells *cells = &tree->cells;
    for (int l = 0; l <= cells->n_levels; l++) level[l] = (int32_t)cells->level[l];
    memcpy(order, cells->number, tree->n * sizeof *order);
    tree_layout_cuts(cells->cell, cells->n_levels, level, tree->n, cut);
}

int64_t gpunb_tree_order_flaw(size_t n, const int32_t *order)
{
    return tree_layout_order_flaw(n, order);
}

int64_t gpunb_tree_cut_flaw(size_t n, const uint8_t *cut)
{
    return tree_layout_cut_flaw(n, cut);
}

int gpunb_tree_get_layout(gpunb_t *handle, const gpunb_tree_t *tree, int32_t *order, uint8_t *cut)
{
    if (!handle || !tree || !order || !cut) return NBC_BAD_ARGUMENT;
    const struct gpunb_tree_device *device = tree->use->method->device;
    if (!tree->has_cells)
        return nbc_fail(&handle->error, NBC_BAD_STATE, "gpunb_tree_get_layout: the tree has no cells");
    if (device) return device->get_layout(handle->state, tree, order, cut, &handle->error);
    layout_on_host(tree, order, cut);
    return NBC_OK;
}

static int restore_on_device(gpunb_t *handle, struct gpunb_tree *tree, size_t n, const int32_t *order,
                             const uint8_t *cut)
{
    const struct gpunb_tree_device *device = handle->tree->method->device;
    struct tree_cells cells = {0};
    int status = tree_layout_restore(&cells, n, order, cut);
    if (!status) status = device->restore(handle->state, handle->tree, tree, &cells, &handle->error);
    tree_free_cells(&cells);
    return status;
}

int gpunb_tree_restore(gpunb_t *handle, gpunb_tree_t *tree, size_t n, const int32_t *order, const uint8_t *cut)
{
    if (!handle || !tree || n == 0 || n > INT32_MAX || !order || !cut) return NBC_BAD_ARGUMENT;
    tree->is_sound = tree->has_cells = 0;
    tree->n = n;
    const int status = handle->tree->method->device ? restore_on_device(handle, tree, n, order, cut)
                                                    : tree_layout_restore(&tree->cells, n, order, cut);
    tree->has_cells = status == NBC_OK;
    if (status == NBC_BAD_ARGUMENT)
        return nbc_fail(&handle->error, status, "gpunb_tree_restore: no tree of %zu bodies has this layout", n);
    if (status == NBC_NO_MEMORY)
        return nbc_fail(&handle->error, status, "gpunb_tree_restore: no memory for a tree of %zu bodies", n);
    return status;
}
