/** What happens at adjust times: energy check, structure, escapers, steering of the neighbour radii. Private to
 * libnbody6. */
#ifndef NB6_ADJUST_H
#define NB6_ADJUST_H

#include "nbody6/analysis/diag.h"

/** Everything due at an adjust time t (not before sim->ti_now).
 *  @param[in] regular_adjust 0: report only (the end of a run that is no multiple of dt_adjust), so that the run could
 * go on from here with the same bits as one that did not stop
 *  @return NBC_OK; NBC_ENERGY (the interval's error exceeds 5 QE); what an observer returned */
int nb6_adjust(struct nb6_sim *sim, nb6_time t, int regular_adjust, struct nbc_error *err);

/** Remove the stars that have escaped, book their energy, and take their force from all others.
 *  @param[in] frame all stars now, with potentials */
int nb6_escape_remove(struct nb6_sim *sim, const struct nb6_frame *frame, struct nbc_error *err);

/** Present tidal radius: of the field, or ten half-mass radii of an isolated cluster. */
double nb6_escape_tidal_radius(const struct nb6_sim *sim, double mass);

#endif
