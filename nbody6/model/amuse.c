/* Stars from files of AMUSE (Portegies Zwart et al. 2013, CPC 184, 456). */
#include "common/nbc.h"
#include "nbody6/hdf5/hdf5_stored.h"
#include "nbody6/hdf5/hdf5_util.h"
#include "nbody6/model/foreign_hdf5.h"
#include "nbody6/model/model.h"
#include "nbody6/model/model_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UNIT_TEXT = 400, PATH = 3 * NB6_FOREIGN_NAME };

static const char INFO[] = "AMUSE_INF";

/* The last of the numbered sets in a group of the file.   @param[out] path  "data/0000000002"   @return 1; 0: it has
 * none of particles with attributes */
static int last_set(struct nb6_hdf5 *file, const char *name, char path[PATH])
{
    char number[NB6_FOREIGN_NAME];
    long last = 0;
    if (H5Oexists_by_name(file->file, name, H5P_DEFAULT) <= 0) return 0;
    const hid_t group = H5Gopen2(file->file, name, H5P_DEFAULT);
    for (int64_t k = 0; group >= 0 && nb6_foreign_name(file, group, k, number); k++) {
        const long at = strspn(number, "0123456789") == strlen(number) ? strtol(number, NULL, 10) : 0;
        if (at <= last) continue;
        last = at;
        snprintf(path, PATH, "%s/%s", name, number);
    }
    nb6_hdf5_close_object(group);
    if (last == 0 || file->status) return 0;
    const hid_t set = H5Gopen2(file->file, path, H5P_DEFAULT);
    const int is_one = set >= 0 && nb6_hdf5_has(file, set, "keys") && nb6_hdf5_has(file, set, "attributes");
    nb6_hdf5_close_object(set);
    return is_one;
}

int nb6_amuse_is_one(struct nb6_hdf5 *file)
{
    char path[PATH];
    if (nb6_hdf5_has(file, file->file, INFO)) return 1;
    return !file->status && nb6_hdf5_has(file, file->file, "particles") && last_set(file, "particles", path);
}

/* The set that COLUMNS names, or the only one. */
static int choose_set(struct nb6_hdf5 *file, const struct nb6_columns *columns, char path[PATH], struct nbc_error *err)
{
    char name[NB6_FOREIGN_NAME], found[NB6_FOREIGN_NAME] = "", all[200] = "", candidate[PATH];
    int sets = 0;
    for (int64_t k = 0; nb6_foreign_name(file, file->file, k, name); k++) {
        if (strcmp(name, INFO) == 0 || !last_set(file, name, candidate)) continue;
        if (columns->count == 1 && strcmp(columns->name[0], name) != 0) continue;
        sets++;
        strcpy(path, candidate);
        strcpy(found, name);
        const size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s", used ? ", " : "", name);
    }
    if (file->status) return file->status;
    if (columns->count > 1)
        return nbc_fail(err, NBC_BAD_INPUT,
                        "%s: a file of AMUSE has no columns that COLUMNS could name; give it the name of a set, or "
                        "remove it",
                        file->path);
    if (sets == 1) return NBC_OK;
    if (sets == 0)
        return nbc_fail(err, NBC_BAD_INPUT, "%s: a file of AMUSE without a set of particles%s%s", file->path,
                        columns->count ? " of the name " : "", columns->count ? columns->name[0] : "");
    return nbc_fail(err, NBC_BAD_INPUT,
                    "%s: a file of AMUSE with the sets %s: say which are the stars, for instance "
                    "with COLUMNS='%s' in &INMODEL",
                    file->path, all, found);
}

/* The text of an attribute, of fixed or variable length, as h5py writes both. */
static int read_text(struct nb6_hdf5 *file, hid_t object, const char *name, char text[UNIT_TEXT])
{
    text[0] = '\0';
    if (!nb6_hdf5_has_attribute(file, object, name)) return 0;
    const hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    const hid_t type = attribute >= 0 ? H5Aget_type(attribute) : H5I_INVALID_HID;
    if (type >= 0 && H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) > 0) {
        char *value = NULL;
        const hid_t memory = H5Tcopy(type);
        if (H5Aread(attribute, memory, &value) >= 0 && value) snprintf(text, UNIT_TEXT, "%s", value);
        if (value) H5free_memory(value);
        H5Tclose(memory);
    } else if (type >= 0 && H5Tget_class(type) == H5T_STRING && H5Tget_size(type) < UNIT_TEXT) {
        if (H5Aread(attribute, type, text) >= 0) text[H5Tget_size(type)] = '\0';
    }
    if (type >= 0) H5Tclose(type);
    if (attribute >= 0) H5Aclose(attribute);
    return text[0] != '\0';
}

