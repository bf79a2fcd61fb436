/** Pairs that can be frozen, with their companions. */
#ifndef NB6_HIERARCHY_SEARCH_H
#define NB6_HIERARCHY_SEARCH_H

#include "common/nbc.h"

struct nb6_decisions;
struct nb6_sim;

/** Pairs of the last block that can be frozen, with their companions, are added to the pairs that form. */
int nb6_hierarchies_search(struct nb6_sim *sim, struct nb6_decisions *decisions, struct nbc_error *err);

#endif
