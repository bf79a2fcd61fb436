/** The walk of one group: its list, summed piece by piece while it is made. */
#ifndef GPUNB_TREE_WALK_H
#define GPUNB_TREE_WALK_H

#include "gpunb/tree/accept.h"
#include "gpunb/tree/groups.h"
#include "gpunb/tree/share.h"

/** A force, whose walks share it. */
struct tree_force {
    const struct gpunb_tree *tree;
    const struct tree_groups *groups;
    const struct gpunb_softened_job *job;
    const double (*acc_last)[3]; /**< NULL: by angle */
    struct tree_rule rule;
};

/** Memory of a thread, for groups of up to `room` targets. */
struct tree_space {
    size_t room;
    double *x[3], *sum[TREE_SUMS], *apart;
    int32_t *place, *own; /**< [room] of the source that the target is, in the tree and among the bodies of a piece */
    struct tree_pile {
        size_t n;
        double x[3][TREE_BODIES], mass[TREE_BODIES];
        int32_t place[TREE_BODIES];
    } far, near;
    struct gpunb_tree_term term[TREE_TERMS], far_cell[TREE_TERMS];
    size_t n_terms, n_far_cells;                /**< far_cell: those that act on the group as a whole */
    _Alignas(64) double local[TREE_LOCAL_ROOM]; /**< their expansion about the centre of the group */
    struct gpunb_tree_counts counts;
};

/** Bytes of a space for groups of so many targets, and a space in them. */
size_t tree_space_bytes(size_t most);
struct tree_space *tree_space_at(void *memory, size_t most);

/** Sums of all targets of a group: in space->sum, by the order of the group.
 *  @return 1; 0: there are none, since positions in so wide a group do not tell its targets apart: each is its own */
int tree_walk(const struct tree_force *force, struct tree_space *space, const struct tree_group *group);

#endif
