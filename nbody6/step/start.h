/** First forces and steps: of a run, and of bodies that come during it. */
#ifndef NB6_START_H
#define NB6_START_H

#include "common/nbc.h"

#include <stdint.h>

struct nb6_sim;

/** From positions, velocities and masses at t = ti_now: neighbour lists, forces, first steps, schedule. */
int nb6_start(struct nb6_sim *sim, struct nbc_error *err);
/** Lists, forces and first steps of some bodies, new at t = ti_now, with nothing known of them but place, velocity and
 * neighbour radius; they take part already. Every force of an n-body system at one time costs O(n), so do these.
 *  @param[in] list [n] ascending */
int nb6_start_bodies(struct nb6_sim *sim, int64_t n, const int32_t *list, struct nbc_error *err);
/** Put every star into the schedule by its level, and every predictor into GPUIRR. */
int nb6_start_resume(struct nb6_sim *sim, struct nbc_error *err);

#endif
