/** Work at adjust times: energy check, structure, escapers, steering of the neighbour radii. Private to libnbody6. */
#ifndef NB6_ADJUST_H
#define NB6_ADJUST_H

#include "common/nbc.h"
#include "nbody6/analysis/adjust_row.h"
#include "nbody6/state/body.h"

struct nb6_energy;
struct nb6_run_book;
struct nb6_sim;

/** Everything due at an adjust time t (not before sim->ti_now), as one transaction: it is committed as a whole, or the
 *  state is that before, bit for bit, and the adjust is still due. After the commit the observer is notified of checks
 *  of energy and forces, the row, and escapers, in this order. The row describes the state before escapers left, the
 *  simulation is that after.
 *  @param[in] ti_next time of the adjust that comes after this one; 0: report only (the end of a run that is no
 * multiple of dt_adjust), so that the run could go on from here with the same bits as one that did not stop
 *  @return NBC_OK; NBC_ENERGY (the interval's error exceeds 5 QE: the observer is notified of the checks and the row
 *  all the same); NBC_NON_FINITE, NBC_NO_MEMORY, the status of a library; the status of an observer: the adjust is
 *  committed then */
int nb6_adjust(struct nb6_sim *sim, nb6_time t, nb6_time ti_next, struct nbc_error *err);

/** After stars were added: raise the scale of relative errors to the energy of the cluster, if that is larger.
 *  @param[in] energy  of its bodies   @param[in] bodies  their number */
void nb6_adjust_raise_scales(struct nb6_run_book *book, const struct nb6_energy *energy, int64_t bodies);

#endif
