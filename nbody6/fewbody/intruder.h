/** The strongest perturber of a few-body system. */
#ifndef NB6_INTRUDER_H
#define NB6_INTRUDER_H

#include "nbody6/state/body.h"

#include <stdint.h>

struct nb6_sim;

/** The intruder of a pair or chain: the perturber with the largest tide. */
struct nb6_intruder {
    nb6_index j;         /**< NB6_NOBODY: none */
    double x[3], v[3];   /**< seen from the centre of mass */
    double r2, rv, tide; /**< squared distance, x.v, mass over distance cubed: from there, or from a member */
};

/** Body j as the system in a slot sees it at block time t. */
struct nb6_intruder nb6_seen_from(const struct nb6_sim *sim, nb6_slot slot, nb6_index j, nb6_time t);
/** The perturber of a slot with the largest tide at block time t. */
struct nb6_intruder nb6_find_intruder(const struct nb6_sim *sim, nb6_slot slot, nb6_time t);
/** The same as the members see it: distance, approach and tide are those from the nearest member of a chain that it is
 * inside of, or of a pair that is not much smaller than its distance. A close pair among the members moves as one. */
struct nb6_intruder nb6_find_intruder_of_members(const struct nb6_sim *sim, nb6_slot slot, nb6_time t);

#endif
