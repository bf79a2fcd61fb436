/** Checkpoints: all that a run needs to go on bit for bit. */
#ifndef NB6_CHECKPOINT_H
#define NB6_CHECKPOINT_H

#include "common/nbc.h"
#include "nbody6/output/run_id.h"

#include <stdint.h>

struct nb6_config;
struct nb6_sim;

/** Data of the command: lengths of its tables when a checkpoint was written, to which a resumed run cuts them back, and
 *  the id of their run. */
struct nb6_run_state {
    int64_t log_bytes, events_bytes, escapers_bytes; /**< lengths of the files */
    char id[NB6_RUN_ID_BYTES];                       /**< of the run (run_id.h); "": none */
    char engine[16];                                 /**< of the writer: set by reading alone */
    double t;                                        /**< time of the state: set by reading alone */
    int64_t adjusts;                                 /**< how many the run had made: set by reading alone */
    int64_t n;                                       /**< stars in the state: likewise */
    double t_ended;                                  /**< end with a completed row and snapshot, 0: none; likewise */
};

/** Checkpoint: the raw state of sim.h (config, body, star, lists, bookkeeping, counters), schema version, checksum.
 *  @return NBC_OK; NBC_FILE (the file at `path` is untouched, the temporary file is removed); NBC_NO_MEMORY */
int nb6_checkpoint_write(const char *path, const struct nb6_sim *sim, struct nbc_error *err);
/** The same with the data of the command.   @param[in] keep_as new name of the replaced checkpoint; NULL: it is
 *  removed */
int nb6_checkpoint_write_run(const char *path, const char *keep_as, const struct nb6_sim *sim,
                             const struct nb6_run_state *run, struct nbc_error *err);
/** Reads into a fresh sim with all pointers NULL: allocates body and star, and hands the neighbour lists back. The
 *  configuration then names the two backends that were in use, and sim->engine is the engine, so that the run goes on
 *  with the same bits.
 *  @param[out] nblist  all lists one after the other, in the order of bodies (lengths are star[i].nnb); free with
 *                      nbc_free
 *  @return NBC_OK; NBC_FILE (missing, truncated, corrupted, other schema: the message names it and the remedy);
 *          NBC_NO_MEMORY; on failure nothing is allocated */
int nb6_checkpoint_read(const char *path, struct nb6_sim *sim, int32_t **nblist, struct nbc_error *err);
/** Configuration and run state only. A checkpoint that was not written by a run has the id of its seal (run_id.h), for
 * the run that begins with it. Reads those of nbody6-collisionless as well, with the engine "collisionless";
 * nb6_checkpoint_read refuses them with NBC_BAD_INPUT. */
int nb6_checkpoint_read_config(const char *path, struct nb6_config *config, struct nb6_run_state *run,
                               struct nbc_error *err);

#endif
