#include "nbody6/output/run_snapshot.h"

#include "nbody6/input/properties.h"
#include "nbody6/output/snapshot.h"
#include "nbody6/output/snapshot_stars.h"
#include "nbody6/state/run_record.h"
#include "nbody6/state/sim.h"

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

int nb6_sim_snapshot_write(const char *path, const struct nb6_frame *frame, const struct nb6_sim *sim, int unsynced,
                           struct nbc_error *err)
{
    if (!sim->ageing) return nb6_run_snapshot_write(path, frame, &sim->run, unsynced, err);
    struct nb6_run_record *run = nbc_alloc(1, sizeof *run); /* too large for a stack */
    if (!run) return nbc_fail(err, NBC_NO_MEMORY, "no memory for a snapshot");
    *run = sim->run;
    int status = nb6_snapshot_stars(sim, frame, &run->properties, err);
    if (!status) status = nb6_run_snapshot_write(path, frame, run, unsynced, err);
    nb6_properties_free(run->properties);
    nbc_free(run);
    return status;
}
