/** A HDF5 file driver on an open file descriptor that keeps a failed write to itself.
 *
 *  HDF5 1.10 ends a program with a segmentation fault at its exit when a file could not be closed, for instance on a
 *  full disk. So this driver never reports a failed write to HDF5: it remembers the first errno and drops all later
 *  writes. The caller checks the errno after H5Fclose. Reads that fail are reported to HDF5 as usual. No file locks. */
#ifndef NB6_HDF5_DRIVER_H
#define NB6_HDF5_DRIVER_H

#include <hdf5.h>

/** Where the bytes of one HDF5 file are; lives as long as the file is open in HDF5. */
struct nb6_hdf5_sink {
    int fd;          /**< open, with access for HDF5; stays open when HDF5 closes the file */
    int first_errno; /**< of the first write that failed, 0: none */
    int opened;      /**< 1: HDF5 has the file open; it opens no other by the same access */
};

/** Wait until no other thread has a file open here, and keep others out until nb6_hdf5_exit. A thread may enter again,
 *  and exits as often. */
void nb6_hdf5_enter(void);
void nb6_hdf5_exit(void);

/** File access properties that send a file to `sink`, whatever its name. Release with H5Pclose. Between enter and exit.
 *  The driver is registered by the first call, and again by the first one after H5close; it stays.
 *  @return a negative number when HDF5 has no memory */
hid_t nb6_hdf5_sink_access(struct nb6_hdf5_sink *sink);

#endif
