/** The tree of a collisionless run in its checkpoint, where it serves many steps (REUSE > 1): what decides about the
 * next build, and, if none is due, the layout of the last one, or of several ranks where bodies were then. Failures
 * stay in the file. Private to collisionless_checkpoint.c and its tests. */
#ifndef NB6_CHECKPOINT_TREE_H
#define NB6_CHECKPOINT_TREE_H

#include "nbody6/hdf5/hdf5_util.h"
#include "nbody6/state/body_rows.h"

#include <stdint.h>

struct nb6_collisionless;

/** Groups: a record, and the columns of the layout, or of the places. */
#define NB6_CHECKPOINT_TREE "tree"
#define NB6_CHECKPOINT_LAYOUT "tree_layout"
#define NB6_CHECKPOINT_PLACES "tree_places"

/** @param[in] system  at home   @param[in] rows  of its bodies, and of several ranks of their places */
void nb6_checkpoint_write_tree(struct nb6_hdf5 *file, const struct nb6_collisionless *system,
                               const struct nb6_body_rows *rows);
/** The same read and judged, but for places.
 *  @param[in] with_layout  0: bodies are not in memory
 *  @param[in,out] then  with n, reuse, n_blocks and ti_now; its `kept` gets columns, to be freed with
 *  nb6_checkpoint_release_tree */
void nb6_checkpoint_read_tree(struct nb6_hdf5 *file, int with_layout, struct nb6_collisionless *then);
/** Places, judged and in pieces.   @param[in] ranks  that there were domains of */
void nb6_checkpoint_give_places(struct nb6_hdf5 *file, int64_t n, int ranks, const struct nb6_body_sink *sink);
void nb6_checkpoint_release_tree(struct nb6_collisionless *then);

#endif
