/** When a pair ends, and how long its centre of mass may go without a look. */
#ifndef NB6_PAIR_END_H
#define NB6_PAIR_END_H

#include "nbody6/state/body.h"

#include <stdint.h>

struct nb6_sim;

/** Why a pair has to end at block time t (enum nb6_pair_reason), or -1. */
int nb6_pair_must_end(const struct nb6_sim *sim, int64_t slot, nb6_time t);
/** Longest first irregular step of body i: derivatives summed over points of mass know nothing of the motion within
 *  pairs, so a body in whose force that motion shows, a perturbed centre of mass or a body that resolves a pair,
 *  starts with a small part of the inner period. INFINITY if there is none. */
double nb6_pairs_first_step(const struct nb6_sim *sim, int64_t i);

#endif
