/** A change of masses of single stars, and of pairs of two stars, where an engine has their image, within the
 * transaction of its caller: a message, no move of the state. Private to libnbody6. */
#ifndef NB6_IMAGE_EDIT_H
#define NB6_IMAGE_EDIT_H

#include "common/nbc.h"

struct nb6_new_masses;
struct nb6_sim;

/** From so large a part of its mass on, lost or gained, those that have a body in their list begin anew
 *  (run/mass_edit.c). */
extern const double nb6_sudden_share;

/** Whether a change is made so: no body begins anew by it, systems that it concerns are pairs of two stars, which
 * change slowly (run/edit_systems.h), and no galaxy does work, which would have to be booked for the bodies as they
 * were. It follows from contents of a checkpoint. */
int nb6_image_edit_serves(struct nb6_sim *sim, const struct nb6_new_masses *masses);
/** The change, at ti_reached, and the books. After a success the caller commits, and tells nobody: nb6_engines_tell
 *  does.
 *  @param[out] ends  1: a system ends just now, and nothing was sent; the caller rolls back, and makes the change in
 *  host memory
 *  @return NBC_OK; NBC_NO_MEMORY; NBC_DEVICE; what a motion returns: the caller rolls back */
int nb6_image_edit(struct nb6_sim *sim, const struct nb6_new_masses *masses, int *ends, struct nbc_error *err);

#endif
