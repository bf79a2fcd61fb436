/** Pairs, chains and hierarchies when bodies leave and those that stay get new numbers. */
#ifndef NB6_RENAME_H
#define NB6_RENAME_H

#include "common/nbc.h"

#include <stdint.h>

struct nb6_sim;

/** Free the slots whose centre of mass leaves, and count them as ended.   @param[in] moved [bodies] < 0: who leaves */
int nb6_pairs_vanish(struct nb6_sim *sim, const int32_t *moved, struct nbc_error *err);
/** After that and nb6_bodies_renumber: members, perturbers and sources by the new numbers; pairs that lose a perturber
 *  begin anew.   @param[in] moved  new number of each body as it was */
int nb6_pairs_rename(struct nb6_sim *sim, const int32_t *moved, struct nbc_error *err);

#endif
