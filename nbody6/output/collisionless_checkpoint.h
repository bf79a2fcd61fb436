/** Checkpoints of collisionless runs: the record of the run and bodies, in the groups and under the seal that those of
 *  nbody6 have. Fields that such bodies lack, or share, are not in the file. Owners of bodies, where they change, are
 * in the group "owners". The engine's name in them is "collisionless", so that neither program takes those of the
 * other.
 */
#ifndef NB6_COLLISIONLESS_CHECKPOINT_H
#define NB6_COLLISIONLESS_CHECKPOINT_H

#include "common/nbc.h"
#include "nbody6/state/body_rows.h"

struct nb6_collisionless;
struct nb6_run_record;
struct nb6_run_state;

/** @param[in] keep_as  name that the replaced checkpoint gets; NULL: it goes
 *  @param[in] record   its wall_used_s is that of earlier sessions: those of this one are added in the file
 *  @param[in] system   at home (nb6_collisionless_home)
 *  @param[in] run      what the command adds (checkpoint.h)
 *  @return NBC_OK; NBC_FILE (what was at `path` is untouched); NBC_NO_MEMORY */
int nb6_collisionless_checkpoint_write(const char *path, const char *keep_as, const struct nb6_run_record *record,
                                       struct nb6_collisionless *system, const struct nb6_run_state *run,
                                       struct nbc_error *err);
/** @param[in]  with_bodies  0: `then` gets no arrays; nb6_collisionless_checkpoint_give reads them
 *  @param[out] record  overwritten, without id and clock; its configuration names the backend that was in use; its
 *                      properties are to be freed, also after a failure
 *  @param[out] then    zeroed before; gets what nb6_collisionless_resume reads; its arrays are to be freed with
 *                      nb6_collisionless_checkpoint_release, also after a failure
 *  @return NBC_OK; NBC_FILE (missing, damaged, other schema); NBC_BAD_INPUT (of nbody6); NBC_NO_MEMORY */
int nb6_collisionless_checkpoint_read(const char *path, int with_bodies, struct nb6_run_record *record,
                                      struct nb6_collisionless *then, struct nb6_run_state *run, struct nbc_error *err);
/** Bodies of a checkpoint that was read without them. */
struct nb6_collisionless_bodies {
    const char *path;
    const struct nb6_collisionless *then; /**< what was read */
};
/** `give` of a struct nb6_body_source, in pieces of some megabytes.   @param[in] context  a struct
 *  nb6_collisionless_bodies   @return NBC_OK; NBC_FILE (also a value that cannot be); NBC_NO_MEMORY: names that do not
 *  ascend are checked all at once */
int nb6_collisionless_checkpoint_give(void *context, const struct nb6_body_sink *sink, struct nbc_error *err);
void nb6_collisionless_checkpoint_release(struct nb6_collisionless *then);

#endif
