/** Pairs that form, end and merge (NBODY6: KSREG, KSTERM), as parts of a change. */
#ifndef NB6_PAIRS_CHANGE_H
#define NB6_PAIRS_CHANGE_H

#include "common/nbc.h"
#include "nbody6/fewbody/change_record.h"
#include "nbody6/state/body.h"

#include <stdint.h>

struct nb6_sim;

/** Two stars become a pair; or, to be frozen, a pair and a companion do, which have larger numbers. */
int nb6_pair_form(struct nb6_sim *sim, const nb6_index body[2], struct nb6_change *c, struct nbc_error *err);
/** The pair in a slot becomes its two members. */
int nb6_pair_end(struct nb6_sim *sim, nb6_slot slot, struct nb6_change *c, struct nbc_error *err);
/** Two stars of a pair become one star, at the position of the centre of mass. */
int nb6_pair_merge(struct nb6_sim *sim, nb6_slot slot, struct nb6_change *c, struct nbc_error *err);

#endif
