/** When strong encounters of three and more bodies begin and end. */
#ifndef NB6_CHAINS_SEARCH_H
#define NB6_CHAINS_SEARCH_H

#include "common/nbc.h"
#include "nbody6/state/body.h"

#include <stdint.h>

struct chain_group;
struct nb6_decisions;
struct nb6_sim;

/** Must the chain of a slot, as it is, give up a part?   @param[out] group  that part */
int nb6_chain_must_change(const struct nb6_sim *sim, nb6_slot slot, struct chain_group *group);
/** Pairs and chains of the last block that have to take another body in are added to the decisions. */
int nb6_chains_search(struct nb6_sim *sim, struct nb6_decisions *decisions, struct nbc_error *err);

#endif
