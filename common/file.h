/** Files put in place as a whole: names, and the rename that either happens or does not. */
#ifndef NB6_FILE_H
#define NB6_FILE_H

#include "common/nbc.h"

/** name + suffix.   @param[out] out [size]   @return NBC_OK; NBC_BAD_ARGUMENT when it does not fit */
int nbc_file_name(char *out, size_t size, const char *name, const char *suffix);

/** 1 if there is something of this name. */
int nbc_file_exists(const char *path);

/** Put the finished, synced file `temporary` in the place of `path` and sync the directory. At every moment there is a
 *  whole file at `path` if there was one before (on a file system without hard links: at `path` or at `keep_as`).
 *  @param[in] keep_as name under which the old `path` stays, replacing what was there; NULL: it goes
 *  @return NBC_OK; NBC_FILE (path and reason in err; `temporary` is still there) */
int nbc_file_replace(const char *temporary, const char *path, const char *keep_as, struct nbc_error *err);

#endif
