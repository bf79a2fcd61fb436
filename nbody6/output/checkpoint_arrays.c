#include "nbody6/output/checkpoint_arrays.h"

#include "common/nbc.h"
#include "nbody6/output/checkpoint_check.h"
#include "nbody6/output/checkpoint_rules.h"

#include <string.h>

enum { MOST_ARRAYS = 8 };

/* The fields of a group that are stored: a group of their own. */
struct subset {
    struct nb6_state_field field[MOST_ARRAYS];
    struct nb6_field_group group;
};

static const struct nb6_field_group *stored_of(struct subset *subset, const struct nb6_field_group *group,
                                               const struct nb6_field_array *array, size_t arrays)
{
    subset->group = *group;
    subset->group.field = subset->field;
    subset->group.count = arrays;
    for (size_t a = 0; a < arrays; a++)
        for (size_t k = 0; k < group->count; k++)
            if (strcmp(array[a].field, group->field[k].name) == 0) subset->field[a] = group->field[k];
    return &subset->group;
}

/* A field on its way. */
struct transfer {
    struct nb6_hdf5 *file;
    const struct nb6_field_group *group;
    const struct nb6_state_field *field;
    const struct nb6_field_array *place;
    size_t bytes; /* of a row */
    int64_t rows;
    const struct nb6_rule_sizes *sizes; /* when reading */
    const struct nb6_body_rows *source; /* when writing; NULL: the place has them */
    const struct nb6_body_sink *sink;   /* when reading; NULL: the place gets them, if it has memory */
    enum nb6_body_column column;
};

static struct transfer transfer_of(struct nb6_hdf5 *file, const struct nb6_field_group *stored, size_t k,
                                   const struct nb6_field_array *array)
{
    const struct nb6_state_field *f = &stored->field[k];
    return (struct transfer){.file = file,
                             .group = stored,
                             .field = f,
                             .place = &array[k],
                             .bytes = nb6_state_field_bytes(f->type) * nb6_state_field_values(f)};
}

static int fill_rows(void *context, int64_t first, int64_t count, void *buffer)
{
    const struct transfer *t = context;
    if (t->source) {
        t->source->get(t->source->context, t->column, first, count, buffer);
        return NBC_OK;
    }
    const char *from = (const char *)t->place->data + (size_t)first * t->place->stride;
    char *to = buffer;
    for (int64_t i = 0; i < count; i++, from += t->place->stride, to += t->bytes) memcpy(to, from, t->bytes);
    return NBC_OK;
}

static int take_rows(void *context, int64_t first, int64_t count, void *buffer)
{
    const struct transfer *t = context;
    const char *from = buffer;
    const struct nb6_rule_rows rows = {first, count, t->rows};
    if (!nb6_rules_allow(t->field, buffer, (size_t)count * nb6_state_field_values(t->field), t->sizes))
        nb6_rules_judge_values(t->file, t->group, t->field, buffer, &rows, t->sizes);
    if (t->file->status) return t->file->status;
    if (t->sink) t->sink->put(t->sink->context, t->column, first, count, buffer);
    if (t->sink || !t->place->data) return NBC_OK;
    char *to = (char *)t->place->data + (size_t)first * t->place->stride;
    for (int64_t i = 0; i < count; i++, to += t->place->stride, from += t->bytes) memcpy(to, from, t->bytes);
    return NBC_OK;
}

/* column: NULL without rows. */
static void write_all(struct nb6_hdf5 *file, const struct nb6_field_group *group, const struct nb6_field_array *array,
                      const enum nb6_body_column *column, size_t arrays, int64_t n, const struct nb6_body_rows *rows)
{
    struct subset subset;
    const struct nb6_field_group *stored = stored_of(&subset, group, array, arrays);
    hid_t object = nb6_hdf5_make_group(file, file->file, group->name);
    for (size_t k = 0; k < arrays; k++) {
        struct transfer t = transfer_of(file, stored, k, array);
        t.source = rows;
        if (rows) t.column = column[k];
        nb6_hdf5_close_object(nb6_hdf5_make_dataset(file, object, t.field->name,
                                                    nb6_checkpoint_memory_type(t.field->type), n,
                                                    (int64_t)nb6_state_field_values(t.field), fill_rows, &t));
    }
    nb6_hdf5_close_object(object);
}

void nb6_checkpoint_write_arrays(struct nb6_hdf5 *file, const struct nb6_field_group *group,
                                 const struct nb6_field_array *array, size_t arrays, int64_t n)
{
    write_all(file, group, array, NULL, arrays, n, NULL);
}

void nb6_checkpoint_write_rows(struct nb6_hdf5 *file, const struct nb6_field_group *group,
                               const struct nb6_field_array *array, const enum nb6_body_column *column, size_t arrays,
                               int64_t n, const struct nb6_body_rows *rows)
{
    write_all(file, group, array, column, arrays, n, rows);
}

void nb6_checkpoint_check_arrays(struct nb6_hdf5 *file, const struct nb6_field_group *group,
                                 const struct nb6_field_array *array, size_t arrays, int64_t n)
{
    struct subset subset;
    const struct nb6_field_group *stored = stored_of(&subset, group, array, arrays);
    hid_t object = nb6_hdf5_open_group(file, file->file, group->name);
    nb6_checkpoint_check_fields(file, object, stored, n);
    nb6_hdf5_close_object(object);
}

/* column: NULL without a sink. */
static void read_all(struct nb6_hdf5 *file, const struct nb6_field_group *group, const struct nb6_field_array *array,
                     const enum nb6_body_column *column, size_t arrays, int64_t n, const struct nb6_rule_sizes *sizes,
                     const struct nb6_body_sink *sink)
{
    struct subset subset;
    const struct nb6_field_group *stored = stored_of(&subset, group, array, arrays);
    hid_t object = nb6_hdf5_open_group(file, file->file, group->name);
    nb6_checkpoint_check_fields(file, object, stored, n);
    for (size_t k = 0; k < arrays; k++) {
        struct transfer t = transfer_of(file, stored, k, array);
        t.rows = n;
        t.sizes = sizes;
        t.sink = sink;
        if (sink) t.column = column[k];
        nb6_hdf5_read_dataset(file, object, t.field->name, nb6_checkpoint_memory_type(t.field->type), n,
                              (int64_t)nb6_state_field_values(t.field), take_rows, &t);
    }
    nb6_hdf5_close_object(object);
}

void nb6_checkpoint_read_arrays(struct nb6_hdf5 *file, const struct nb6_field_group *group,
                                const struct nb6_field_array *array, size_t arrays, int64_t n,
                                const struct nb6_rule_sizes *sizes)
{
    read_all(file, group, array, NULL, arrays, n, sizes, NULL);
}

void nb6_checkpoint_read_rows(struct nb6_hdf5 *file, const struct nb6_field_group *group,
                              const struct nb6_field_array *array, const enum nb6_body_column *column, size_t arrays,
                              int64_t n, const struct nb6_rule_sizes *sizes, const struct nb6_body_sink *sink)
{
    read_all(file, group, array, column, arrays, n, sizes, sink);
}
