/** Stars that leave the cluster. */
#ifndef NB6_ESCAPE_H
#define NB6_ESCAPE_H

#include "common/nbc.h"

struct nb6_frame;
struct nb6_sim;

/** Remove the stars that have escaped, book their energy, and take their force from all others. To be called within a
 *  transaction, which holds the events back and which the caller rolls back after a failure.
 *  @param[in] frame all bodies now, with potentials   @return NBC_OK; NBC_NO_MEMORY; the status of GPUIRR or of a pair
 *  that restarts without a perturber */
int nb6_escape_remove(struct nb6_sim *sim, const struct nb6_frame *frame, struct nbc_error *err);
/** Present tidal radius: of the field, or ten half-mass radii of an isolated cluster. */
double nb6_escape_tidal_radius(const struct nb6_sim *sim, double mass);

#endif
