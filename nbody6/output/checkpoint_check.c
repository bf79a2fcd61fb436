#include "nbody6/output/checkpoint_check.h"

#include "common/nbc.h"
#include "nbody6/output/checkpoint_tree.h"

#include <string.h>

enum { NAME_BYTES = 256 };

hid_t nb6_checkpoint_memory_type(enum nb6_field_type type)
{
    switch (type) {
    case NB6_FIELD_F64:
        return H5T_NATIVE_DOUBLE;
    case NB6_FIELD_I64:
        return H5T_NATIVE_INT64;
    case NB6_FIELD_U64:
        return H5T_NATIVE_UINT64;
    case NB6_FIELD_I32:
        return H5T_NATIVE_INT32;
    case NB6_FIELD_I8:
        return H5T_NATIVE_INT8;
    default:
        return H5T_C_S1;
    }
}

static void refuse_dataset(struct nb6_hdf5 *file, const char *group, const char *name, const char *what)
{
    char text[3 * NAME_BYTES];
    snprintf(text, sizeof text, "the field %s%s%s %s; resume it with the version of nbody6 that wrote it", group,
             *group ? "/" : "", name, what);
    nb6_hdf5_fail(file, NBC_FILE, text);
}

/* ---- the fields that there should be ---- */

static int has_type(hid_t stored, const struct nb6_state_field *field)
{
    if (field->type != NB6_FIELD_TEXT)
        return H5Tequal(stored, nb6_hdf5_file_type(nb6_checkpoint_memory_type(field->type))) > 0;
    return H5Tget_class(stored) == H5T_STRING && !H5Tis_variable_str(stored) && H5Tget_size(stored) <= field->count;
}

/* One value, or a row of them; in a dataset as many as there are structs. */
static int has_length(hid_t space, const struct nb6_state_field *field, int64_t rows)
{
    hsize_t shape[2] = {0, 1}, values = nb6_state_field_values(field);
    if (rows == NB6_ATTRIBUTES)
        return H5Sget_simple_extent_npoints(space) == (hssize_t)(field->type == NB6_FIELD_TEXT ? 1 : values);
    if (H5Sget_simple_extent_ndims(space) != (values > 1 ? 2 : 1)) return 0;
    H5Sget_simple_extent_dims(space, shape, NULL);
    return shape[0] == (hsize_t)rows && shape[1] == values;
}

/* Are all rows in the file as nbody6 writes them, uncompressed and contiguous? */
static int is_stored(hid_t dataset, hid_t type, hid_t space)
{
    const hssize_t values = H5Sget_simple_extent_npoints(space);
    return values >= 0 && H5Dget_storage_size(dataset) / H5Tget_size(type) >= (hsize_t)values;
}

static void check_field(struct nb6_hdf5 *file, hid_t object, const struct nb6_field_group *group,
                        const struct nb6_state_field *field, int64_t rows)
{
    const int attribute = rows == NB6_ATTRIBUTES;
    htri_t exists = attribute ? H5Aexists(object, field->name) : H5Lexists(object, field->name, H5P_DEFAULT);
    if (exists <= 0) {
        refuse_dataset(file, group->name, field->name, "is missing");
        return;
    }
    hid_t stored = attribute ? H5Aopen(object, field->name, H5P_DEFAULT) : H5Dopen2(object, field->name, H5P_DEFAULT);
    if (stored < 0) {
        refuse_dataset(file, group->name, field->name, "is not what it was");
        return;
    }
    hid_t type = attribute ? H5Aget_type(stored) : H5Dget_type(stored);
    hid_t space = attribute ? H5Aget_space(stored) : H5Dget_space(stored);
    if (!has_type(type, field))
        refuse_dataset(file, group->name, field->name, "has another type than in this program");
    else if (!has_length(space, field, rows))
        refuse_dataset(file, group->name, field->name, "has another number of values than in this program");
    else if (!attribute && !is_stored(stored, type, space))
        refuse_dataset(file, group->name, field->name, "is not wholly in the file");
    H5Tclose(type);
    H5Sclose(space);
    if (attribute)
        H5Aclose(stored);
    else
        H5Dclose(stored);
}

