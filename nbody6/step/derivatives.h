/** Second and third derivatives of forces, from the motions of all bodies. */
#ifndef NB6_DERIVATIVES_H
#define NB6_DERIVATIVES_H

#include "nbody6/state/body.h"

#include <stdint.h>

struct nb6_corrected;
struct nb6_sim;

/** Second and third derivatives of the irregular (over the lists) and, if asked for, the regular force (over all
 * others) of some bodies at ti_now, from accelerations and jerks of all (Aarseth 2003, Gravitational N-Body
 * Simulations).   @param[in] list [n] */
void nb6_start_derivatives(struct nb6_sim *sim, int64_t n, const nb6_index *list, int with_regular);
/** Move the second and third derivatives of bodies that entered or left the list of body i in the open transaction from
 *  one part of the force to the other; both parts are those of the old list before (Makino & Aarseth 1992).
 *  @param[in,out] c  corrected to the time of the block; derivatives change */
void nb6_derivatives_of_list(const struct nb6_sim *sim, int64_t i, struct nb6_corrected *c);

#endif
