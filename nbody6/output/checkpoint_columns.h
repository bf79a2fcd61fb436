/** Parts of a checkpoint: structs as groups, arrays of structs as datasets, lists. Failures stay in the file. Private
 * to checkpoint.c. */
#ifndef NB6_CHECKPOINT_COLUMNS_H
#define NB6_CHECKPOINT_COLUMNS_H

#include "nbody6/hdf5/hdf5_util.h"
#include "nbody6/output/checkpoint_fields.h"

#include <stdint.h>

struct nb6_config;
struct nb6_rule_sizes;
struct nb6_sim;

/** Input variables without a member in the configuration, each by its name. */
void nb6_checkpoint_write_numbers(struct nb6_hdf5 *file, const struct nb6_config *config);
/** The same read; one that the file has not has its default. */
void nb6_checkpoint_read_numbers(struct nb6_hdf5 *file, struct nb6_config *config);
/** Members of a struct as attributes of a group. */
void nb6_checkpoint_write_group(struct nb6_hdf5 *file, const struct nb6_field_group *group, const void *base);
/** Members of an array of structs, a dataset each. */
void nb6_checkpoint_write_columns(struct nb6_hdf5 *file, const struct nb6_field_group *group, const void *array,
                                  int64_t n);
/** All neighbour lists, one after the other. */
void nb6_checkpoint_write_lists(struct nb6_hdf5 *file, const struct nb6_sim *sim);
/** Pairs, chains and their perturbers. */
void nb6_checkpoint_write_pairs(struct nb6_hdf5 *file, const struct nb6_sim *sim);
/** The same read. */
void nb6_checkpoint_read_group(struct nb6_hdf5 *file, const struct nb6_field_group *group, void *base);
/** Whether the file holds these columns with n rows each, before there is memory for them. */
void nb6_checkpoint_check_columns(struct nb6_hdf5 *file, const struct nb6_field_group *group, int64_t n);
/** The same read, and judged by the rules of the fields.
 *  @param[in] is_used, sizes  as in checkpoint_rules.h */
void nb6_checkpoint_read_columns(struct nb6_hdf5 *file, const struct nb6_field_group *group, void *array, int64_t n,
                                 const int8_t *is_used, const struct nb6_rule_sizes *sizes);
/** Read the same, after the stars with their fields checked.   @param[out] nblist  free with nbc_free */
void nb6_checkpoint_read_lists(struct nb6_hdf5 *file, const struct nb6_sim *sim, int32_t **nblist);
/** The same read and judged, field by field: allocates. */
void nb6_checkpoint_read_pairs(struct nb6_hdf5 *file, struct nb6_sim *sim);

#endif
