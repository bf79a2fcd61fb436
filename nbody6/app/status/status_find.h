/** Which runs have files in a folder. Private to status*.c. */
#ifndef NB6_STATUS_FIND_H
#define NB6_STATUS_FIND_H

#include "common/nbc.h"
#include "nbody6/app/run_names.h"

struct nb6_found_runs {
    size_t count, room;
    char (*prefix)[NB6_NAME_BYTES]; /**< [count], in the order of the alphabet; free with nbc_free */
};

/** Runs are known by a log with the id of a run, a checkpoint, or the lock of one that begins.
 *  @return NBC_OK; NBC_BAD_INPUT: there is none; NBC_FILE; NBC_NO_MEMORY; on failure nothing is allocated */
int nb6_status_find(const char *where, struct nb6_found_runs *found, struct nbc_error *err);

#endif
