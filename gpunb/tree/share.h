/** Sums of a piece of a list, by one thread or shared among the team. */
#ifndef GPUNB_TREE_SHARE_H
#define GPUNB_TREE_SHARE_H

#include "gpunb/tree/method.h"

/** Parts of a list that are summed apart by GPUNB_WALK_ONE_BY_ONE_J, whatever the number of threads. */
enum { TREE_SHARES = 4 };

/** Cells, or bodies if there are no cells, on the targets of a group. */
struct tree_piece {
    const struct gpunb_tree_method *method;
    enum gpunb_walk walk;
    int order;
    const struct gpunb_tree_term *term; /**< NULL: bodies */
    struct gpunb_tree_bodies bodies;
    size_t n;
    double *apart; /**< [TREE_SHARES][TREE_SUMS][room] scratch of GPUNB_WALK_ONE_BY_ONE_J */
};

/** Adds the sums of a piece to those of the targets. */
void tree_add_piece(const struct gpunb_tree_targets *targets, const struct tree_piece *piece);

#endif
