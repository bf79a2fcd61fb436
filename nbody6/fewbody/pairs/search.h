/** Stars on their way to each other that become pairs. */
#ifndef NB6_PAIRS_SEARCH_H
#define NB6_PAIRS_SEARCH_H

#include "common/nbc.h"
#include "nbody6/state/body.h"

#include <stdint.h>

struct nb6_decisions;
struct nb6_sim;

/** Candidates among the members of the last block, for pairs, or, where more than two stars come together, for a chain
 * (gather_search.h). A pair is formed when both stars, and all bodies with only one of them in their neighbour list,
 * have ended a regular and an irregular step at the block time; else all are synchronised to the next common step. */
int nb6_subsystems_search(struct nb6_sim *sim, struct nb6_decisions *decisions, struct nbc_error *err);
/** Perturbation of the relative motion of i and j by the neighbours of body i, in units of their attraction. */
double nb6_pair_perturbation(const struct nb6_sim *sim, nb6_time t, nb6_index i, nb6_index j);

#endif
