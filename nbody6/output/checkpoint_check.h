/** Whether a checkpoint holds the fields that this program has, by name and type: a field that is missing, unknown, or
 *  of another type or length is refused by its name. The order of fields, in the file and in the struct, does not
 *  matter. Failures stay in the file. Private to checkpoint*.c. */
#ifndef NB6_CHECKPOINT_CHECK_H
#define NB6_CHECKPOINT_CHECK_H

#include "nbody6/hdf5/hdf5_util.h"
#include "nbody6/output/checkpoint_fields.h"

#include <stdint.h>

/** In place of a number of rows: the fields are attributes of the group. */
enum { NB6_ATTRIBUTES = -1 };

/** Type in memory of a field. */
hid_t nb6_checkpoint_memory_type(enum nb6_field_type type);

/** The fields of one group.   @param[in] rows  of each dataset; NB6_ATTRIBUTES: see there */
void nb6_checkpoint_check_fields(struct nb6_hdf5 *file, hid_t object, const struct nb6_field_group *group,
                                 int64_t rows);

/** Whether a vector is in the file with all its rows, of so many bytes each: one that was never written reads as zeros,
 *  at any stated length. */
void nb6_checkpoint_check_stored(struct nb6_hdf5 *file, hid_t parent, const char *name, int64_t rows, size_t bytes);

/** No group or dataset at the top of the file is unknown. That one is missing is noticed when it is read. */
void nb6_checkpoint_check_groups(struct nb6_hdf5 *file);

#endif
