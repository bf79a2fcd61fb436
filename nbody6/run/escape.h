/** Stars that leave the cluster. */
#ifndef NB6_ESCAPE_H
#define NB6_ESCAPE_H

#include "common/nbc.h"

struct nb6_frame;
struct nb6_sim;

/** Remove the stars that have escaped, book their energy, and take their force from all others.
 *  @param[in] frame all stars now, with potentials */
int nb6_escape_remove(struct nb6_sim *sim, const struct nb6_frame *frame, struct nbc_error *err);
/** Present tidal radius: of the field, or ten half-mass radii of an isolated cluster. */
double nb6_escape_tidal_radius(const struct nb6_sim *sim, double mass);

#endif
