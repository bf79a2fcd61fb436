/** How long the first step of a body may be that feels the motion within a pair. */
#ifndef NB6_FIRST_STEP_H
#define NB6_FIRST_STEP_H

#include <stdint.h>

struct nb6_sim;

/** Longest first irregular step of body i: derivatives summed over points of mass do not include the motion within
 *  pairs, so a body with this motion in its force, a perturbed centre of mass or a body that resolves a pair, starts
 *  with a small part of the inner period. INFINITY if there is none. */
double nb6_subsystems_first_step(const struct nb6_sim *sim, int64_t i);

#endif
