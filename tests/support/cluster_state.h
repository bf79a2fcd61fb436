/** The state of a run as one number: that of two runs is the same if, and hardly ever unless, all that a step reads is.
 */
#ifndef NB6_TEST_CLUSTER_STATE_H
#define NB6_TEST_CLUSTER_STATE_H

#include "nbody6/run/nbody6.h"

#include <stdint.h>

uint64_t cluster_state(const nb6_t *sim);

#endif
