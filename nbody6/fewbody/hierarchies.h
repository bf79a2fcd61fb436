/** Stable triples and quadruples of a run (DESIGN section 8; NBODY6: mergers). Private to libnbody6.
 *
 *  A pair whose companion, a star or another pair, moves around it on an orbit that is stable by the criterion of
 * Mardling & Aarseth 2001 is frozen: its centre of mass and the companion become a pair of their own, an outer one, and
 * the inner pair goes on along its Kepler orbit, which costs nothing. The inner pair keeps its slot, and its centre of
 * mass is a member of the outer pair like a star. The outer orbit takes up the energy of the tide between both, so that
 * freezing and breaking up leave the total energy as it is. The criterion is asked after every advance of the outer
 * pair. */
#ifndef NB6_HIERARCHIES_H
#define NB6_HIERARCHIES_H

#include "common/nbc.h"
#include "nbody6/state/body.h"
#include "regularization/chain.h"

struct nb6_sim;
struct nb6_decisions;

/** Whether hierarchies are frozen. */
int nb6_hierarchies_enabled(const struct nb6_sim *sim);
/** Slot of the frozen pair that is a member of the pair in a slot; -1: that member is a star. */
int64_t nb6_inner_slot(const struct nb6_sim *sim, int64_t slot, int member);
/** Whether the pair in a slot has a frozen one inside. */
int nb6_is_hierarchy(const struct nb6_sim *sim, int64_t slot);
/** Pericentre of the relative orbit of two bodies, of which at least one is a pair, over the least one at which it is
 *  stable (the smaller value if both are pairs); 0 if the orbit is unbound.
 *  @param[in] x,v  of j seen from i   @param[out] a semi-major axis */
double nb6_orbit_stability(const struct nb6_sim *sim, int32_t i, int32_t j, const double x[3], const double v[3],
                           double *a);
/** The same for a frozen one. */
double nb6_hierarchy_stability(const struct nb6_sim *sim, int64_t slot);
/** What bodies i and j gain when their pairs are frozen, and lose when they are pairs again: the potential energy of
 * the parts of both less that of points, and that of the parts of each with the perturbers of a slot, and with the
 * galaxy, less that of a point. Everybody stands at the time of the last block, or is predicted to it.
 *  @param[in] x_i,x_j  where the two are   @param[in] perturbers  those of this slot */
double nb6_tidal_energy(const struct nb6_sim *sim, int32_t i, int32_t j, const double x_i[3], const double x_j[3],
                        const int64_t perturbers[2]);
/** Give a relative motion more kinetic energy, in direction of v; less than none is left out. */
void nb6_add_kinetic(double reduced_mass, double energy, double v[3]);

/** Pairs of the last block that can be frozen, with their companions, are added to the pairs that form. */
int nb6_hierarchies_search(struct nb6_sim *sim, struct nb6_decisions *decisions, struct nbc_error *err);
/** The part of a chain that has to leave it because the chain is a stable hierarchy.   @return its number of stars, 0:
 *  none */
int nb6_hierarchy_in_chain(const struct nb6_sim *sim, int64_t slot, struct chain_group *group);

#endif
