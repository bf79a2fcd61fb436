/** First forces and steps: of a run, and of bodies that come during it. */
#ifndef NB6_START_H
#define NB6_START_H

#include "common/nbc.h"

#include <stdint.h>

struct nb6_sim;

/** From positions, velocities and masses at t = ti_now: pairs, and which bodies take part.
 *  @param[in] pair  [n_pair] both stars of each, which get the slots 0 to n_pair - 1; NULL: those that the
 * configuration declares */
int nb6_start_begin(struct nb6_sim *sim, int64_t n_pair, const int32_t (*pair)[2], struct nbc_error *err);
/** Neighbour radii, and the predictors of the libraries, which have their memory then.
 *  @param[out] order  [n_source] the order in which nb6_start_finish computes forces; the caller frees it, also after a
 *      failure */
int nb6_start_places(struct nb6_sim *sim, int32_t **order, struct nbc_error *err);
/** Neighbour lists, forces, first steps, schedule, relative motions. */
int nb6_start_finish(struct nb6_sim *sim, const int32_t *order, struct nbc_error *err);
/** Put every star into the schedule by its level, and every predictor into GPUIRR. */
int nb6_start_resume(struct nb6_sim *sim, struct nbc_error *err);

#endif
