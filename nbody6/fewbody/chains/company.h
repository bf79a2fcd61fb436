/** Bodies that must join a chain together with the two that form it. */
#ifndef NB6_CHAINS_COMPANY_H
#define NB6_CHAINS_COMPANY_H

#include <stdint.h>

struct nb6_chain_change;
struct nb6_decisions;
struct nb6_sim;

/** All bodies bound to a member on an orbit smaller than the two together, and nearer than the release distance of a
 *  chain, and all bound to those, become members of change->i and change->j's chain as well: outside, each of their
 *  orbits would move its centre of mass.
 *  @param[in] seeker  change->i or j: a member of the block with known neighbours
 *  @param[in] compact  radius beyond which a chain of them would give up parts (chains/search.h)
 *  @param[in,out] change  a join; `more` is filled in
 *  @return 0: the join has to wait. They are too many for a chain, one of them changes with this block or cannot be a
 *          member, or one forms a stable hierarchy with a pair, which is frozen first */
int nb6_chain_find_company(const struct nb6_sim *sim, const struct nb6_decisions *decisions, int32_t seeker,
                           double compact, struct nb6_chain_change *change);

#endif
