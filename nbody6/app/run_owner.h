/** The run that files under a name belong to: checked before a resumed run changes any of them. */
#ifndef NB6_RUN_OWNER_H
#define NB6_RUN_OWNER_H

#include "common/nbc.h"

struct nb6_run_names;

/** Log, events, escapers, snapshots and checkpoints under these names, as far as they exist, must carry the id of this
 *  run. Checkpoints that are damaged or of another schema are left out: they are no checkpoints of any run.
 *  @param[in] checkpoint  that is resumed, and has this id
 *  @return NBC_OK; NBC_BAD_INPUT (a file of another run, or of none: both ids, and the remedy); NBC_FILE;
 *          NBC_NO_MEMORY */
int nb6_run_owner_check(const struct nb6_run_names *names, const char *id, const char *checkpoint,
                        struct nbc_error *err);

#endif
