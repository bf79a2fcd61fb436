/** Checkpoints of collisionless runs: books, configuration and bodies, in the groups and under the seal that those of
 *  nbody6 have. The engine's name in them is "collisionless", so that neither program takes those of the other. */
#ifndef NB6_COLLISIONLESS_CHECKPOINT_H
#define NB6_COLLISIONLESS_CHECKPOINT_H

#include "common/nbc.h"

struct nb6_collisionless;
struct nb6_run_state;
struct nb6_sim;

/** @param[in] keep_as  new name of the replaced checkpoint; NULL: it is removed
 *  @param[in] book     configuration, units, counters and books; it has no stars
 *  @param[in] run      data of the command (checkpoint.h)
 *  @return NBC_OK; NBC_FILE (the file at `path` is untouched); NBC_NO_MEMORY */
int nb6_collisionless_checkpoint_write(const char *path, const char *keep_as, const struct nb6_sim *book,
                                       const struct nb6_collisionless *system, const struct nb6_run_state *run,
                                       struct nbc_error *err);
/** @param[out] book  zeroed before; gets all but stars; its configuration names the backend that was in use
 *  @param[out] then  zeroed before; gets the members that nb6_collisionless_resume reads; its arrays are to be freed
 *                    with nb6_collisionless_checkpoint_release, also after a failure
 *  @return NBC_OK; NBC_FILE (missing, damaged, other schema); NBC_BAD_INPUT (of nbody6); NBC_NO_MEMORY */
int nb6_collisionless_checkpoint_read(const char *path, struct nb6_sim *book, struct nb6_collisionless *then,
                                      struct nb6_run_state *run, struct nbc_error *err);
void nb6_collisionless_checkpoint_release(struct nb6_collisionless *then);

#endif
