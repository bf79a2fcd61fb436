#include "nbody6/output/checkpoint_properties.h"

#include "common/nbc.h"
#include "nbody6/input/properties.h"
#include "nbody6/output/checkpoint_check.h"
#include "nbody6/output/checkpoint_rules.h"
#include "nbody6/state/run_record.h"

#include <stdio.h>
#include <string.h>

static const char GROUP[] = "properties";

/* A column is a dataset named by its number, with name and unit as attributes: users chose the names. */
enum { DATASET_NAME = 24 };

static void dataset_name(int k, char name[DATASET_NAME])
{
    snprintf(name, DATASET_NAME, "column_%02d", k);
}

struct vector {
    char *data;
    size_t row_bytes;
};

static int fill(void *context, int64_t first, int64_t count, void *buffer)
{
    const struct vector *v = context;
    memcpy(buffer, v->data + (size_t)first * v->row_bytes, (size_t)count * v->row_bytes);
    return NBC_OK;
}

static int take(void *context, int64_t first, int64_t count, void *buffer)
{
    const struct vector *v = context;
    memcpy(v->data + (size_t)first * v->row_bytes, buffer, (size_t)count * v->row_bytes);
    return NBC_OK;
}

void nb6_checkpoint_write_properties(struct nb6_hdf5 *file, const struct nb6_properties *p)
{
    if (!p) return;
    struct vector names = {(char *)p->name, sizeof *p->name};
    hid_t group = nb6_hdf5_make_group(file, file->file, GROUP);
    nb6_hdf5_put_int(file, group, "columns", p->count);
    nb6_hdf5_put_int(file, group, "radii_act", p->radii_act);
    nb6_hdf5_close_object(nb6_hdf5_make_dataset(file, group, "names", H5T_NATIVE_INT64, p->n, 1, fill, &names));
    for (int k = 0; k < p->count; k++) {
        char name[DATASET_NAME];
        struct vector column = {(char *)p->value[k], sizeof(double)};
        dataset_name(k, name);
        hid_t dataset = nb6_hdf5_make_dataset(file, group, name, H5T_NATIVE_DOUBLE, p->n, 1, fill, &column);
        nb6_hdf5_put_text(file, dataset, "name", p->column[k].name);
        nb6_hdf5_put_text(file, dataset, "unit", p->column[k].unit);
        nb6_hdf5_close_object(dataset);
    }
    nb6_hdf5_close_object(group);
}

/* A name of a dataset in snapshots, a unit. */
static void judge_text(struct nb6_hdf5 *file, const char *field, int64_t k, const char *text, int may_be_empty)
{
    if (file->status) return;
    if (!may_be_empty && (text[0] == 0 || strcmp(text, ".") == 0))
        nb6_rules_refuse(file, field, k, (double)strlen(text), "the name of a column (the number is its length)");
    for (const char *c = text; *c && !file->status; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            nb6_rules_refuse(file, field, k, *c, "characters that can be printed (the number is one of them)");
}

static void read_column(struct nb6_hdf5 *file, hid_t group, int k, struct nb6_properties *p)
{
    char name[DATASET_NAME];
    struct nb6_property column = {.name = ""};
    struct vector values = {NULL, sizeof(double)};
    double *value;
    dataset_name(k, name);
    hid_t dataset = nb6_hdf5_check(file, H5Dopen2(group, name, H5P_DEFAULT), "open", name);
    nb6_hdf5_get_text(file, dataset, "name", sizeof column.name, column.name);
    nb6_hdf5_get_text(file, dataset, "unit", sizeof column.unit, column.unit);
    if (dataset >= 0) H5Dclose(dataset);
    judge_text(file, "properties/column.name", k, column.name, 0);
    judge_text(file, "properties/column.unit", k, column.unit, 1);
    nb6_checkpoint_check_stored(file, group, name, p->n, sizeof(double));
    if (file->status) return;
    const int status = nb6_properties_add(p, &column, &value, NULL);
    if (status) {
        nb6_hdf5_fail(file, status == NBC_NO_MEMORY ? status : NBC_FILE, "its properties of stars cannot be kept");
        return;
    }
    values.data = (char *)value;
    nb6_hdf5_read_dataset(file, group, name, H5T_NATIVE_DOUBLE, p->n, 1, take, &values);
}

void nb6_checkpoint_read_radii(struct nb6_hdf5 *file, struct nb6_config *config)
{
    if (file->status || H5Lexists(file->file, GROUP, H5P_DEFAULT) <= 0) return;
    hid_t group = nb6_hdf5_open_group(file, file->file, GROUP);
    nb6_hdf5_get(file, group, "radii_act", H5T_NATIVE_INT, 0, &config->data.radii);
    nb6_hdf5_close_object(group);
    if (!file->status && config->data.radii != 0 && config->data.radii != 1)
        nb6_rules_refuse(file, "properties/radii_act", -1, config->data.radii, "0 or 1");
}

/* Names are those of stars, each once. */
static void judge_names(struct nb6_hdf5 *file, const struct nb6_properties *p)
{
    for (int64_t i = 0; i < p->n && !file->status; i++) {
        const int64_t name = p->name[p->order[i]];
        if (name < 1 || (i > 0 && name == p->name[p->order[i - 1]]))
            nb6_rules_refuse(file, "properties/names", p->order[i], (double)name, "the name of one star, > 0");
    }
}

static void read_names(struct nb6_hdf5 *file, hid_t group, struct nb6_properties **properties)
{
    const int64_t n = file->status ? -1 : nb6_hdf5_rows_of(file, group, "names");
    nb6_checkpoint_check_stored(file, group, "names", n, sizeof(int64_t));
    if (file->status) return;
    int64_t *name = nbc_alloc((size_t)n, sizeof *name);
    struct vector names = {(char *)name, sizeof *name};
    if (name) nb6_hdf5_read_dataset(file, group, "names", H5T_NATIVE_INT64, n, 1, take, &names);
    if (!name || (!file->status && nb6_properties_create(n, name, properties, NULL)))
        nb6_hdf5_fail(file, NBC_NO_MEMORY, "not enough memory for the properties of its stars");
    nbc_free(name);
    if (!file->status) judge_names(file, *properties);
}

void nb6_checkpoint_read_properties(struct nb6_hdf5 *file, struct nb6_run_record *run)
{
    int columns = 0;
    if (file->status || H5Lexists(file->file, GROUP, H5P_DEFAULT) <= 0) return;
    hid_t group = nb6_hdf5_open_group(file, file->file, GROUP);
    nb6_hdf5_get(file, group, "columns", H5T_NATIVE_INT, 0, &columns);
    if (!file->status && (columns < 0 || columns > NB6_PROPERTIES_MAX))
        nb6_rules_refuse(file, "properties/columns", -1, columns, "a number from 0 to 64");
    read_names(file, group, &run->properties);
    for (int k = 0; k < columns && !file->status; k++) read_column(file, group, k, run->properties);
    if (!file->status && run->config.data.radii && nb6_properties_find(run->properties, NB6_STELLAR_RADIUS) < 0)
        nb6_rules_refuse(file, "properties/radii_act", -1, 1, "0: there are no radii");
    if (run->properties) run->properties->radii_act = run->config.data.radii;
    nb6_hdf5_close_object(group);
}
