/** The arrays of a collisionless system. */
#ifndef NB6_SYSTEM_MEMORY_H
#define NB6_SYSTEM_MEMORY_H

#include "common/nbc.h"
#include "nbody6/state/body_rows.h"

#include <stdint.h>

struct nb6_collisionless;

/** Those of its n bodies, with scratch of the leapfrog; those of the state are not set.
 *  @return NBC_OK; NBC_NO_MEMORY: nb6_collisionless_release frees what there is */
int nb6_collisionless_allocate(struct nb6_collisionless *system, struct nbc_error *err);
/** Room for as many bodies in the arrays of a share, which keep what they have.
 *  @return NBC_OK; NBC_NO_MEMORY: the room is as it was */
int nb6_collisionless_reserve(struct nb6_collisionless *share, int64_t n, struct nbc_error *err);
/** Those of the state alone.   @return 0 without memory, as above */
int nb6_collisionless_allocate_state(struct nb6_collisionless *system);
/** `get` of rows (nbody6/state/body_rows.h) of a system that has its arrays.   @param[in] context  the system */
void nb6_collisionless_get_rows(void *context, enum nb6_body_column column, int64_t first, int64_t count, void *rows);
/** Free those that there are. */
void nb6_collisionless_release(struct nb6_collisionless *system);

#endif
