/** The owners of the bodies of a collisionless system (nbody6/collisionless/owners.h) in a checkpoint: the group
 *  "owners", if bodies have changed their owners. Failures stay in the file. Private to collisionless_checkpoint.c. */
#ifndef NB6_CHECKPOINT_OWNERS_H
#define NB6_CHECKPOINT_OWNERS_H

#include "nbody6/hdf5/hdf5_util.h"

struct nb6_owners;

/** Accepts NULL. */
void nb6_checkpoint_write_owners(struct nb6_hdf5 *file, const struct nb6_owners *owners);
/** @param[in] n  bodies   @param[out] owners  NULL: there are none, or a failure; to be freed with nb6_owners_free */
void nb6_checkpoint_read_owners(struct nb6_hdf5 *file, int64_t n, struct nb6_owners **owners);

#endif
