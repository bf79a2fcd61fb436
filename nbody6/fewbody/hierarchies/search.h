/** Pairs that can be frozen, with their companions. */
#ifndef NB6_HIERARCHIES_SEARCH_H
#define NB6_HIERARCHIES_SEARCH_H

#include "common/nbc.h"
#include "nbody6/state/body.h"

#include <stdint.h>

struct nb6_decisions;
struct nb6_sim;

/** Whether body i is a hard pair that can be frozen at block time t with body j going round it. */
int nb6_hierarchy_can_form(const struct nb6_sim *sim, nb6_index i, nb6_index j, nb6_time t);
/** Pairs of the last block that can be frozen, with their companions, are added to the pairs that form. */
int nb6_hierarchies_search(struct nb6_sim *sim, struct nb6_decisions *decisions, struct nbc_error *err);

#endif
