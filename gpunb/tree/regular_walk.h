/** Regular forces by a tree: the walk for a run of targets, from regions to groups. */
#ifndef GPUNB_TREE_REGULAR_WALK_H
#define GPUNB_TREE_REGULAR_WALK_H

#include "gpunb/pair.h"
#include "gpunb/tree/groups.h"
#include "gpunb/tree/rates.h"

/** A run of cells that are parts of one, and the targets in them, by place in the order of struct tree_groups. */
struct tree_run {
    int32_t cell, cells;
    int32_t first, count;
};

/** The regular forces of a block, whose walks share this. */
struct tree_regular_force {
    const struct gpunb_tree *tree;
    const struct tree_motion *motion; /**< [cells] */
    const char *rate;                 /**< [cells][moments] */
    const struct tree_groups *groups;
    const struct gpunb_block *block;
    const double (*x)[3];        /**< [n_i] targets as the backend keeps sources */
    const double (*acc_last)[3]; /**< NULL: by angle */
    struct tree_rule rule;
    double heavy; /**< bodies of more mass act as themselves */
    void *state;  /**< of the backend */
};

/** Levels of regions that have an expansion of their own, and cells that the lists of these levels have room for. */
enum { TREE_REGIONS = 24, TREE_LIST_ROOM = 1 << 16 };

/** Memory of a thread. */
struct tree_regular_space {
    struct gpunb_tree_field field[TREE_REGIONS];
    struct gpunb_tree_mover mover[TREE_TERMS];
    size_t n_movers;
    struct gpunb_regular_pile pile;
    struct gpunb_sum *sum; /**< [group] */
    int32_t *place;        /**< [group] of each target in the tree; -1: it is no source */
    int32_t list[TREE_LIST_ROOM];
    struct gpunb_tree_counts counts;
};

/** Bytes of a space for groups of so many targets, and a space in them. */
size_t tree_regular_bytes(size_t most);
struct tree_regular_space *tree_regular_space_at(void *memory, size_t most);

/** The runs that cells of all targets are cut into, of at most `most` targets where cells have parts.
 *  @param[out] run [room]; NULL: they are counted   @return how many there are */
size_t tree_list_runs(const struct tree_groups *groups, int32_t most, struct tree_run *run);
/** Results of all targets of a run, by the backend. */
void tree_walk_run(const struct tree_regular_force *force, struct tree_regular_space *space, const struct tree_run *run,
                   int thread);

/* Expansions of moving cells (moving.h), in double. */

/** An expansion about another point and in another frame.
 *  @param[in] u      where the point is, over the unit of `from`   @param[in] w  the velocity of the frame in the old
 * one
 *  @param[in] ratio  the new unit over the old one */
void tree_shift_field(const struct gpunb_tree_field *from, const double u[3], const double w[3], double ratio,
                      struct gpunb_tree_field *to);
/** Its sums at y, for a velocity w in its frame. */
void tree_add_field(const struct gpunb_tree_field *field, double unit, const double y[3], const double w[3],
                    struct gpunb_sum *sum);

#endif
