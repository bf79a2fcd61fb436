/** Names of the files of a run, all from one prefix. */
#ifndef NB6_RUN_NAMES_H
#define NB6_RUN_NAMES_H

#include "common/nbc.h"

enum { NB6_NAME_BYTES = 1100 };

struct nb6_run_names {
    char prefix[NB6_NAME_BYTES];
    char log[NB6_NAME_BYTES], events[NB6_NAME_BYTES], escapers[NB6_NAME_BYTES];
    char checkpoint[NB6_NAME_BYTES], previous[NB6_NAME_BYTES], fault[NB6_NAME_BYTES];
    char retry[NB6_NAME_BYTES];                          /**< state after the last adjust (run_retry.h) */
    char table[NB6_NAME_BYTES], initial[NB6_NAME_BYTES]; /**< initial model: 7 columns, snapshot */
    char stop[NB6_NAME_BYTES];                           /**< a file of this name ends the run */
    char lock[NB6_NAME_BYTES];                           /**< while a run writes (run_lock.h) */
};

/** All names.   @return NBC_OK; NBC_BAD_INPUT: the prefix is empty or too long, or ends in a slash */
int nb6_run_names_set(struct nb6_run_names *names, const char *prefix, struct nbc_error *err);

/** Prefix of the run that wrote a checkpoint: "DIR/NAME" of "DIR/NAME.ckpt.h5", "DIR/NAME.ckpt.prev.h5" or
 *  "DIR/NAME.fault.h5".   @return 0 if the file has none of these endings (prefix is untouched) */
int nb6_run_names_of_checkpoint(const char *checkpoint, char prefix[NB6_NAME_BYTES]);

/** NAME.snap.00012.h5 */
void nb6_run_names_snapshot(const struct nb6_run_names *names, int64_t number, char path[NB6_NAME_BYTES + 40]);

/** Refuse a name in a folder that does not exist, with the command that makes it.   @return NBC_OK; NBC_FILE */
int nb6_run_names_refuse_folder(const struct nb6_run_names *names, struct nbc_error *err);

/** Call a function with the path of each existing snapshot, in no order, until it returns a failure.
 *  @return NBC_OK; NBC_FILE (the folder cannot be listed); the status of the function */
int nb6_run_names_each_snapshot(const struct nb6_run_names *names, int (*visit)(void *context, const char *path),
                                void *context, struct nbc_error *err);

/** Remove the temporary files of this run, which only a kill leaves behind. For the one that holds the lock. */
void nb6_run_names_sweep(const struct nb6_run_names *names);

/** Refuse existing files of this run, and snapshots, that are no regular files; links may lead to regular files.
 *  @return NBC_OK; NBC_FILE */
int nb6_run_names_refuse_special(const struct nb6_run_names *names, struct nbc_error *err);

/** See to it that a new run does not mix its files with those of an earlier one.
 *  @param[in] overwrite 1: remove them, except the initial model (it may be this run's input)
 *  @return NBC_OK; NBC_BAD_INPUT (names those that exist, and the remedy); NBC_FILE (cannot be removed, or the folder
 *          cannot be written to) */
int nb6_run_names_check(const struct nb6_run_names *names, int overwrite, struct nbc_error *err);

#endif
