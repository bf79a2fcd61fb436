/** When the tree of a collisionless system gets new cells, and when those that it has are renewed (REUSE).
 *
 *  A tree serves REUSE longest steps: its order and cells stay, boxes, centres and multipoles are those of the
 * positions of each force, so that every force is within the aim (gpunb/tree.h). Bodies move apart, cells grow, and
 * more of them have to be opened. The measure of that is the number of cells that groups opened, or summed by bodies,
 * in a force on all bodies: as many more as in the first such force after the build are pairs of a group and a cell
 * that fail their bound now. When they are more than a tenth of the pairs that were accepted then, the tree is built
 * anew at the next force that it makes. These are counts of whole numbers: positions decide, and neither threads nor
 * clocks do.
 *
 *  On several ranks (ranks/trees.h) new cells bring new lists of what goes where, and bodies move: there the nominal
 *  cost of the lists of a force on all bodies, of all ranks, is the measure. What they cost more than those of the
 * first one after the build, force by force, is weighed against a build. */
#ifndef NB6_REBUILD_H
#define NB6_REBUILD_H

#include "gpunb/softened_device.h"
#include "gpunb/tree.h"
#include "nbody6/state/body.h"

#include <stdint.h>

struct nb6_collisionless;

/** The state of the tree of the last build. */
enum nb6_tree_state {
    NB6_TREE_STANDS = 0,
    NB6_TREE_IS_MISSING = 1, /**< there is none */
    NB6_TREE_IS_WORN = 2     /**< too many pairs have failed */
};

/** The part of the state that decides about builds; all of it is in a checkpoint. */
struct nb6_rebuild {
    nb6_time ti_build;                /**< the block time of the last build */
    uint64_t builds, renewals, early; /**< since the start; early: builds because pairs had failed */
    uint64_t accepted, opened;        /**< cells in the first force on all bodies since; accepted = 0: none yet */
    uint64_t failed;                  /**< pairs that failed in the last force on all bodies */
                                      /* On several ranks accepted is the cost of the lists of the first of these
                                       * forces, opened what all since have cost more, failed what the last has. */
    int state;                        /**< enum nb6_tree_state */
    int leaf;                         /**< bodies of a leaf of its cells */
};

/** A force of a block: what it does about the tree. */
struct nb6_rebuild_force {
    enum gpunb_kept_tree kept;
    int is_apart;                    /**< 1: it is that of no block: new cells are those of no build */
    int is_judged;                   /**< 1: it is on all bodies, by tree: its counts judge the cells */
    struct gpunb_tree_counts before; /**< of all trees that make it, as the caller has read them */
};

/** Whether the next build belongs to the block that ends at ti_next: it is made if a tree makes the force of the block.
 *  Its number is system->n_blocks, as system->build_block has it afterwards. */
int nb6_rebuild_is_due(const struct nb6_collisionless *system, nb6_time ti_next);
/** Choose what the force of a block on n_due bodies does; the system stays as it is.
 *  @param[in] parts  of the bodies, whose forces are made apart
 *  @param[out] force  for nb6_rebuild_end; the caller adds `before` if it is judged */
void nb6_rebuild_begin(const struct nb6_collisionless *system, nb6_time ti_next, int64_t n_due, int parts,
                       struct nb6_rebuild_force *force);
/** The force was made, and the block will be committed.   @param[in] now  as `before`, if it is judged; NULL: ranks
 *  judge it by its work */
void nb6_rebuild_end(struct nb6_collisionless *system, nb6_time ti_next, const struct nb6_rebuild_force *force,
                     const struct gpunb_tree_counts *now);
/** After nb6_rebuild_end of a force on all bodies that several ranks have made.
 *  @param[in] of_force, of_step  nominal cost of its lists, and of those of all blocks of the longest step that it
 * ends, in pairs, of all ranks */
void nb6_rebuild_judge_work(struct nb6_collisionless *system, nb6_time ti_next, uint64_t of_force, uint64_t of_step);
/** Groups of other bodies make the forces from now on: with the next force on all of them later ones are compared. */
void nb6_rebuild_compare_anew(struct nb6_collisionless *system);
/** Pairs that failed in the last force on all bodies, over those that were accepted after the build; on several ranks
 *  the part by which its lists cost more. */
double nb6_rebuild_failed(const struct nb6_collisionless *system);

#endif