void nb6_checkpoint_check_stored(struct nb6_hdf5 *file, hid_t parent, const char *name, int64_t rows, size_t bytes)
{
    if (file->status) return;
    hid_t dataset = H5Dopen2(parent, name, H5P_DEFAULT);
    if (dataset < 0 || H5Dget_storage_size(dataset) / bytes < (hsize_t)rows)
        refuse_dataset(file, "", name, "is not wholly in the file");
    if (dataset >= 0) H5Dclose(dataset);
}

/* ---- no others ---- */

struct visit {
    struct nb6_hdf5 *file;
    const struct nb6_field_group *group;
};

static void check_name(struct nb6_hdf5 *file, const struct nb6_field_group *group, const char *name)
{
    for (size_t k = 0; k < group->count; k++)
        if (strcmp(group->field[k].name, name) == 0) return;
    refuse_dataset(file, group->name, name, "is unknown to this program");
}

static herr_t visit_attribute(hid_t object, const char *name, const H5A_info_t *info, void *context)
{
    const struct visit *visit = context;
    (void)object;
    (void)info;
    check_name(visit->file, visit->group, name);
    return visit->file->status ? 1 : 0;
}

/* Name of a member of a group.   @return 0 on failure, which stays in the file */
static int member_name(struct nb6_hdf5 *file, hid_t object, hsize_t k, char name[NAME_BYTES])
{
    ssize_t length = H5Lget_name_by_idx(object, ".", H5_INDEX_NAME, H5_ITER_INC, k, name, NAME_BYTES, H5P_DEFAULT);
    return nb6_hdf5_check(file, length < 0 ? -1 : 0, "read", "a name") >= 0;
}

static hsize_t count_members(struct nb6_hdf5 *file, hid_t object)
{
    H5G_info_t info = {0};
    nb6_hdf5_check(file, H5Gget_info(object, &info), "list", "a group");
    return file->status ? 0 : info.nlinks;
}

void nb6_checkpoint_check_fields(struct nb6_hdf5 *file, hid_t object, const struct nb6_field_group *group, int64_t rows)
{
    char name[NAME_BYTES];
    for (size_t k = 0; k < group->count && !file->status; k++) check_field(file, object, group, &group->field[k], rows);
    if (file->status) return;
    if (rows == NB6_ATTRIBUTES) {
        struct visit visit = {file, group};
        nb6_hdf5_check(file, H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, NULL, visit_attribute, &visit), "list",
                       group->name);
        return;
    }
    hsize_t members = count_members(file, object);
    for (hsize_t k = 0; k < members && !file->status && member_name(file, object, k, name); k++)
        check_name(file, group, name);
}

/* ---- groups ---- */

static int is_known(const char *name)
{
    static const char *const others[] = {"nbody6",
                                         "neighbours",
                                         "perturbers",
                                         "config_numbers",
                                         "properties",
                                         NB6_CHECKPOINT_TREE,
                                         NB6_CHECKPOINT_LAYOUT,
                                         NB6_CHECKPOINT_PLACES,
                                         "owners",
                                         "domains"};
    const struct nb6_field_group *const columns[] = {&nb6_body_fields,     &nb6_star_fields, &nb6_aged_fields,
                                                     &nb6_pair_fields,     &nb6_ks_fields,   &nb6_chain_fields,
                                                     &nb6_perturber_fields};
    const struct nb6_field_group *group;
    for (size_t k = 0; k < sizeof others / sizeof others[0]; k++)
        if (strcmp(name, others[k]) == 0) return 1;
    for (size_t k = 0; k < sizeof columns / sizeof columns[0]; k++)
        if (strcmp(name, columns[k]->name) == 0) return 1;
    for (int k = 0; (group = nb6_state_group(k)); k++)
        if (strcmp(name, group->name) == 0) return 1;
    return 0;
}

void nb6_checkpoint_check_groups(struct nb6_hdf5 *file)
{
    char name[NAME_BYTES];
    if (file->status) return;
    hsize_t members = count_members(file, file->file);
    for (hsize_t k = 0; k < members && !file->status && member_name(file, file->file, k, name); k++)
        if (!is_known(name)) refuse_dataset(file, "", name, "is unknown to this program");
}
