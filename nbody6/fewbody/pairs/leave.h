/** The resolved forces of systems that leave, and on systems that lose a perturber. */
#ifndef NB6_PAIRS_LEAVE_H
#define NB6_PAIRS_LEAVE_H

#include "nbody6/state/body.h"

#include <stdint.h>

struct nb6_motion;
struct nb6_sim;

/** Subtract the forces of bodies that leave at time t, absolute, beyond those of points of mass, from the polynomials
 * of the bodies that stay; positions and velocities do not change. nb6_attraction_remove does the same for the point
 * masses. To be called while lists of perturbers still have the bodies.
 *  @param[in] copy  motions at t   @param[in] moved  [bodies] < 0: leaves */
void nb6_subsystems_leave(struct nb6_sim *sim, const struct nb6_motion *copy, int64_t n_gone, const nb6_index *gone,
                          const nb6_index *moved, double t);

#endif
