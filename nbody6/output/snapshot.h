/** Snapshots. */
#ifndef NB6_SNAPSHOT_H
#define NB6_SNAPSHOT_H

#include "common/nbc.h"

#include <stdint.h>

struct nb6_config;
struct nb6_external;
struct nb6_frame;
struct nb6_properties;
struct nb6_units;

/** Header of a snapshot. */
struct nb6_snapshot_info {
    const struct nb6_units *units;
    const struct nb6_external *external;
    const struct nb6_config *config;
    int64_t number;                          /**< snapshots of this run before this one */
    const char *run;                         /**< id of the run (run_id.h); NULL: of none */
    const struct nb6_properties *properties; /**< of its stars, by their names; NULL: none */
    int unsynced; /**< 1: does not wait for the disk; the caller syncs later (nbc_file_sync_all) */
};

/** Write a frame as HDF5 in the GADGET layout (stars are PartType4). Arrays of the frame that are NULL are left out,
 *  except name, mass, x and v. The same frame gives the same bytes, wherever and whenever it is written.
 *  Written to a temporary name, synced unless `unsynced` is set, and renamed.   @return NBC_OK; NBC_FILE; NBC_NO_MEMORY
 */
int nb6_snapshot_write(const char *path, const struct nb6_frame *frame, const struct nb6_snapshot_info *info,
                       struct nbc_error *err);

#endif
