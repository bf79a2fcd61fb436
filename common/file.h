/** Files put in place as a whole: names, and the rename that either happens or does not. */
#ifndef NB6_FILE_H
#define NB6_FILE_H

#include "common/nbc.h"

/** name + suffix.   @param[out] out [size]   @return NBC_OK; NBC_BAD_ARGUMENT when it does not fit */
int nbc_file_name(char *out, size_t size, const char *name, const char *suffix);

/** 1 if there is something of this name. */
int nbc_file_exists(const char *path);

/** Refuse what exists under this name, or where a link of this name leads, and is no regular file: a device, a pipe, a
 *  socket, a folder.   @return NBC_OK; NBC_FILE */
int nbc_file_refuse_special(const char *path, struct nbc_error *err);

/** Make an empty file with an unused name, beside `path` and for nbc_file_replace or nbc_file_place: no link is
 *  followed, and no existing file is opened. Its rights follow the umask.
 *  @param[out] temporary [size] its name; "" on failure   @param[out] fd open for reading and writing; -1 on failure
 *  @return NBC_OK; NBC_FILE (also where `path` is no regular file) */
int nbc_file_make_temporary(const char *path, char *temporary, size_t size, int *fd, struct nbc_error *err);
/** Length of the name for which nbc_file_make_temporary, or the keeping of nbc_file_replace, made a temporary name.
 *  @return 0: it is none */
size_t nbc_file_of_temporary(const char *name);

/** Put the finished, synced file `temporary` in the place of `path` and sync the directory. At every moment there is a
 *  whole file at `path` if there was one before (on a file system without hard links: at `path` or at `keep_as`).
 *  @param[in] keep_as name under which the old `path` stays, replacing what was there; NULL: it goes
 *  @return NBC_OK; NBC_FILE (path and reason in err; `temporary` is still there) */
int nbc_file_replace(const char *temporary, const char *path, const char *keep_as, struct nbc_error *err);

/** Put `temporary` in the place of `path` without waiting for the disk: readers of the path find a whole file, but
 *  after a loss of power it may be missing or empty unless nbc_file_sync_all was called.   @return as
 *  nbc_file_replace */
int nbc_file_place(const char *temporary, const char *path, struct nbc_error *err);

/** Bring to the disk all that was written to the file system that `path` is on, which need not exist itself.
 *  @return NBC_OK; NBC_FILE */
int nbc_file_sync_all(const char *path, struct nbc_error *err);

#endif
