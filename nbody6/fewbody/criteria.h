/** Criteria: close, hard and compact. */
#ifndef NB6_CRITERIA_H
#define NB6_CRITERIA_H

#include "nbody6/state/body.h"

#include <stdint.h>

struct nb6_sim;

/** Systems of three and more stars are not wider than this part of it, however heavy they are: among the stars around
 * them they would take in one after the other. */
#define NB6_COMPACT_SPACING 0.25

enum { NB6_COMPACT = 3 }; /**< systems that stay together are up to so many of these radii wide (NBODY6: 3 RMIN) */

/** Whether pairs are looked for. */
int nb6_subsystems_enabled(const struct nb6_sim *sim);
/** Whether an orbit of total mass m and energy h per reduced mass is never wider than r (2 a < r), or bound more
 * strongly than encounters can undo. */
int nb6_orbit_is_hard(const struct nb6_sim *sim, double m, double h, double r);
/** Whether a bound pair is not much wider: it stays together over its orbit, where it would else end and form once an
 *  orbit. */
int nb6_orbit_stays_together(const struct nb6_sim *sim, double m, double h, double r);
/** Whether a pair does, on an orbit of energy h per reduced mass: also if it is some times wider, and tides, which rise
 *  with the third power of the distance, do not disturb it above GMAX at its apocentre. */
int nb6_pair_stays_together(const struct nb6_sim *sim, nb6_slot slot, double h, double apocentre);
/** The mean distance of stars around a body: that of the sixth nearest neighbour over the cube root of six; infinite
 *  while it has no list, and if it has no neighbour beside its companion, as in an isolated triple. */
double nb6_local_spacing(const struct nb6_sim *sim, int64_t i);
/** The radius that makes n bodies close: RMIN, larger where they are heavier than the mean, because heavy stars deflect
 *  each other at larger distances, but then no larger than NB6_COMPACT_SPACING of the spacing around body i.
 *  @param[in] mass  of all n together */
double nb6_close_radius(const struct nb6_sim *sim, int n, double mass, int64_t i);
/** Whether a pair is never wider than the radius that makes pairs close, or bound more strongly than encounters undo.
 */
int nb6_pair_is_hard(const struct nb6_sim *sim, nb6_slot slot);
/** Whether chains are looked for. */
int nb6_chains_enabled(const struct nb6_sim *sim);
/** Whether hierarchies are frozen. */
int nb6_hierarchies_enabled(const struct nb6_sim *sim);

#endif
