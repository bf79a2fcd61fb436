/** Forces and potential of resolved pairs and chains, beyond those of their points of mass. */
#ifndef NB6_PAIRS_CORRECT_H
#define NB6_PAIRS_CORRECT_H

#include "nbody6/state/body.h"

#include <stdint.h>

struct nb6_motion;
struct nb6_subsystems;
struct nb6_sim;

/** Difference between resolved and point-mass irregular force on body i at time t, added to acc and jerk.
 *  @return NBC_OK; NBC_NON_FINITE: a pair has no prediction for t, and acc and jerk are NaN */
int nb6_subsystems_correct(const struct nb6_sim *sim, int64_t i, nb6_time t, double acc[3], double jerk[3]);
/** Potential energy of resolved interactions less that of the point masses.
 *  @param[in] x  [n_source][3] positions of the bodies that take part   @param[in] motion  at the same time
 *  @param[in] moved  [bodies] < 0: without this body; NULL: with all */
double nb6_subsystems_potential(const struct nb6_sim *sim, const double (*x)[3], const struct nb6_motion *motion,
                                const nb6_index *moved);
/** The part of one slot: two that resolve each other count with the lower slot.
 *  @param[in] body, x  [n] bodies ascending with their positions: its centre of mass and its perturbers are among them
 */
double nb6_slot_potential(const struct nb6_sim *sim, nb6_slot slot, int64_t n, const nb6_index *body,
                          const double (*x)[3], const struct nb6_motion *motion);
/** Potential energy of the relative motions on which the galaxy acts in its field: that of the stars less that of
 *  their centres of mass.   @param[in] motion, moved  as above */
double nb6_subsystems_tidal(const struct nb6_sim *sim, const struct nb6_motion *motion, const nb6_index *moved);
/** The same of one slot, whether the galaxy acts on it or not. */
double nb6_slot_tidal(const struct nb6_sim *sim, const struct nb6_motion *motion, nb6_slot slot);
/** Energies of relative motion in pairs and chains, summed. */
double nb6_subsystems_binding(const struct nb6_sim *sim, const struct nb6_motion *motion);

#endif
