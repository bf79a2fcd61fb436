/** The resolved forces of systems that leave, and on systems that lose a perturber. */
#ifndef NB6_PAIRS_LEAVE_H
#define NB6_PAIRS_LEAVE_H

#include <stdint.h>

struct nb6_motion;
struct nb6_sim;

/** Take what bodies that leave at time t, absolute, do to those that stay, beyond points of mass, from the polynomials
 * of these, which keep their places and velocities then. Beside nb6_attraction_remove, which does so with points, and
 * as long as lists of perturbers have them.
 *  @param[in] copy  motions at t   @param[in] moved  [bodies] < 0: leaves */
void nb6_subsystems_leave(struct nb6_sim *sim, const struct nb6_motion *copy, int64_t n_gone, const int32_t *gone,
                          const int32_t *moved, double t);

#endif
