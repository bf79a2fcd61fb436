/* Stars from HDF5 files in the GADGET layout: snapshots of nbody6 in N-body units, others by the units they state. */
#include "common/nbc.h"
#include "nbody6/hdf5/hdf5_stored.h"
#include "nbody6/hdf5/hdf5_trial.h"
#include "nbody6/hdf5/hdf5_util.h"
#include "nbody6/input/config.h"
#include "nbody6/input/data_columns.h"
#include "nbody6/input/properties.h"
#include "nbody6/input/unit_names.h"
#include "nbody6/model/model.h"
#include "nbody6/model/model_parts.h"
#include "nbody6/model/particles_header.h"
#include "nbody6/model/star_columns.h"
#include "nbody6/model/table_row.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PARTICLE_TYPES = 6, FIRST_USER_BLOCK = 512 };

/* Where the reader is: the open file, the group of the stars, how many it has. */
struct source {
    struct nb6_hdf5 file;
    hid_t group;
    int type; /* K of PartTypeK; -1: another group, named by COLUMNS */
    int64_t n;
};

/* The signature stands at the beginning, or after a user block of 512, 1024, ... bytes. */
int nb6_particles_is_hdf5(const char *path)
{
    static const char signature[] = "\211HDF\r\n\032\n";
    char found[sizeof signature - 1];
    struct stat status;
    int is_one = 0;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe is not waited for */
    if (fd < 0) return 0;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
        for (off_t at = 0; at < status.st_size && !is_one; at = at ? 2 * at : FIRST_USER_BLOCK)
            is_one = pread(fd, found, sizeof found, at) == (ssize_t)sizeof found &&
                     memcmp(found, signature, sizeof found) == 0;
    close(fd);
    return is_one;
}

/* ---- which stars ---- */

/* Rows of a dataset [n][3]; 0: it is not there, or has another shape. */
static int64_t places_in(struct nb6_hdf5 *file, const char *group)
{
    hsize_t shape[2] = {0, 0};
    if (!nb6_hdf5_has(file, file->file, group)) return 0;
    const hid_t object = H5Gopen2(file->file, group, H5P_DEFAULT);
    const int there = object >= 0 && nb6_hdf5_has(file, object, "Coordinates");
    const hid_t dataset = there ? H5Dopen2(object, "Coordinates", H5P_DEFAULT) : H5I_INVALID_HID;
    if (dataset >= 0) {
        const hid_t space = H5Dget_space(dataset);
        if (H5Sget_simple_extent_ndims(space) == 2) H5Sget_simple_extent_dims(space, shape, NULL);
        H5Sclose(space);
        H5Dclose(dataset);
    }
    nb6_hdf5_close_object(object);
    return shape[1] == 3 && shape[0] <= INT32_MAX ? (int64_t)shape[0] : 0;
}

/* Rows that are not stored ask for no memory. */
static int check_rows(struct source *s, struct nbc_error *err)
{
    const hid_t dataset = H5Dopen2(s->group, "Coordinates", H5P_DEFAULT);
    nb6_hdf5_check_stored(&s->file, nb6_hdf5_check(&s->file, dataset, "open dataset", "Coordinates"), "Coordinates");
    if (dataset >= 0) H5Dclose(dataset);
    return s->file.status || s->type < 0 ? s->file.status : nb6_particles_check_count(&s->file, s->type, s->n, err);
}

/* The group that COLUMNS names, or the only one that has particles. */
static int choose_group(struct source *s, const struct nb6_columns *columns, struct nbc_error *err)
{
    const char *path = s->file.path;
    char name[NB6_COLUMN_NAME_MAX] = "", others[80] = "";
    s->type = -1;
    if (columns->count > 1)
        return nbc_fail(err, NBC_BAD_INPUT,
                        "%s: a HDF5 file has no columns that COLUMNS could name; give it the group of "
                        "the stars, such as COLUMNS='PartType4', or remove it",
                        path);
    for (int k = 0; k < PARTICLE_TYPES; k++) {
        char group[24];
        snprintf(group, sizeof group, "PartType%d", k);
        if (columns->count == 1 ? strcmp(columns->name[0], group) != 0 : places_in(&s->file, group) == 0) continue;
        if (name[0]) snprintf(others + strlen(others), sizeof others - strlen(others), " and %s", group);
        if (!name[0]) strcpy(name, group);
        s->type = k;
    }
    if (columns->count == 1) strcpy(name, columns->name[0]);
    if (s->file.status) return s->file.status;
    if (others[0])
        return nbc_fail(err, NBC_BAD_INPUT,
                        "%s: %s%s have particles; say which are the stars, for instance with "
                        "COLUMNS='%s' in &INMODEL",
                        path, name, others, name);
    s->n = name[0] ? places_in(&s->file, name) : 0;
    if (s->file.status) return s->file.status;
    if (s->n == 0)
        return nbc_fail(
            err, NBC_BAD_INPUT,
            "%s: no stars in the GADGET layout%s%s: a group /PartType0 to /PartType5 with Coordinates [N][3], "
            "Velocities and Masses is needed; a checkpoint of nbody6 is continued by `nbody6 --resume`",
            path, name[0] ? " in group " : "", name);
    s->group = nb6_hdf5_open_group(&s->file, s->file.file, name);
    return s->file.status ? s->file.status : check_rows(s, err);
}

