/** What happens at adjust times: energy check, structure, escapers, steering of the neighbour radii. Private to
 * libnbody6. */
#ifndef NB6_ADJUST_H
#define NB6_ADJUST_H

#include "common/nbc.h"
#include "nbody6/analysis/adjust_row.h"
#include "nbody6/state/body.h"

struct nb6_sim;

/** Everything due at an adjust time t (not before sim->ti_now).
 *  @param[in] regular_adjust 0: report only (the end of a run that is no multiple of dt_adjust), so that the run could
 * go on from here with the same bits as one that did not stop
 *  @return NBC_OK; NBC_ENERGY (the interval's error exceeds 5 QE); what an observer returned */
int nb6_adjust(struct nb6_sim *sim, nb6_time t, int regular_adjust, struct nbc_error *err);

#endif
