/** Forces by a tree (gpunb/tree.h) in a collisionless system. */
#ifndef NB6_BY_TREE_H
#define NB6_BY_TREE_H

#include "gpunb/tree.h"

/** Whether options ask for a tree. */
static inline int nb6_force_is_by_tree(const struct gpunb_options *force)
{
    return force->force_error > 0 || force->theta > 0;
}

static inline void nb6_add_tree_counts(const struct gpunb_tree_counts *more, struct gpunb_tree_counts *sum)
{
    sum->builds += more->builds;
    sum->renewals += more->renewals;
    sum->forces += more->forces;
    sum->targets += more->targets;
    sum->groups += more->groups;
    sum->tests += more->tests;
    sum->listed_cells += more->listed_cells;
    sum->listed_bodies += more->listed_bodies;
    sum->cell_terms += more->cell_terms;
    sum->pair_terms += more->pair_terms;
    sum->first_forces += more->first_forces;
    for (int stage = 0; stage < GPUNB_TREE_STAGES; stage++) sum->seconds[stage] += more->seconds[stage];
}

#endif
