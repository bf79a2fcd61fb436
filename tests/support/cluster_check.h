/** Invariants of every simulation with pairs and chains. */
#ifndef NB6_TEST_CLUSTER_CHECK_H
#define NB6_TEST_CLUSTER_CHECK_H

#include "nbody6/state/event.h"

/** All redundant data agree: members, owners, lists, resolved systems and the bodies that resolve them. */
void cluster_assert_consistent(nb6_t *sim);
/** GPUNB has the predictors of all bodies that take part and of no others: forces on a few points are those of a
 *  library that was opened just now. */
void cluster_check_sources(const nb6_t *sim);
/** Both have the same state, bit for bit. */
void cluster_assert_same(nb6_t *a, nb6_t *b);

/** A call was refused with this status and a message that has these words, and nothing has changed.
 *  @param[in] bits  cluster_state before the call */
void cluster_assert_refused(const nb6_t *sim, int status, int wanted, const struct nbc_error *err, const char *words,
                            uint64_t bits);

#endif
