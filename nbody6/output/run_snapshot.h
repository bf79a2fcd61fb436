/** The next snapshot of a run of either kind. Private to the commands. */
#ifndef NB6_RUN_SNAPSHOT_H
#define NB6_RUN_SNAPSHOT_H

#include "common/nbc.h"

struct nb6_frame;
struct nb6_run_record;
struct nb6_sim;

/** @param[in] run       units, field, configuration, id and properties; its number is book.snapshot_count
 *  @param[in] unsynced  as in struct nb6_snapshot_info
 *  @return as nb6_snapshot_write */
int nb6_run_snapshot_write(const char *path, const struct nb6_frame *frame, const struct nb6_run_record *run,
                           int unsynced, struct nbc_error *err);

/** The same of a simulation: with what its stars are now, if they age.   @return also as nb6_snapshot_stars */
int nb6_sim_snapshot_write(const char *path, const struct nb6_frame *frame, const struct nb6_sim *sim, int unsynced,
                           struct nbc_error *err);

#endif
