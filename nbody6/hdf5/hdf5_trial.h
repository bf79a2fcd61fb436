/** HDF5 itself ends with a segmentation fault, or never returns, on some damaged files. So a child process reads a file
 *  of unknown origin first, and exits; then this process reads it. Both start from the same state, so that HDF5 finds
 *  the same bytes if it reads beyond its memory. */
#ifndef NB6_HDF5_TRIAL_H
#define NB6_HDF5_TRIAL_H

#include "nbody6/hdf5/hdf5_util.h"

/** Run read(context) in a child process, whose results are discarded. It must return within 5 s of the processor and 1
 *  s for each 20 MB of the file. Does nothing in a process of several threads or of MPI, which must not fork (as a
 *  library in another program), or where the system has no process to give.
 *  @param[in] path  for the message   @param[in] bytes  to be read   @return NBC_OK: the file can be read; NBC_FILE:
 * the child failed */
int nb6_hdf5_try(const char *path, int64_t bytes, void (*read)(void *context), void *context, struct nbc_error *err);

/** The same of one file, where reading may take long: of one of more than 16 MiB the child reads no values. It reads
 * the descriptions of all objects, shape, type and storage of each dataset, and the attributes. */
int nb6_hdf5_try_briefly(const char *path, void (*read)(void *context), void *context, struct nbc_error *err);

#endif
