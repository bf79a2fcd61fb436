/** First forces and steps: of a run, and of bodies that come during it. */
#ifndef NB6_START_H
#define NB6_START_H

#include "common/nbc.h"

#include <stdint.h>

struct nb6_sim;

/** From positions, velocities and masses at t = ti_now: neighbour lists, forces, first steps, schedule. */
int nb6_start(struct nb6_sim *sim, struct nbc_error *err);
/** The same for stars some of which are pairs already, in place of those that the configuration declares.
 *  @param[in] pair  [n] both stars of each, which get the slots 0 to n - 1 */
int nb6_start_with(struct nb6_sim *sim, int64_t n, const int32_t (*pair)[2], struct nbc_error *err);
/** Put every star into the schedule by its level, and every predictor into GPUIRR. */
int nb6_start_resume(struct nb6_sim *sim, struct nbc_error *err);

#endif
