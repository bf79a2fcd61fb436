/** Structure and energies of bodies that are divided among ranks: no rank holds all of them. All ranks call the
 * functions together, and get the same numbers. */
#ifndef NB6_RANK_STRUCTURE_H
#define NB6_RANK_STRUCTURE_H

#include "common/nbc.h"
#include "nbody6/analysis/structure.h"

struct nb6_collisionless;
struct nb6_spread;

/** nb6_structure_find of the bodies of all ranks, at the positions x0 of the shares. Positions go around as they do for
 *  forces, and each rank finds the neighbours of its own bodies in set after set. Densities of bodies are those of one
 *  rank, bit by bit; sums differ by rounding. Lagrangian radii are distances of the same bodies: masses inside are sums
 *  of integers, in units of 2^-62 of all.
 *  @param[in] share   an equal share (nb6_world_share)
 *  @param[in] spread  of all bodies, without a sum under way
 *  @return NBC_OK; NBC_NON_FINITE; NBC_NO_MEMORY: the first failure of any rank */
int nb6_rank_structure(const struct nb6_collisionless *share, struct nb6_spread *spread, struct nb6_structure *out,
                       struct nbc_error *err);

#endif
