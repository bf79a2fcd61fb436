/** nbody6 --status: the state of runs, from their files. */
#ifndef NB6_STATUS_H
#define NB6_STATUS_H

#include "common/nbc.h"

/** For each run in a folder, or the one with this prefix, on stdout: finished, running, stopped or failed; where it is;
 *  how to go on. Nothing is changed.
 *  @param[in] where  folder, or prefix of the files as of --out
 *  @return NBC_OK; NBC_BAD_INPUT (there is no run); NBC_FILE (the folder cannot be listed); NBC_NO_MEMORY */
int nb6_status_print(const char *where, struct nbc_error *err);

#endif
