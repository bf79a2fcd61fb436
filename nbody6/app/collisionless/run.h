/** The run of nbody6-collisionless: from a configuration or a checkpoint to files and a table on stdout, as run.h has
 * it for nbody6. Files: NAME.log.csv, NAME.snap.00000.h5 ..., NAME.ckpt.h5, NAME.ckpt.prev.h5, NAME.lock. */
#ifndef NB6_COLLISIONLESS_RUN_H
#define NB6_COLLISIONLESS_RUN_H

#include "common/nbc.h"

struct nb6_config;
struct nb6_run_options;
struct nb6_world;

/** Make the model and integrate it to its end.
 *  @return NBC_OK (also when a signal, a STOP file or the wall-clock limit ended it, with a checkpoint); NBC_BAD_INPUT
 *          (a request that this program cannot fulfil, model, files of this name exist); NBC_ENERGY; NBC_FILE;
 *          NBC_DEVICE; NBC_NON_FINITE; NBC_NO_MEMORY */
int nb6_collisionless_run_new(const struct nb6_config *config, const struct nb6_run_options *options,
                              struct nbc_error *err);
/** Continue from a checkpoint, bit for bit; the log is cut back to its length then.
 *  @param[in] options  name, device, t_crit, wall_limit_s, checkpoint interval, quiet, force_times (run.h) */
int nb6_collisionless_run_resume(const char *checkpoint, const struct nb6_run_options *options, struct nbc_error *err);
/** Read or make the bodies, print a description of the run to standard output, and write nothing.
 *  @param[in] world  ranks that would have the bodies; NULL: one
 *  @return as nb6_collisionless_run_new */
int nb6_collisionless_run_check(const struct nb6_config *config, struct nb6_world *world, struct nbc_error *err);

#endif
