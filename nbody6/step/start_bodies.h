/** First forces and steps of bodies. */
#ifndef NB6_START_BODIES_H
#define NB6_START_BODIES_H

#include "common/nbc.h"
#include "nbody6/state/body.h"

#include <stdint.h>

struct nb6_sim;

/** Lists, forces and first steps of some bodies, new at t = ti_now, with nothing known of them but place, velocity and
 * neighbour radius; they take part already. Every force of an n-body system at one time costs O(n), so do these.
 *  @param[in] list [n] ascending */
int nb6_start_bodies(struct nb6_sim *sim, int64_t n, const nb6_index *list, struct nbc_error *err);
/** The first half of it: positions and velocities, which forces at this very time need, go to the libraries. */
int nb6_start_predictors(struct nb6_sim *sim, int64_t n, const nb6_index *list, struct nbc_error *err);
/** The second half. */
int nb6_start_forces(struct nb6_sim *sim, int64_t n, const nb6_index *list, struct nbc_error *err);

#endif