static void read_unit(struct nb6_hdf5 *file, hid_t attributes, enum nb6_quantity quantity, struct nb6_data_units *units)
{
    char text[UNIT_TEXT];
    const char *name = nb6_quantity_names[quantity];
    const hid_t dataset = file->status ? H5I_INVALID_HID : H5Dopen2(attributes, name, H5P_DEFAULT);
    units->unit[quantity] = (struct nb6_unit){NB6_UNIT_NONE, 1};
    if (dataset >= 0 && read_text(file, dataset, "units", text) && strcmp(text, "none") != 0) {
        units->unit[quantity] = nb6_amuse_unit(quantity, text);
        if (units->unit[quantity].kind == NB6_UNIT_UNKNOWN) snprintf(units->unknown, sizeof units->unknown, "%s", name);
    }
    if (dataset >= 0) H5Dclose(dataset);
}

static int check_attributes(struct nb6_hdf5 *file, hid_t attributes, const char *path, struct nbc_error *err)
{
    for (int k = 0; k < NB6_ID && !file->status; k++)
        if (!nb6_hdf5_has(file, attributes, nb6_quantity_names[k]) && !file->status)
            return nbc_fail(err, NBC_BAD_INPUT,
                            "%s: the particles in %s, of AMUSE, have no attribute %s; mass, x, y, z, vx, vy and vz are "
                            "needed",
                            file->path, path, nb6_quantity_names[k]);
    return file->status;
}

static void note_unread(struct nb6_hdf5 *file, hid_t attributes, struct nb6_data_facts *facts)
{
    char name[NB6_FOREIGN_NAME];
    for (int64_t k = 0; nb6_foreign_name(file, attributes, k, name); k++) {
        int is_read = 0;
        for (int q = 0; q < NB6_ID; q++) is_read |= strcmp(name, nb6_quantity_names[q]) == 0;
        if (!is_read) nb6_foreign_unread(facts, name);
    }
}

static int read_set(struct nb6_hdf5 *file, const char *path, hid_t set, struct nb6_model *model,
                    struct nb6_data_units *units, struct nbc_error *err)
{
    const int64_t n = nb6_hdf5_rows_of(file, set, "keys");
    const hid_t attributes = nb6_hdf5_open_group(file, set, "attributes");
    int status = file->status ? file->status : check_attributes(file, attributes, path, err);
    if (!status && n < 1) status = nbc_fail(err, NBC_BAD_INPUT, "%s: there are no particles in %s", file->path, path);
    if (!status) status = nb6_model_alloc(n, model, err);
    if (!status) {
        nb6_foreign_column(file, attributes, nb6_quantity_names[NB6_MASS], n, 1, model->mass);
        for (int d = 0; d < 3; d++) {
            nb6_foreign_column(file, attributes, nb6_quantity_names[NB6_X + d], n, 3, &model->x[0][d]);
            nb6_foreign_column(file, attributes, nb6_quantity_names[NB6_VX + d], n, 3, &model->v[0][d]);
        }
        for (int k = 0; k < NB6_ID; k++) read_unit(file, attributes, (enum nb6_quantity)k, units);
        note_unread(file, attributes, &model->data);
        snprintf(model->data.format, sizeof model->data.format, "file of AMUSE");
        status = file->status;
    }
    nb6_hdf5_close_object(attributes);
    return status;
}

int nb6_amuse_read(struct nb6_hdf5 *file, const struct nb6_columns *columns, struct nb6_model *model,
                   struct nb6_data_units *units, struct nbc_error *err)
{
    char path[PATH];
    int status = choose_set(file, columns, path, err);
    if (status) return status;
    const hid_t set = nb6_hdf5_open_group(file, file->file, path);
    status = file->status ? file->status : read_set(file, path, set, model, units, err);
    nb6_hdf5_close_object(set);
    return status;
}
