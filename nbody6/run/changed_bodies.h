/** Bodies with stars that get new masses: which they are, and what the change is for them. Private to libnbody6. */
#ifndef NB6_CHANGED_BODIES_H
#define NB6_CHANGED_BODIES_H

#include "nbody6/state/body.h"

#include <stdint.h>

struct nb6_new_masses;
struct nb6_sim;

/** The body in which a star takes part: itself, or the outermost centre of mass.  */
nb6_index nb6_body_with(const struct nb6_sim *sim, nb6_index star);
/** Bodies with stars that change, ascending, each once.   @param[out] body [masses->n]   @return their number */
int64_t nb6_changed_bodies(const struct nb6_sim *sim, const struct nb6_new_masses *masses, nb6_index *body);
/** Mass that the stars of a body gain. */
double nb6_changed_by(const struct nb6_sim *sim, const struct nb6_new_masses *masses, nb6_index body);

#endif
