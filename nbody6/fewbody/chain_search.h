/** When strong encounters of three and more bodies begin and end. */
#ifndef NB6_CHAIN_SEARCH_H
#define NB6_CHAIN_SEARCH_H

#include "common/nbc.h"
#include "nbody6/state/body.h"

#include <stdint.h>

struct chain_group;
struct nb6_decisions;
struct nb6_sim;

/** What comes near a pair or chain: the perturber with the largest tide. */
struct nb6_intruder {
    int32_t j;           /**< -1: none */
    double x[3], v[3];   /**< seen from the centre of mass */
    double r2, rv, tide; /**< squared distance, x.v, mass over distance cubed */
};

/** Radius that makes the system in a slot compact: a chain is not wider. */
double nb6_compact_radius(const struct nb6_sim *sim, int64_t slot);
/** Whether the chain of a slot, as it stands, has to give up a part.   @param[out] group  of it */
int nb6_chain_must_change(const struct nb6_sim *sim, int64_t slot, struct chain_group *group);
struct nb6_intruder nb6_find_intruder(const struct nb6_sim *sim, int64_t slot, nb6_time t);
/** Pairs and chains of the last block that have to take another body in are added to the decisions. */
int nb6_chains_search(struct nb6_sim *sim, struct nb6_decisions *decisions, struct nbc_error *err);

#endif
