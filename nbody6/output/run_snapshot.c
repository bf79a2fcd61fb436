#include "nbody6/output/run_snapshot.h"

#include "nbody6/output/snapshot.h"
#include "nbody6/state/run_record.h"

#include <stddef.h>

int nb6_run_snapshot_write(const char *path, const struct nb6_frame *frame, const struct nb6_run_record *run,
                           int unsynced, struct nbc_error *err)
{
    const struct nb6_snapshot_info info = {.units = &run->units,
                                           .external = &run->external,
                                           .config = &run->config,
                                           .number = run->book.snapshot_count,
                                           .run = run->id[0] ? run->id : NULL,
                                           .properties = run->properties,
                                           .unsynced = unsynced};
    return nb6_snapshot_write(path, frame, &info, err);
}
