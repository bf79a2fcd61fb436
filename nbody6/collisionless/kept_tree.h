/** The tree of a collisionless system that outlives its forces (rebuild.h): that of the host engine, and the layout of
 *  the last build in memory of the host, for checkpoints and for devices. */
#ifndef NB6_KEPT_TREE_H
#define NB6_KEPT_TREE_H

#include "common/nbc.h"
#include "gpunb/gpunb.h"
#include "gpunb/tree.h"
#include "nbody6/collisionless/rebuild.h"

#include <stdint.h>

struct nb6_collisionless;

/** No block has this number. */
#define NB6_NO_BUILD UINT64_MAX

/** All NULL where trees are not kept. */
struct nb6_kept_tree {
    gpunb_tree_t *tree;    /**< of the forces that the host asks for; NULL until there is one */
    uint64_t tree_block;   /**< the build whose cells it has */
    int32_t *order;        /**< [n] layout (gpunb/tree_kept.h) */
    uint8_t *cut;          /**< [n] */
    uint64_t layout_block; /**< the build that it is of */
    int has_places;        /**< 1: of several ranks, whose bodies come with their places then (ranks/places.h) */
};

/** Columns for the layout, if the system keeps a tree; it has none yet.   @param[in] has_layout  0: ranks have the tree
 *  @return NBC_OK; NBC_NO_MEMORY */
int nb6_kept_tree_open(struct nb6_collisionless *system, int has_layout, struct nbc_error *err);
/** Before the forces of the system are closed. */
void nb6_kept_tree_close(struct nb6_collisionless *system);
/** The state of another system's builds, and its layout, if a tree stands there and has the leaves of this one; of
 *  several ranks the layout is left to them. */
void nb6_kept_tree_take(struct nb6_collisionless *system, const struct nb6_collisionless *then);

/** A force from the sources that were sent: by the tree, if `force` builds or renews it; else as gpunb_softened.
 *  @return as gpunb_softened */
int nb6_kept_tree_force(struct nb6_collisionless *system, const struct nb6_rebuild_force *force,
                        const struct gpunb_softened_job *job, struct nbc_error *err);
/** A force on all bodies that is not that of a block, as of the start, or of potentials: by the cells of the last build
 *  where its tree stands, by new ones elsewhere, or without a tree.
 *  @param[in] parts  of the bodies, whose forces are made apart */
struct nb6_rebuild_force nb6_kept_tree_apart(const struct nb6_collisionless *system, int parts);
/** The layout is that of the last build. After a block that has failed in its build it cannot be had: the tree is
 *  missing then, and built in the next block as it would have been.   @return NBC_OK; as gpunb_tree_get_layout */
int nb6_kept_tree_home(struct nb6_collisionless *system, struct nbc_error *err);

#endif
