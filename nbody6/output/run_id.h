/** The id of a run, which marks the files that belong together: 16 hexadecimal digits in the log, the events, the
 *  escapers, the snapshots and the checkpoints. It is made once, when a run begins, and kept by those that resume it.
 *
 *  It is a checksum of all data that determine the results and files of a run, and of nothing else: the settled
 *  configuration, the stars, the backends and the version; not the name of the run, when it ends, how often it writes
 *  checkpoints, the clock or the machine. So the same input has the same id, and still gives the same bytes; two runs
 *  with one id may take each other's place, because they are the same run twice. */
#ifndef NB6_RUN_ID_H
#define NB6_RUN_ID_H

#include "common/nbc.h"
#include "nbody6/state/body_rows.h"
#include "nbody6/state/ledger.h"

#include <stdint.h>

struct nb6_config;
struct nb6_properties;

/** Stars and backends of a run that begins. */
struct nb6_run_origin {
    const char *gpunb_backend, *gpuirr_backend, *engine;
    int64_t n;
    const int64_t *name;                     /**< [n] NULL: 1, 2, ... */
    const double *mass;                      /**< [n] */
    const double (*x)[3], (*v)[3];           /**< [n] */
    struct nb6_body_rows rows;               /**< the same of bodies that are not in memory; without `get`: those are */
    const struct nb6_properties *properties; /**< NULL: none */
};

void nb6_run_id_make(const struct nb6_config *config, const struct nb6_run_origin *origin, char id[NB6_RUN_ID_BYTES]);

/** Id for a run that begins with a checkpoint of a program that has no runs (nb6_checkpoint): of that file's seal.
 *  @return NBC_OK; NBC_FILE */
int nb6_run_id_of_seal(const char *path, char id[NB6_RUN_ID_BYTES], struct nbc_error *err);

/** Id in a log, a table of escapers or a file of events.   @param[out] id  "": the file has none
 *  @param[out] bytes  length of the file, 0 also if there is none   @return NBC_OK; NBC_FILE; NBC_NO_MEMORY */
int nb6_run_id_of_text(const char *path, char id[NB6_RUN_ID_BYTES], int64_t *bytes, struct nbc_error *err);

/** Let a child process read ids of snapshots, since HDF5 may crash on damaged ones (hdf5_trial.h).
 *  @param[in] path  of the snapshot, or a text for several, for the message   @return NBC_OK; NBC_FILE: it did */
int nb6_run_id_try(const char *path, void (*read)(void *context), void *context, struct nbc_error *err);

/** Id in a snapshot that was tried.   @param[out] id  "": the file has none   @return NBC_OK; NBC_FILE: not a snapshot
 */
int nb6_run_id_of_snapshot(const char *path, char id[NB6_RUN_ID_BYTES], struct nbc_error *err);

#endif
