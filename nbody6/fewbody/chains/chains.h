/** Chains of a run: compact systems of three and more stars.
 *
 *  A chain owns a slot of the table of subsystems (state/subsystems.h): body n + slot is its centre of mass, and the
 * list of perturbers, the corrections and the energy are those of that slot. Its stars move by regularization/chain.h,
 * relative to the centre of mass, which the block step integrates. A chain is at the last block time at which its
 * centre of mass or one of its perturbers was due, or at the end of the last step of a pair that it resolves and is
 * resolved by.
 *
 *  Two bodies become a chain (or go on as a larger one) and a chain becomes two bodies: every change is one of these,
 *  so that neighbour lists change as they do for pairs.
 *
 *  Two chains that have one another in their lists act on each other as parts on a point of mass, twice: U = U(parts,
 *  point) + U(point, parts) - U(point, point). This potential lacks the product of both tides; where that would matter,
 *  the chains are joined. So neither needs the members of the other at a time of its own. */
#ifndef NB6_CHAINS_CHAINS_H
#define NB6_CHAINS_CHAINS_H

#include "regularization/chain.h"

struct nb6_chain;

/** Distance of the farthest member from the centre of mass. */
double nb6_chain_size(const struct nb6_chain *chain);
/** Internal energy: that of positions and velocities; while a pair inside is slowed down, so that its energy oscillates
 * more than the true one, the unslowed value. */
double nb6_chain_energy(const struct nb6_chain *chain);
/** Places of the members from the state, after it changed; centre of mass to zero. */
void nb6_chain_refresh(struct nb6_chain *chain);

#endif
