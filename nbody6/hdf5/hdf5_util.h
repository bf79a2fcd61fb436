/** HDF5 files that are written completely or not at all, and read with one clear message when they cannot be.
 *
 *  Errors are sticky: the first one is kept in the file, the calls after it do nothing, and the last call returns it.
 *  No object carries a time of its making, so equal contents give equal bytes. Units: bytes. */
#ifndef NB6_HDF5_UTIL_H
#define NB6_HDF5_UTIL_H

#include "common/nbc.h"
#include "nbody6/hdf5/hdf5_driver.h"

#include <stdio.h>

enum { NB6_HDF5_PATH = 1200 };

/** A file being written under a temporary name, or being read. Filled by the functions below only. */
struct nb6_hdf5 {
    char path[NB6_HDF5_PATH];      /**< the name that counts */
    char temporary[NB6_HDF5_PATH]; /**< name until it is whole (common/file.h); "" when reading */
    struct nb6_hdf5_sink sink;
    hid_t file;
    int status; /**< of the first failure */
    struct nbc_error *err;
    H5E_auto2_t report; /**< HDF5's handler of errors before it was silenced */
    void *report_data;
};

/** Start a file.   @param[in] user_block bytes left free before the HDF5 part: 0, 512, 1024, ... */
int nb6_hdf5_create(struct nb6_hdf5 *file, const char *path, size_t user_block, struct nbc_error *err);
/** End the HDF5 part; the descriptor stays open for the user block.   @return the first failure */
int nb6_hdf5_finish(struct nb6_hdf5 *file);
/** Finish, sync, and put the file in place of `path`. A failure leaves the old file and removes the temporary.
 *  @param[in] keep_as  name under which the replaced file is kept; NULL: it is removed   @return the first failure */
int nb6_hdf5_commit(struct nb6_hdf5 *file, const char *keep_as);
/** The same without sync: nbc_file_sync_all is the caller's business. */
int nb6_hdf5_place(struct nb6_hdf5 *file);

/** Open a file for reading; a user block is skipped. */
int nb6_hdf5_open(struct nb6_hdf5 *file, const char *path, struct nbc_error *err);
/** Close after reading.   @return the first failure */
int nb6_hdf5_close(struct nb6_hdf5 *file);

/** Record a failure of our own; the first one counts. `text` follows the path and a colon. */
int nb6_hdf5_fail(struct nb6_hdf5 *file, int status, const char *text);
/** Record "HDF5 failed to <what> <name>" when result < 0.   @return result */
hid_t nb6_hdf5_check(struct nb6_hdf5 *file, hid_t result, const char *what, const char *name);

/** A group, to be closed with nb6_hdf5_close_object. */
hid_t nb6_hdf5_make_group(struct nb6_hdf5 *file, hid_t parent, const char *name);
hid_t nb6_hdf5_open_group(struct nb6_hdf5 *file, hid_t parent, const char *name);
void nb6_hdf5_close_object(hid_t object);

/** Little-endian type of the file for a type in memory, so that files are alike on all machines. */
hid_t nb6_hdf5_file_type(hid_t memory);

/** Attributes of a group or dataset.   @param[in] type in memory   @param[in] count 0: a scalar, else a vector */
void nb6_hdf5_put(struct nb6_hdf5 *file, hid_t object, const char *name, hid_t type, size_t count, const void *value);
void nb6_hdf5_put_double(struct nb6_hdf5 *file, hid_t object, const char *name, double value);
void nb6_hdf5_put_int(struct nb6_hdf5 *file, hid_t object, const char *name, int value);
void nb6_hdf5_put_text(struct nb6_hdf5 *file, hid_t object, const char *name, const char *value);
/** Read exactly `count` (0: a scalar) values; another length is a failure. */
void nb6_hdf5_get(struct nb6_hdf5 *file, hid_t object, const char *name, hid_t type, size_t count, void *value);
/** Read a row of 1 to `most` values, all of them; other lengths are a failure.   @return how many; 0: a failure */
size_t nb6_hdf5_get_row(struct nb6_hdf5 *file, hid_t object, const char *name, hid_t type, size_t most, void *value);
/** Read one text of less than `size` bytes. */
void nb6_hdf5_get_text(struct nb6_hdf5 *file, hid_t object, const char *name, size_t size, char *value);

/** Copies rows [first, first + count) to (writing) or from (reading) a buffer of count x columns values in memory
 *  type; called with ascending rows.   @return NBC_OK or the error */
typedef int (*nb6_hdf5_rows)(void *context, int64_t first, int64_t count, void *buffer);

/** A dataset [rows] or, with columns > 1, [rows][columns], copied in pieces of at most 8 MiB.
 *  @param[in] columns 1: a vector of rows   @return the dataset, for its attributes; close with nb6_hdf5_close_object
 */
hid_t nb6_hdf5_make_dataset(struct nb6_hdf5 *file, hid_t parent, const char *name, hid_t type, int64_t rows,
                            int64_t columns, nb6_hdf5_rows fill, void *context);
/** Read such a dataset, whose shape must be this one, and which hdf5_stored.h lets pass. */
void nb6_hdf5_read_dataset(struct nb6_hdf5 *file, hid_t parent, const char *name, hid_t type, int64_t rows,
                           int64_t columns, nb6_hdf5_rows take, void *context);
/** Length of a vector dataset, -1 on failure. */
int64_t nb6_hdf5_rows_of(struct nb6_hdf5 *file, hid_t parent, const char *name);

#endif
