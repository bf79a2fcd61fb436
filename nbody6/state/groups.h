/** Pairs and chains that resolve each other and advance together.
 *
 *  An unperturbed slot is a group of one and needs no steps; all others are listed. The functions below
 *  process slots that are noted (resolvers.h) alone. */
#ifndef NB6_GROUPS_H
#define NB6_GROUPS_H

#include "nbody6/state/body.h"

#include <stdint.h>

struct nb6_subsystems;
struct nb6_sim;

/** Find the groups of noted slots anew, after their lists of perturbers have changed. */
void nb6_groups_link(struct nb6_sim *sim);
/** When each group of noted slots is due, after they were linked or motions have begun anew; nothing is noted then. */
void nb6_groups_set_next(struct nb6_sim *sim);
/** Both for all slots, filled or changed in any way. */
void nb6_groups_find(struct nb6_sim *sim);
/** When the first step of a group ends. */
double nb6_group_step_end(const struct nb6_subsystems *subsystems, nb6_slot leader);
/** Initialise a slot for a new system. */
void nb6_groups_add(struct nb6_subsystems *subsystems, nb6_slot slot);

#endif
