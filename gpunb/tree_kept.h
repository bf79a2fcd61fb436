/** Trees that outlive a force: cells that are renewed many times, their layout for checkpoints, and trees of sources
 * that lie in the memory of a device. For programs that keep bodies for a whole run, beside the calls of gpunb/tree.h.
 */
#ifndef GPUNB_TREE_KEPT_H
#define GPUNB_TREE_KEPT_H

#include "gpunb/softened_device.h"
#include "gpunb/tree.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A tree that has no cells yet.
 *  @param[out] tree  set on success only; to be freed with gpunb_tree_free before the handle
 *  @return NBC_OK; NBC_BAD_STATE (the handle was opened for direct sums); NBC_NO_MEMORY */
int gpunb_tree_create(gpunb_t *handle, gpunb_tree_t **tree);
/** gpunb_tree_build_moved in the memory of a tree that is there, whose cells are gone then.
 *  @return as gpunb_tree_build; after a failure the tree can be rebuilt, or be freed */
int gpunb_tree_rebuild(gpunb_t *handle, uint64_t build, gpunb_tree_t *tree);

/** gpunb_tree_get_counts where a failure counts.   @return NBC_OK; NBC_DEVICE: those of the device are lost */
int gpunb_tree_read_counts(gpunb_t *handle, struct gpunb_tree_counts *counts);

/** Bodies that no key tells apart are in the order of their numbers in new trees, counted from this one on, around:
 *  several handles that have the same sources by other numbers get the same tree. 0 in a new handle.
 *  @param[in] number  below that of sources */
void gpunb_tree_number_from(gpunb_t *handle, size_t number);

/** Nominal cost in pairs, as gpunb_softened_pairs has it, of a force by a tree that is kept.
 *  @param[in] builds  the part of a build that the force bears: 1: the tree is new; 0: it is renewed */
double gpunb_tree_kept_pairs(const gpunb_t *handle, size_t n_i, size_t n_j, double builds);
/** Whether that is less than the direct sum, or trees are for all forces of the handle. */
int gpunb_tree_kept_is_worth(const gpunb_t *handle, size_t n_i, size_t n_j, double builds);

/** The layout of a tree of n sources: all that renewals keep of it.
 *  @param[out] order  [n] source at each place
 *  @param[out] cut    [n] depth of the cell whose part begins at a place, from 0 on; 255: none begins there
 *  @return NBC_OK; NBC_BAD_STATE (it has no cells); NBC_NO_MEMORY; NBC_DEVICE */
int gpunb_tree_get_layout(gpunb_t *handle, const gpunb_tree_t *tree, int32_t *order, uint8_t *cut);
/** The first place by which a column is that of no tree of n bodies, n >= 1; n: there is none.
 *  @return of `order`: -1 without memory */
int64_t gpunb_tree_order_flaw(size_t n, const int32_t *order);
int64_t gpunb_tree_cut_flaw(size_t n, const uint8_t *cut);
/** Cells of such a layout for a tree of n sources. A renewal comes next; forces on targets that are sources have the
 *  bits then that they have by the tree whose layout it was. On a device other targets are in no order, and take
 *  longer.
 *  @return NBC_OK; NBC_BAD_ARGUMENT: it is none; NBC_NO_MEMORY; NBC_DEVICE */
int gpunb_tree_restore(gpunb_t *handle, gpunb_tree_t *tree, size_t n, const int32_t *order, const uint8_t *cut);

/** Memory of a tree of n_j sources on the current device, and the scratch of calls of gpunb_softened_device that have
 *  it (`kept`).   @return as gpunb_softened_device_bytes; NBC_BAD_STATE (the handle was opened for direct sums) */
int gpunb_softened_device_kept_bytes(gpunb_t *handle, size_t n_i, size_t n_j, size_t *tree, size_t *work);
/** A tree without cells for calls of gpunb_softened_device, with all its memory.   @return as gpunb_tree_create;
 *  NBC_UNAVAILABLE (the backend has no devices); NBC_DEVICE */
int gpunb_softened_device_tree(gpunb_t *handle, size_t n_j, gpunb_tree_t **tree);
/** Enqueue new numbers for the sources of such a tree, which it keeps its cells for: 0, 1, 2, ... are those that follow
 *  each other in it, from this place on, around. A renewal comes next, with the sources by these numbers.
 *  @param[in] first  below the number of sources   @param[in] stream  as of gpunb_softened_device
 *  @return NBC_OK; NBC_BAD_ARGUMENT; NBC_BAD_STATE (the tree has no cells); NBC_DEVICE */
int gpunb_softened_device_renumber(gpunb_t *handle, gpunb_tree_t *tree, size_t first, void *stream);

#ifdef __cplusplus
}
#endif
#endif
