/** Pairs, chains and hierarchies when bodies leave and those that stay get new numbers. */
#ifndef NB6_RENAME_H
#define NB6_RENAME_H

#include "common/nbc.h"
#include "nbody6/state/body.h"

#include <stdint.h>

struct nb6_motion;
struct nb6_sim;

/** While all have their old numbers: motions that lose a perturber, and those in a group with them, become those of a
 * copy at the time at which it leaves. So it acts on them until then, and all of them are at one time.
 *  @param[in] moved  [bodies] < 0: leaves */
void nb6_subsystems_come_to_copy(struct nb6_sim *sim, const struct nb6_motion *copy, const nb6_index *moved);
/** Free the slots with a leaving centre of mass, and count them as ended.   @param[in] moved  [bodies] < 0: leaves */
int nb6_subsystems_vanish(struct nb6_sim *sim, const nb6_index *moved, struct nbc_error *err);
/** After that and nb6_bodies_renumber: members, perturbers and sources by the new numbers; pairs that lose a perturber
 *  restart from their present state.   @param[in] moved  new number of each previous body */
int nb6_subsystems_rename(struct nb6_sim *sim, const nb6_index *moved, struct nbc_error *err);

#endif
