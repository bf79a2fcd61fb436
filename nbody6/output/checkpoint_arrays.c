#include "nbody6/output/checkpoint_arrays.h"

#include "common/nbc.h"
#include "nbody6/output/checkpoint_check.h"
#include "nbody6/output/checkpoint_rules.h"

#include <string.h>

/* A field on its way. */
struct transfer {
    struct nb6_hdf5 *file;
    const struct nb6_field_group *group;
    const struct nb6_state_field *field;
    struct nb6_field_array place;
    size_t bytes; /* of a row */
    int64_t rows;
    const struct nb6_rule_sizes *sizes; /* when reading */
};

static struct transfer transfer_of(struct nb6_hdf5 *file, const struct nb6_field_group *group, size_t k,
                                   const struct nb6_field_array *array, size_t arrays)
{
    const struct nb6_state_field *f = &group->field[k];
    struct transfer t = {
        .file = file, .group = group, .field = f, .bytes = nb6_state_field_bytes(f->type) * nb6_state_field_values(f)};
    for (size_t a = 0; a < arrays; a++)
        if (strcmp(array[a].field, f->name) == 0) t.place = array[a];
    return t;
}

static int fill_rows(void *context, int64_t first, int64_t count, void *buffer)
{
    const struct transfer *t = context;
    char *to = buffer;
    if (!t->place.data) {
        memset(to, 0, (size_t)count * t->bytes);
        return NBC_OK;
    }
    const char *from = (const char *)t->place.data + (size_t)first * t->place.stride;
    for (int64_t i = 0; i < count; i++, from += t->place.stride, to += t->bytes) memcpy(to, from, t->bytes);
    return NBC_OK;
}

/* Each row must have the values that are expected. */
static int compare_rows(const struct transfer *t, int64_t first, int64_t count, const char *from)
{
    for (int64_t i = 0; i < count; i++, from += t->bytes)
        if (memcmp(from, t->place.data, t->bytes) != 0) {
            nb6_rules_refuse_value(t->file, t->group, t->field, first + i, from, t->place.must_be);
            return t->file->status;
        }
    return NBC_OK;
}

static int take_rows(void *context, int64_t first, int64_t count, void *buffer)
{
    const struct transfer *t = context;
    const char *from = buffer;
    const struct nb6_rule_rows rows = {first, count, t->rows};
    if (!nb6_rules_allow(t->field, buffer, (size_t)count * nb6_state_field_values(t->field), t->sizes))
        nb6_rules_judge_values(t->file, t->group, t->field, buffer, &rows, t->sizes);
    if (t->file->status || !t->place.data) return t->file->status;
    if (t->place.stride == 0) return compare_rows(t, first, count, from);
    char *to = (char *)t->place.data + (size_t)first * t->place.stride;
    for (int64_t i = 0; i < count; i++, to += t->place.stride, from += t->bytes) memcpy(to, from, t->bytes);
    return NBC_OK;
}

void nb6_checkpoint_write_arrays(struct nb6_hdf5 *file, const struct nb6_field_group *group,
                                 const struct nb6_field_array *array, size_t arrays, int64_t n)
{
    hid_t object = nb6_hdf5_make_group(file, file->file, group->name);
    for (size_t k = 0; k < group->count; k++) {
        struct transfer t = transfer_of(file, group, k, array, arrays);
        nb6_hdf5_close_object(nb6_hdf5_make_dataset(file, object, t.field->name,
                                                    nb6_checkpoint_memory_type(t.field->type), n,
                                                    (int64_t)nb6_state_field_values(t.field), fill_rows, &t));
    }
    nb6_hdf5_close_object(object);
}

void nb6_checkpoint_read_arrays(struct nb6_hdf5 *file, const struct nb6_field_group *group,
                                const struct nb6_field_array *array, size_t arrays, int64_t n,
                                const struct nb6_rule_sizes *sizes)
{
    hid_t object = nb6_hdf5_open_group(file, file->file, group->name);
    nb6_checkpoint_check_fields(file, object, group, n);
    for (size_t k = 0; k < group->count; k++) {
        struct transfer t = transfer_of(file, group, k, array, arrays);
        t.rows = n;
        t.sizes = sizes;
        nb6_hdf5_read_dataset(file, object, t.field->name, nb6_checkpoint_memory_type(t.field->type), n,
                              (int64_t)nb6_state_field_values(t.field), take_rows, &t);
    }
    nb6_hdf5_close_object(object);
}
