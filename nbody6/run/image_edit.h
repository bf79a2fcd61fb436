/** A change of masses and velocities of single stars, or of masses of pairs of two stars, where an engine has their
 *  image, within the transaction of its caller: a message, no move of the state. Private to libnbody6. */
#ifndef NB6_IMAGE_EDIT_H
#define NB6_IMAGE_EDIT_H

#include "common/nbc.h"

struct nb6_new_masses;
struct nb6_sim;

/** From so large a part of its mass on, lost or gained, those that have a body in their list begin anew
 *  (run/mass_edit.c). */
extern const double nb6_sudden_share;

/** The outcome of such a change. */
enum nb6_image_edit_end {
    NB6_IMAGE_EDITED,     /**< it is made */
    NB6_IMAGE_EDIT_ENDS,  /**< a system ends just now: it is one of host memory */
    NB6_IMAGE_EDIT_AGAIN, /**< a list is too long for its row: nb6_engines_make_room, then it can be made */
};

/** Whether a change may be made so: either no body begins anew by it, and systems that it concerns are pairs of two
 *  stars, which change slowly (run/edit_systems.h); or all that change are single stars which no system resolves; and
 *  no galaxy does work, which would have to be booked for the bodies as they were. It follows from contents of a
 *  checkpoint, as does NB6_IMAGE_EDIT_ENDS. */
int nb6_image_edit_serves(struct nb6_sim *sim, const struct nb6_new_masses *masses);
/** The change, at ti_reached, and the books. After a success the caller commits, and tells nobody: nb6_engines_tell
 *  does. Otherwise it rolls back.
 *  @return NBC_OK; NBC_NO_MEMORY; NBC_DEVICE; NBC_NON_FINITE (a first force); what a motion returns */
int nb6_image_edit(struct nb6_sim *sim, const struct nb6_new_masses *masses, enum nb6_image_edit_end *end,
                   struct nbc_error *err);

#endif
