/** Properties of stars in a checkpoint: a group, present if a run has some. Failures stay in the file. Private to
 *  checkpoint.c. */
#ifndef NB6_CHECKPOINT_PROPERTIES_H
#define NB6_CHECKPOINT_PROPERTIES_H

#include "nbody6/hdf5/hdf5_util.h"

struct nb6_config;
struct nb6_properties;
struct nb6_run_record;

/** @param[in] properties  NULL: there are none */
void nb6_checkpoint_write_properties(struct nb6_hdf5 *file, const struct nb6_properties *properties);
/** Whether radii act, which is part of the configuration: data.radii. */
void nb6_checkpoint_read_radii(struct nb6_hdf5 *file, struct nb6_config *config);
/** After nb6_checkpoint_read_radii, the same read: run->properties, which stays NULL if there are none. */
void nb6_checkpoint_read_properties(struct nb6_hdf5 *file, struct nb6_run_record *run);

#endif
