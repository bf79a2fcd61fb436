/** What has to hold for every simulation with pairs and chains, whatever happened to it. */
#ifndef NB6_TEST_CLUSTER_CHECK_H
#define NB6_TEST_CLUSTER_CHECK_H

#include "nbody6/state/event.h"

/** Everything that is kept twice agrees: members, owners, lists, who is resolved by whom. */
void cluster_assert_consistent(nb6_t *sim);
/** Both have the same state, bit for bit. */
void cluster_assert_same(nb6_t *a, nb6_t *b);

#endif
