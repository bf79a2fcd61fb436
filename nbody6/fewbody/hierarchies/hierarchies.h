/** Stable triples and quadruples of a run (NBODY6: mergers).
 *
 *  A pair is frozen if its companion, a star or another pair, moves around it on an orbit that is stable by the
 * criterion of Mardling & Aarseth 2001: its centre of mass and the companion become a pair of their own, an outer one,
 * and the inner pair goes on along its Kepler orbit, which costs nothing. The inner pair keeps its slot, and its centre
 * of mass is a member of the outer pair like a star. The outer orbit takes up the energy of the tide between both, so
 * that freezing and breaking up leave the total energy as it is. The criterion is checked after every advance of the
 * outer pair.
 *
 *  Two stars collide, not a star and a centre of mass: where stars with radii could touch, across the outer orbit or
 * within a pair, no pair is frozen, so that pairs and chains find the colliding stars (mergers.h). */
#ifndef NB6_HIERARCHIES_HIERARCHIES_H
#define NB6_HIERARCHIES_HIERARCHIES_H

#include "nbody6/state/body.h"

#include <stdint.h>

struct chain_group;
struct nb6_sim;

/** A frozen orbit exceeds the criterion by a margin, so that it is not broken up at once. */
#define NB6_HIERARCHY_ROOM 1.1

/** Pericentre of the relative orbit of two bodies, of which at least one is a pair, over the least one at which it is
 *  stable (the smaller value if both are pairs) and no star of one body can touch one of the other: the sum of the
 *  apocentres inside and of the largest radius of either, if it has radii. No more than the pericentre of a pair inside
 *  over the sum of the radii of its stars. 0 if an orbit is unbound.
 *  @param[in] x,v  of j seen from i   @param[out] a semi-major axis */
double nb6_orbit_stability(const struct nb6_sim *sim, nb6_index i, nb6_index j, const double x[3], const double v[3],
                           double *a);
/** The same for a frozen one. */
double nb6_hierarchy_stability(const struct nb6_sim *sim, nb6_slot slot);
/** Energy that bodies i and j gain when their pairs are frozen, and lose when they are pairs again: the potential
 * energy of the parts of both less that of points, and that of the parts of each with the perturbers of a slot, and
 * with the galaxy, less that of a point. All bodies are at the time of the last block, or predicted to it.
 *  @param[in] x_i,x_j  positions of the two   @param[in] perturbers  those of this slot */
double nb6_tidal_energy(const struct nb6_sim *sim, nb6_index i, nb6_index j, const double x_i[3], const double x_j[3],
                        const int64_t perturbers[2]);
/** Give a relative motion more kinetic energy, in direction of v; less than none is left out. */
void nb6_add_kinetic(double reduced_mass, double energy, double v[3]);
/** The part of a chain that has to leave it because the chain is a stable hierarchy.   @return its number of stars, 0:
 *  none */
int nb6_hierarchy_in_chain(const struct nb6_sim *sim, nb6_slot slot, struct chain_group *group);

#endif
