#include "nbody6/output/checkpoint_state.h"

#include "common/nbc.h"
#include "nbody6/output/checkpoint.h"
#include "nbody6/output/checkpoint_check.h"
#include "nbody6/output/checkpoint_columns.h"
#include "nbody6/output/checkpoint_fields.h"
#include "nbody6/output/checkpoint_rules.h"
#include "nbody6/run/nbody6.h"

void nb6_checkpoint_write_heading(struct nb6_hdf5 *file, const char *gpunb_backend, const char *gpuirr_backend,
                                  const char *engine, const struct nb6_run_state *run)
{
    hid_t object = nb6_hdf5_make_group(file, file->file, "nbody6");
    nb6_hdf5_put_text(file, object, "version", NB6_VERSION);
    nb6_hdf5_put_int(file, object, "schema", NB6_CHECKPOINT_SCHEMA);
    nb6_hdf5_put_text(file, object, "gpunb_backend", gpunb_backend);
    nb6_hdf5_put_text(file, object, "gpuirr_backend", gpuirr_backend);
    nb6_hdf5_put_text(file, object, "engine", engine);
    nb6_hdf5_put_text(file, object, "run", run->id);
    nb6_hdf5_put(file, object, "log_bytes", H5T_NATIVE_INT64, 0, &run->log_bytes);
    nb6_hdf5_put(file, object, "events_bytes", H5T_NATIVE_INT64, 0, &run->events_bytes);
    nb6_hdf5_put(file, object, "escapers_bytes", H5T_NATIVE_INT64, 0, &run->escapers_bytes);
    nb6_hdf5_close_object(object);
}

void nb6_checkpoint_write_state(struct nb6_hdf5 *file, const struct nb6_checkpoint_state *state)
{
    const struct nb6_field_group *group;
    for (int k = 0; (group = nb6_state_group(k)); k++) nb6_checkpoint_write_group(file, group, state);
    nb6_checkpoint_write_numbers(file, &state->run.config);
}

void nb6_checkpoint_read_state(struct nb6_hdf5 *file, struct nb6_checkpoint_state *state)
{
    const struct nb6_field_group *group;
    const struct nb6_rule_sizes nothing = {0, 0, 0};
    nb6_checkpoint_check_groups(file);
    for (int k = 0; (group = nb6_state_group(k)); k++) {
        nb6_checkpoint_read_group(file, group, state);
        if (!file->status) nb6_rules_judge(file, group, state, 1, NULL, &nothing);
    }
}
