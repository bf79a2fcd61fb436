/** Files in the GADGET layout that make up a snapshot, open for reading. Private to libnbody6. */
#ifndef NB6_PARTICLES_FILES_H
#define NB6_PARTICLES_FILES_H

#include "nbody6/hdf5/hdf5_util.h"
#include "nbody6/input/words/columns.h"

/** One file of a snapshot: its stars, and how many come before them. */
struct nb6_part {
    struct nb6_hdf5 file;
    hid_t group;
    int64_t first, n;
};

/** Where the reader is: all files of the snapshot are open, most often one. */
struct nb6_parts {
    struct nb6_part *part;
    int parts;
    char name[NB6_COLUMN_NAME_MAX]; /**< of the group of the stars */
    int type;                       /**< K of PartTypeK; -1: another group, named by COLUMNS */
    int64_t n;
};

/** A file alone.   @return NBC_OK; its failure */
int nb6_part_open(const char *path, struct nb6_part *part, struct nbc_error *err);
/** The file that is named, or all files of its snapshot.
 *  @param[in,out] lead  that file, open   @param[in,out] s  without parts; to be closed after a failure too
 *  @return NBC_OK; NBC_BAD_INPUT: no stars, or not clear which, or files that are missing; the failure of a file */
int nb6_parts_open(struct nb6_part *lead, const struct nb6_columns *columns, struct nb6_parts *s,
                   struct nbc_error *err);
void nb6_parts_close(struct nb6_part *lead, struct nb6_parts *s);
/** The first failure of all files. */
int nb6_parts_status(const struct nb6_parts *s);
/** A file that has stars. */
struct nb6_part *nb6_parts_some(const struct nb6_parts *s);
/** Of the file, or of all existing files of its snapshot. */
int64_t nb6_parts_bytes(const char *path);

#endif
