/** What has to hold for every simulation with pairs and chains, whatever happened to it. */
#ifndef NB6_TEST_CLUSTER_CHECK_H
#define NB6_TEST_CLUSTER_CHECK_H

#include "nbody6/state/event.h"

/** Everything that is kept twice agrees: members, owners, lists, who is resolved by whom. */
void cluster_assert_consistent(nb6_t *sim);
/** GPUNB has the predictors of all bodies that take part and of nobody else: forces on a few points are those of a
 *  library that was opened just now. */
void cluster_check_sources(const nb6_t *sim);
/** Both have the same state, bit for bit. */
void cluster_assert_same(nb6_t *a, nb6_t *b);

#endif
