/** When a pair ends. */
#ifndef NB6_PAIRS_END_H
#define NB6_PAIRS_END_H

#include "nbody6/state/body.h"

#include <stdint.h>

struct nb6_sim;

/** Why a pair has to end at block time t (enum nb6_pair_reason), or -1. */
int nb6_pair_must_end(const struct nb6_sim *sim, nb6_slot slot, nb6_time t);

#endif
