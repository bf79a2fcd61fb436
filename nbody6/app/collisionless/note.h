/** The bodies of a run of nbody6-collisionless, in lines at its start. */
#ifndef NB6_COLLISIONLESS_NOTE_H
#define NB6_COLLISIONLESS_NOTE_H

#include "common/nbc.h"

struct nb6_collisionless;
struct nb6_config;
struct nb6_data_facts;
struct nb6_progress;
struct nb6_units;

/** How the bodies of a new run were understood, with warnings for units that are likely to be wrong and for steps that
 *  are too long.   @param[in] config  settled, with the units of the model   @param[in] data  facts of the model
 *  @param[in] system  at t = 0. Of more than some 65000 bodies on several ranks, half-mass radius and virial ratio are
 *                     those of so many of them, which stand for all
 *  @return NBC_OK; NBC_NO_MEMORY; as nb6_bulk_find and nb6_config_number */
int nb6_collisionless_announce(struct nb6_progress *progress, const struct nb6_config *config,
                               const struct nb6_data_facts *data, struct nb6_collisionless *system,
                               const struct nb6_units *units, struct nbc_error *err);
/** The bodies of a run that goes on; on several ranks nothing is said of them.   @return NBC_OK; as
 * nb6_collisionless_frame and nb6_bulk_find */
int nb6_collisionless_announce_resumed(struct nb6_progress *progress, struct nb6_collisionless *system,
                                       const struct nb6_units *units, struct nbc_error *err);

#endif
