/** Columns of a checkpoint that are arrays in memory, each in a place of its own: written and read in pieces, without
 *  records of all rows. Failures stay in the file. Private to collisionless_checkpoint.c and its tests. */
#ifndef NB6_CHECKPOINT_ARRAYS_H
#define NB6_CHECKPOINT_ARRAYS_H

#include "nbody6/hdf5/hdf5_util.h"
#include "nbody6/output/checkpoint_fields.h"
#include "nbody6/state/body_rows.h"

#include <stdint.h>

struct nb6_rule_sizes;

/** A field that is stored, and its place: values of a row follow each other. */
struct nb6_field_array {
    const char *field; /**< its name in the group */
    void *data;        /**< values of the first row; read only when writing */
    size_t stride;     /**< bytes from row to row */
};

/** Write these fields of a group, with n rows.   @param[in] array  [arrays] */
void nb6_checkpoint_write_arrays(struct nb6_hdf5 *file, const struct nb6_field_group *group,
                                 const struct nb6_field_array *array, size_t arrays, int64_t n);
/** The same of columns that come in rows.   @param[in] array  whose data is not read   @param[in] column  [arrays] */
void nb6_checkpoint_write_rows(struct nb6_hdf5 *file, const struct nb6_field_group *group,
                               const struct nb6_field_array *array, const enum nb6_body_column *column, size_t arrays,
                               int64_t n, const struct nb6_body_rows *rows);
/** Whether the file holds them with n rows, and no other field in their group; data may be NULL. */
void nb6_checkpoint_check_arrays(struct nb6_hdf5 *file, const struct nb6_field_group *group,
                                 const struct nb6_field_array *array, size_t arrays, int64_t n);
/** Read the same, judged by the rules of its fields. */
void nb6_checkpoint_read_arrays(struct nb6_hdf5 *file, const struct nb6_field_group *group,
                                const struct nb6_field_array *array, size_t arrays, int64_t n,
                                const struct nb6_rule_sizes *sizes);

/** Read them for a sink.   @param[in] array  whose data is not used   @param[in] column  [arrays]   @param[in] sink
 *  NULL: they are judged alone */
void nb6_checkpoint_read_rows(struct nb6_hdf5 *file, const struct nb6_field_group *group,
                              const struct nb6_field_array *array, const enum nb6_body_column *column, size_t arrays,
                              int64_t n, const struct nb6_rule_sizes *sizes, const struct nb6_body_sink *sink);

#endif
