/** Single stars that come together from rest, or nearly so: none of their pairs dominates the others, and no pair
 * exists from which a chain could grow. */
#ifndef NB6_CHAINS_GATHER_SEARCH_H
#define NB6_CHAINS_GATHER_SEARCH_H

#include "nbody6/state/body.h"

#include <stdint.h>

struct nb6_chain_change;
struct nb6_sim;

/** All stars that i and j, near each other and disturbed by others, meet at the same time.
 *  @param[out] gather  a change to a chain, if they are three or more and nothing else is in the way
 *  @return whether it is one */
int nb6_gather_find(const struct nb6_sim *sim, nb6_time t, nb6_index i, nb6_index j, struct nb6_chain_change *gather);

#endif
