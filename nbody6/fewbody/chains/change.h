/** Chains that form, grow, shrink and end, as parts of a change. */
#ifndef NB6_CHAINS_CHANGE_H
#define NB6_CHAINS_CHANGE_H

#include "common/nbc.h"
#include "nbody6/state/body.h"

#include <stdint.h>

struct chain_group;
struct nb6_chain_change;
struct nb6_change;
struct nb6_sim;

/** Bodies i and j of a join, and those that join with them, become a chain in the slot of i, or become part of its
 *  chain. */
int nb6_chain_join(struct nb6_sim *sim, const struct nb6_chain_change *join, struct nb6_change *c,
                   struct nbc_error *err);
/** Single stars become a chain, in a slot of its own. */
int nb6_chain_gather(struct nb6_sim *sim, const struct nb6_chain_change *gather, struct nb6_change *c,
                     struct nbc_error *err);
/** The chain of a slot gives up a group: a star, a pair or a chain of its own. With two left it becomes a pair. */
int nb6_chain_split(struct nb6_sim *sim, nb6_slot slot, const struct chain_group *group, struct nb6_change *c,
                    struct nbc_error *err);

#endif
