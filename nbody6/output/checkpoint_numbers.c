/* Input variables that have no member in the configuration: a group with an attribute GROUP.NAME for each. */
#include "common/nbc.h"
#include "nbody6/hdf5/hdf5_util.h"
#include "nbody6/input/config.h"
#include "nbody6/input/input_table.h"
#include "nbody6/output/checkpoint_columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char GROUP[] = "config_numbers";

enum { NAME_BYTES = 128 };

/* The k-th row of the table and its attribute; 0: it is no such variable. */
static int is_number(int k, char name[NAME_BYTES])
{
    const struct nb6_input_variable *v = &nb6_input_variables[k];
    snprintf(name, NAME_BYTES, "%s.%s", v->group, v->name);
    return v->target == NB6_TO_NUMBER;
}

void nb6_checkpoint_write_numbers(struct nb6_hdf5 *file, const struct nb6_config *config)
{
    char name[NAME_BYTES];
    hid_t object = nb6_hdf5_make_group(file, file->file, GROUP);
    for (int k = 0; k < nb6_input_variable_count; k++) {
        const struct nb6_input_variable *v = &nb6_input_variables[k];
        if (is_number(k, name)) nb6_hdf5_put_double(file, object, name, nb6_input_number(config, v));
    }
    nb6_hdf5_close_object(object);
}

/* The value of a variable that this program does not have would be lost. */
static herr_t check_name(hid_t object, const char *found, const H5A_info_t *info, void *context)
{
    struct nb6_hdf5 *file = context;
    char name[NAME_BYTES], text[3 * NAME_BYTES];
    (void)object;
    (void)info;
    for (int k = 0; k < nb6_input_variable_count; k++)
        if (is_number(k, name) && strcmp(name, found) == 0) return 0;
    snprintf(text, sizeof text,
             "the input variable %.*s is unknown to this program; resume it with the version of nbody6 that wrote it",
             NAME_BYTES, found);
    nb6_hdf5_fail(file, NBC_FILE, text);
    return 1;
}

/* A variable that the file does not have is newer than the file: the run had its default. */
void nb6_checkpoint_read_numbers(struct nb6_hdf5 *file, struct nb6_config *config)
{
    char name[NAME_BYTES];
    hid_t object = nb6_hdf5_open_group(file, file->file, GROUP);
    if (!file->status)
        nb6_hdf5_check(file, H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, NULL, check_name, file), "list", GROUP);
    for (int k = 0; k < nb6_input_variable_count && !file->status; k++) {
        const struct nb6_input_variable *v = &nb6_input_variables[k];
        if (!is_number(k, name)) continue;
        double value = strtod(v->initial, NULL);
        if (H5Aexists(object, name) > 0) nb6_hdf5_get(file, object, name, H5T_NATIVE_DOUBLE, 0, &value);
        memcpy((char *)config + nb6_input_offset(v), &value, sizeof value);
    }
    nb6_hdf5_close_object(object);
}
