/** The force of one body in the polynomials of another: moved between regular and irregular part, or removed. */
#ifndef NB6_ATTRACTION_H
#define NB6_ATTRACTION_H

#include "nbody6/state/body.h"

#include <stdint.h>

struct nb6_sim;

/** The force of star j on body i goes from the regular to the irregular polynomial: i has the other member of a new
 * pair in its list, and the centre of mass that replaces it represents both. Both bodies are at the same time, and the
 * regular polynomial of i begins then (nb6_subsystems_search ensures this): the path of a star in an encounter cannot
 * be followed back over another body's step. Body i is saved. */
void nb6_attraction_to_irregular(struct nb6_sim *sim, int64_t i, nb6_index j);
/** Subtract the forces of leaving bodies from those of all that stay. Positions and velocities at time t do not change:
 *  the forces have acted until then. All are saved.
 *  @param[in] gone [n_gone] bodies   @param[in] moved [bodies] < 0: leaves */
void nb6_attraction_remove(struct nb6_sim *sim, int64_t n_gone, const nb6_index *gone, const nb6_index *moved,
                           double t);
/** Take an acceleration and jerk at its time from the irregular force of a body, which keeps its place and velocity at
 *  time t, absolute. */
void nb6_attraction_take(struct nb6_sim *sim, int64_t i, const double acc[3], const double jerk[3], double t);

#endif
