/** The first forces of a run. */
#ifndef NB6_FIRST_FORCES_H
#define NB6_FIRST_FORCES_H

#include "common/nbc.h"

#include <stdint.h>

struct nb6_sim;

/** Lists, forces, first steps and schedule of stars at t = ti_now, while the engine of the run allocates its image.
 *  @param[in] pair  [n_pair] stars that are pairs already; NULL: those that the configuration declares
 *  @return NBC_OK; NBC_NO_MEMORY; the status of a library */
int nb6_first_forces(struct nb6_sim *sim, int64_t n_pair, const int32_t (*pair)[2], struct nbc_error *err);

#endif