/* ---- their values ---- */

struct target {
    char *to;
    size_t row_bytes;
};

static int take_rows(void *context, int64_t first, int64_t count, void *buffer)
{
    const struct target *target = context;
    memcpy(target->to + (size_t)first * target->row_bytes, buffer, (size_t)count * target->row_bytes);
    return NBC_OK;
}

static void read_reals(struct source *s, const char *name, int64_t columns, void *to)
{
    struct target target = {to, (size_t)columns * sizeof(double)};
    nb6_hdf5_read_dataset(&s->file, s->group, name, H5T_NATIVE_DOUBLE, s->n, columns, take_rows, &target);
}

/* Masses of the particles, or one for all in the header. */
static void read_masses(struct source *s, double *mass)
{
    double one = 0;
    if (nb6_hdf5_has(&s->file, s->group, "Masses") || s->type < 0)
        read_reals(s, "Masses", 1, mass);
    else if (nb6_particles_header_value(&s->file, "MassTable", s->type, &one))
        for (int64_t i = 0; i < s->n; i++) mass[i] = one;
    else
        nb6_hdf5_fail(&s->file, NBC_FILE, "it has neither Masses nor a MassTable in its header");
}

static int read_names(struct source *s, struct nb6_model *model, struct nbc_error *err)
{
    if (!nb6_hdf5_has(&s->file, s->group, "ParticleIDs")) return s->file.status;
    int64_t *name = nbc_alloc((size_t)s->n, sizeof *name);
    if (!name) return nbc_fail(err, NBC_NO_MEMORY, "%s: no memory for the names of the stars", s->file.path);
    struct target target = {(char *)name, sizeof *name};
    nb6_hdf5_read_dataset(&s->file, s->group, "ParticleIDs", H5T_NATIVE_INT64, s->n, 1, take_rows, &target);
    int status = s->file.status;
    if (!status) status = nb6_model_set_names(name, 0, s->file.path, model, err);
    nbc_free(name);
    return status;
}

/* ---- what is kept with the stars ---- */

/* A vector of n numbers, which a run of ours has kept, or KEEP wants.   @param[out] unit  as the dataset has it, or ""
 */
static int is_kept(struct source *s, const struct nb6_keep *keep, const char *name, char unit[NB6_PROPERTY_UNIT])
{
    hsize_t rows = 0;
    unit[0] = '\0';
    const hid_t dataset = nb6_hdf5_has(&s->file, s->group, name) ? H5Dopen2(s->group, name, H5P_DEFAULT) : -1;
    if (dataset < 0) return 0;
    const hid_t space = H5Dget_space(dataset), type = H5Dget_type(dataset);
    if (H5Sget_simple_extent_ndims(space) == 1) H5Sget_simple_extent_dims(space, &rows, NULL);
    const int numbers = nb6_hdf5_is_number(type) && (int64_t)rows == s->n;
    const int ours = nb6_hdf5_has_attribute(&s->file, dataset, "kept");
    if (numbers && ours) nb6_hdf5_get_text(&s->file, dataset, "unit", NB6_PROPERTY_UNIT, unit);
    H5Tclose(type);
    H5Sclose(space);
    H5Dclose(dataset);
    return numbers && !nb6_property_is_reserved(name) &&
           (keep->all || nb6_keep_names(keep, name, strlen(name)) >= 0 || (keep->unasked && ours));
}

static int keep_dataset(struct source *s, const char *name, const char *unit, struct nb6_model *model,
                        struct nbc_error *err)
{
    double *value;
    struct nb6_property column = {.name = ""};
    int status = model->properties ? NBC_OK : nb6_properties_create(s->n, model->name, &model->properties, err);
    snprintf(column.name, sizeof column.name, "%s", name);
    strcpy(column.unit, unit);
    if (!status) status = nb6_properties_add(model->properties, &column, &value, err);
    if (!status) read_reals(s, name, 1, value);
    return status ? status : s->file.status;
}

