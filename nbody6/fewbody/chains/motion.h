/** The motion of a chain in time, with the collisions in it. */
#ifndef NB6_CHAINS_MOTION_H
#define NB6_CHAINS_MOTION_H

#include "common/nbc.h"
#include "nbody6/state/body.h"
#include "regularization/chain.h"

#include <stdint.h>

struct nb6_chain;
struct nb6_field;
struct nb6_motion;
struct nb6_sim;

/** Bring the chain of a slot to exactly t, or on its way there until field->left evaluations are made: field->paused is
 *  1 then.   @param[in,out] field  set for that slot */
int nb6_chain_advance(struct nb6_field *field, const struct nb6_motion *motion, nb6_slot slot, double t,
                      struct nbc_error *err);
/** Are the members needed at block time t? They are if the centre of mass or a perturber is due. */
int nb6_chain_is_due(const struct nb6_sim *sim, const struct nb6_chain *chain, nb6_time t);

#endif
