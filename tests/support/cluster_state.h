/** The state of a run as one number: that of two runs is the same if, and hardly ever unless, all that a step reads is.
 *  How long the sessions before took is no part of it. */
#ifndef NB6_TEST_CLUSTER_STATE_H
#define NB6_TEST_CLUSTER_STATE_H

#include "nbody6/run/nbody6.h"

#include <stdint.h>

/** Of what is in host memory. */
uint64_t cluster_state(const nb6_t *sim);
/** Brought home first. */
uint64_t cluster_state_at_home(nb6_t *sim);
/** The same, after which the run is freed. */
uint64_t cluster_state_at_end(nb6_t *sim);

#endif