static int keep_datasets(struct source *s, const struct nb6_keep *keep, struct nb6_model *model, struct nbc_error *err)
{
    H5G_info_t info = {0};
    char name[NB6_PROPERTY_NAME], unit[NB6_PROPERTY_UNIT];
    int status = NBC_OK;
    nb6_hdf5_check(&s->file, H5Gget_info(s->group, &info), "list", "a group");
    for (hsize_t k = 0; k < info.nlinks && !status && !s->file.status; k++) {
        const ssize_t length =
            H5Lget_name_by_idx(s->group, ".", H5_INDEX_NAME, H5_ITER_INC, k, name, sizeof name, H5P_DEFAULT);
        nb6_hdf5_check(&s->file, length < 0 ? -1 : 0, "read", "a name");
        if (length <= 0 || length >= (ssize_t)sizeof name || !is_kept(s, keep, name, unit)) continue;
        status = keep_dataset(s, name, unit, model, err);
    }
    if (!status) status = s->file.status;
    for (int k = 0; k < keep->count && !status; k++) {
        int found = 0;
        for (int c = 0; model->properties && c < model->properties->count; c++)
            found |= strcasecmp(model->properties->column[c].name, keep->name[k]) == 0;
        if (!found)
            status = nbc_fail(err, NBC_BAD_INPUT, "%s: KEEP: there is no dataset %s of a number for each star",
                              s->file.path, keep->name[k]);
    }
    return status;
}

static int check_values(const struct source *s, const struct nb6_model *model, struct nbc_error *err)
{
    for (int64_t i = 0; i < model->n; i++) {
        double largest = fabs(model->mass[i]), sum = model->mass[i];
        for (int d = 0; d < 3; d++) {
            largest = fmax(largest, fmax(fabs(model->x[i][d]), fabs(model->v[i][d])));
            sum += model->x[i][d] + model->v[i][d];
        }
        const char *what = !isfinite(sum)               ? "is not finite"
                           : largest > NB6_DATA_LARGEST ? "is larger than 1e15"
                           : model->mass[i] < 0         ? "is negative: its mass"
                                                        : NULL;
        if (what)
            return nbc_fail(err, NBC_BAD_INPUT, "%s: a value of star %lld %s", s->file.path, (long long)i + 1, what);
    }
    return NBC_OK;
}

/* ---- the file ---- */

static int read_source(struct source *s, int64_t n_wanted, const struct nb6_keep *keep, struct nb6_model *model,
                       struct nb6_data_units *units, struct nbc_error *err)
{
    if (s->n < n_wanted)
        return nbc_fail(err, NBC_BAD_INPUT, "%s: %lld stars, but N = %lld: set N = %lld", s->file.path, (long long)s->n,
                        (long long)n_wanted, (long long)s->n);
    int status = nb6_model_alloc(s->n, model, err);
    if (status) return status;
    read_masses(s, model->mass);
    read_reals(s, "Coordinates", 3, model->x);
    read_reals(s, "Velocities", 3, model->v);
    status = s->file.status;
    if (!status) status = read_names(s, model, err);
    if (!status) status = keep_datasets(s, keep, model, err);
    if (n_wanted > 0) {
        model->data.rows_unused = s->n - n_wanted;
        model->n = n_wanted;
    }
    if (!status) status = check_values(s, model, err);
    if (!status) status = nb6_particles_read_units(&s->file, model, units, err);
    return status;
}

/* What is to be read. */
struct reading {
    const struct nb6_model_config *config;
    const struct nb6_columns *columns;
    struct nb6_model *model;
    struct nb6_data_units *units;
    struct nbc_error *err;
};

static int read_file(const struct reading *r)
{
    struct source s = {.group = -1};
    int status = nb6_hdf5_open(&s.file, r->config->data_path, r->err);
    if (!status) status = choose_group(&s, r->columns, r->err);
    if (!status) status = read_source(&s, r->config->n, &r->columns->keep, r->model, r->units, r->err);
    nb6_hdf5_close_object(s.group);
    nb6_hdf5_close(&s.file);
    return status;
}

static void try_file(void *context)
{
    read_file(context);
}

int nb6_particles_read(const struct nb6_model_config *config, const struct nb6_columns *columns,
                       struct nb6_model *model, struct nb6_data_units *units, struct nbc_error *err)
{
    struct nbc_error why = {0};
    struct nb6_model made = {.n = 0};
    struct reading reading = {config, columns, &made, units, &why};
    int status = nb6_hdf5_try(config->data_path, try_file, &reading, &why);
    if (!status) status = read_file(&reading);
    if (status) {
        nb6_model_free(&made);
        /* what HDF5 cannot read is another file than was meant */
        const int shown = status == NBC_FILE ? NBC_BAD_INPUT : status;
        const char *advice = status == NBC_FILE ? "; the file is damaged, or it is no snapshot" : "";
        return nbc_fail(err, shown, "%s%s", why.text, advice);
    }
    *model = made;
    return NBC_OK;
}
