/** The domains of ranks (nbody6/collisionless/ranks/sections.h) in a checkpoint of a collisionless system: the group
 * "domains", if its forces are made by the trees of several ranks. Failures stay in the file. Private to
 *  collisionless_checkpoint.c. */
#ifndef NB6_CHECKPOINT_DOMAINS_H
#define NB6_CHECKPOINT_DOMAINS_H

#include "nbody6/hdf5/hdf5_util.h"

struct nb6_sections;

/** Accepts NULL. */
void nb6_checkpoint_write_domains(struct nb6_hdf5 *file, const struct nb6_sections *sections);
/** @param[out] sections  NULL: there are none, or a failure; to be freed with nb6_sections_free */
void nb6_checkpoint_read_domains(struct nb6_hdf5 *file, struct nb6_sections **sections);

#endif
