/** A HDF5 file driver on an open file descriptor that keeps a failed write to itself.
 *
 *  HDF5 1.10 ends a program with a segmentation fault at its exit when a file could not be closed, for instance on a
 *  full disk. So this driver never tells HDF5 that a write failed: it remembers the first errno, drops what follows,
 * and whoever made the file looks at it after H5Fclose. Reads that fail are reported to HDF5 as usual. No file locks.
 */
#ifndef NB6_HDF5_DRIVER_H
#define NB6_HDF5_DRIVER_H

#include <hdf5.h>

/** Where the bytes of one HDF5 file are; lives as long as the file is open in HDF5. */
struct nb6_hdf5_sink {
    int fd;          /**< open for what HDF5 will do; stays open when HDF5 closes the file */
    int first_errno; /**< of the first write that failed, 0: none */
    hid_t driver;    /**< registered for this file, 0: none */
};

/** File access properties that send a file to `sink`, whatever its name. Release with H5Pclose, and the sink once the
 *  file is closed.
 *  @return a negative number when HDF5 has no memory */
hid_t nb6_hdf5_sink_access(struct nb6_hdf5_sink *sink);
/** After H5Fclose, and not before: a file that holds the last reference to its driver is closed by HDF5 1.10 through
 * the class of the driver after that is free. Whatever happened; a second call does nothing. */
void nb6_hdf5_sink_release(struct nb6_hdf5_sink *sink);

#endif
