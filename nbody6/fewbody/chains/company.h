/** Bodies that have to come with two that become a chain. */
#ifndef NB6_CHAINS_COMPANY_H
#define NB6_CHAINS_COMPANY_H

#include <stdint.h>

struct nb6_chain_change;
struct nb6_decisions;
struct nb6_sim;

/** All who are bound to a member on an orbit smaller than the two together, and nearer than what a chain lets go, and
 *  who are bound to them, become members of change->i and change->j's chain as well: outside, each of their orbits
 *  would move its centre of mass.
 *  @param[in] seeker  change->i or j: a member of the block, whose neighbours are known
 *  @param[in] compact  radius beyond which a chain of them would give up parts (chains/search.h)
 *  @param[in,out] change  a join; `more` is filled in
 *  @return 0: the join has to wait. They are more than a chain takes, one of them changes with this block or cannot be
 *          a member, or one makes a stable hierarchy with a pair, which is frozen first */
int nb6_chain_find_company(const struct nb6_sim *sim, const struct nb6_decisions *decisions, int32_t seeker,
                           double compact, struct nb6_chain_change *change);

#endif
