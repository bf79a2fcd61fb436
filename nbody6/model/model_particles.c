/* Stars from HDF5 files in the GADGET layout: snapshots of nbody6 in N-body units, others by the units they state. */
#include "common/nbc.h"
#include "nbody6/hdf5/hdf5_stored.h"
#include "nbody6/hdf5/hdf5_trial.h"
#include "nbody6/hdf5/hdf5_util.h"
#include "nbody6/input/config.h"
#include "nbody6/input/properties.h"
#include "nbody6/input/words/columns.h"
#include "nbody6/input/words/unit_names.h"
#include "nbody6/model/foreign_hdf5.h"
#include "nbody6/model/model.h"
#include "nbody6/model/model_parts.h"
#include "nbody6/model/particles_header.h"
#include "nbody6/model/star_columns.h"
#include "nbody6/model/table_fields.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PARTICLE_TYPES = 6, FIRST_USER_BLOCK = 512, MOST_FILES = 500 };

/* One file of a snapshot: its stars, and how many come before them. */
struct part {
    struct nb6_hdf5 file;
    hid_t group;
    int64_t first, n;
};

/* Where the reader is: all files of the snapshot are open, most often one. */
struct source {
    struct part *part;
    int parts;
    char name[NB6_COLUMN_NAME_MAX]; /* of the group of the stars */
    int type;                       /* K of PartTypeK; -1: another group, named by COLUMNS */
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

/* The group that COLUMNS names, or the only one that has particles. */
static int choose_group(struct nb6_hdf5 *file, const struct nb6_columns *columns, struct source *s,
                        struct nbc_error *err)
{
    const char *path = file->path;
    char *name = s->name, others[80] = "";
    s->type = -1;
    if (columns->count > 1)
        return nbc_fail(err, NBC_BAD_INPUT,
                        "%s: a HDF5 file has no columns that COLUMNS could name; give it the group of "
                        "the stars, such as COLUMNS='PartType4', or remove it",
                        path);
    for (int k = 0; k < PARTICLE_TYPES; k++) {
        char group[24];
        snprintf(group, sizeof group, "PartType%d", k);
        if (columns->count == 1 ? strcmp(columns->name[0], group) != 0 : places_in(file, group) == 0) continue;
        if (name[0]) snprintf(others + strlen(others), sizeof others - strlen(others), " and %s", group);
        if (!name[0]) strcpy(name, group);
        s->type = k;
    }
    if (columns->count == 1) strcpy(name, columns->name[0]);
    if (file->status) return file->status;
    if (others[0])
        return nbc_fail(err, NBC_BAD_INPUT,
                        "%s: %s%s have particles; say which are the stars, for instance with "
                        "COLUMNS='%s' in &INMODEL",
                        path, name, others, name);
    if (name[0] && places_in(file, name) > 0) return NBC_OK;
    if (file->status) return file->status;
    return nbc_fail(err, NBC_BAD_INPUT,
                    "%s: no stars in the GADGET layout%s%s: a group /PartType0 to /PartType5 with Coordinates [N][3], "
                    "Velocities and Masses is needed; a checkpoint of nbody6 is continued by `nbody6 --resume`",
                    path, name[0] ? " in group " : "", name);
}

/* ---- in which files ---- */

/* The stars of an open file. Rows that are not stored ask for no memory. */
static int find_stars(const struct source *s, struct part *part, struct nb6_particles_count *count,
                      struct nbc_error *err)
{
    struct nb6_hdf5 *file = &part->file;
    *count = (struct nb6_particles_count){1, -1};
    part->n = places_in(file, s->name);
    if (part->n > 0) {
        part->group = nb6_hdf5_open_group(file, file->file, s->name);
        const hid_t dataset = file->status ? H5I_INVALID_HID : H5Dopen2(part->group, "Coordinates", H5P_DEFAULT);
        nb6_hdf5_check_stored(file, nb6_hdf5_check(file, dataset, "open dataset", "Coordinates"), "Coordinates");
        if (dataset >= 0) H5Dclose(dataset);
    }
    return file->status || s->type < 0 ? file->status : nb6_particles_count(file, s->type, part->n, count, err);
}

static int open_part(const char *path, struct part *part, struct nbc_error *err)
{
    *part = (struct part){.group = -1};
    return nb6_hdf5_open(&part->file, path, err);
}

static void close_part(struct part *part)
{
    nb6_hdf5_close_object(part->group);
    nb6_hdf5_close(&part->file);
}

/* "X.K.hdf5" is one of X.0.hdf5, X.1.hdf5, ...   @return 1; 0: the name has no such number */
static int name_of_part(const char *path, int k, char name[NB6_HDF5_PATH])
{
    const char *folder = strrchr(path, '/'), *base = folder ? folder + 1 : path, *end = strrchr(base, '.');
    const char *digits = end;
    while (digits && digits > base && digits[-1] >= '0' && digits[-1] <= '9') digits--;
    if (!end || digits == end || digits == base || digits[-1] != '.') return 0;
    const int width = *digits == '0' ? (int)(end - digits) : 1;
    const int length = snprintf(name, NB6_HDF5_PATH, "%.*s%0*d%s", (int)(digits - path), path, width, k, end);
    return length > 0 && length < NB6_HDF5_PATH;
}

/* The message of a file that is not all of its snapshot. */
static int refuse_part(const struct source *s, const struct part *part, const struct nb6_particles_count *count,
                       const char *why, struct nbc_error *err)
{
    char total[40] = "";
    if (count->total >= 0) snprintf(total, sizeof total, " of %lld", (long long)count->total);
    return nbc_fail(err, NBC_BAD_INPUT, "%s: one of %d files of a snapshot, with %lld%s particles of %s: %s",
                    part->file.path, count->files, (long long)part->n, total, s->name, why);
}

static int open_all(const struct part *lead, const struct nb6_particles_count *all, struct source *s,
                    struct nbc_error *err)
{
    char name[NB6_HDF5_PATH], why[NB6_HDF5_PATH + 80];
    struct nb6_particles_count count;
    for (int k = 0; k < all->files; k++) {
        struct part *part = &s->part[k];
        name_of_part(lead->file.path, k, name);
        if (access(name, F_OK)) {
            snprintf(why, sizeof why, "%s is missing beside it", name);
            return refuse_part(s, lead, all, why, err);
        }
        s->parts = k + 1;
        int status = open_part(name, part, err);
        if (!status) status = find_stars(s, part, &count, err);
        if (status) return status;
        if (count.files != all->files || count.total != all->total || part->n > INT32_MAX - s->n) {
            snprintf(why, sizeof why, "%s belongs to another one", name);
            return refuse_part(s, lead, all, why, err);
        }
        part->first = s->n;
        s->n += part->n;
    }
    if (all->total < 0 || s->n == all->total) return NBC_OK;
    snprintf(why, sizeof why, "there are %lld in all of them", (long long)s->n);
    return refuse_part(s, lead, all, why, err);
}

/* The file that is named, or all files of its snapshot.   @param[in,out] lead  that file, open */
static int open_snapshot(struct part *lead, const struct nb6_columns *columns, struct source *s, struct nbc_error *err)
{
    char name[NB6_HDF5_PATH];
    struct nb6_particles_count all;
    int status = choose_group(&lead->file, columns, s, err);
    if (!status) status = find_stars(s, lead, &all, err);
    if (status) return status;
    if (all.total < 0 ? all.files == 1 : all.total == lead->n) {
        s->part = lead;
        s->parts = 1;
        s->n = lead->n;
        return NBC_OK;
    }
    if (all.files == 1) return refuse_part(s, lead, &all, "its header does not know of others", err);
    if (!name_of_part(lead->file.path, 0, name))
        return refuse_part(s, lead, &all, "call them NAME.0.hdf5, NAME.1.hdf5, ..., side by side; all are read then",
                           err);
    if (all.files > MOST_FILES) return refuse_part(s, lead, &all, "join them into at most 500", err);
    s->part = nbc_alloc((size_t)all.files, sizeof *s->part);
    if (!s->part) return nbc_fail(err, NBC_NO_MEMORY, "%s: no memory for %d files", lead->file.path, all.files);
    return open_all(lead, &all, s, err);
}

/* The last one first: each gives back how HDF5 reported errors before it. */
static void close_snapshot(struct part *lead, struct source *s)
{
    for (int k = s->parts; k-- > 0;)
        if (&s->part[k] != lead) close_part(&s->part[k]);
    if (s->part != lead) nbc_free(s->part);
    close_part(lead);
}

static int status_of(const struct source *s)
{
    for (int k = 0; k < s->parts; k++)
        if (s->part[k].file.status) return s->part[k].file.status;
    return NBC_OK;
}

/* A file that has stars. */
static struct part *some_part(const struct source *s)
{
    struct part *part = s->part;
    while (part->n == 0) part++;
    return part;
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

static void read_part(struct part *part, const char *name, hid_t type, int64_t columns, void *to)
{
    const size_t row_bytes = (size_t)columns * H5Tget_size(type);
    struct target target = {(char *)to + (size_t)part->first * row_bytes, row_bytes};
    if (part->n > 0) nb6_hdf5_read_dataset(&part->file, part->group, name, type, part->n, columns, take_rows, &target);
}

static void read_reals(const struct source *s, const char *name, int64_t columns, void *to)
{
    for (int k = 0; k < s->parts && !status_of(s); k++) read_part(&s->part[k], name, H5T_NATIVE_DOUBLE, columns, to);
}

/* Masses of the particles, or one for all in the header. */
static void read_masses(const struct source *s, double *mass)
{
    for (int k = 0; k < s->parts && !status_of(s); k++) {
        struct part *part = &s->part[k];
        double one = 0;
        if (part->n == 0) continue;
        if (nb6_hdf5_has(&part->file, part->group, "Masses") || s->type < 0)
            read_part(part, "Masses", H5T_NATIVE_DOUBLE, 1, mass);
        else if (nb6_particles_header_value(&part->file, "MassTable", s->type, &one))
            for (int64_t i = 0; i < part->n; i++) mass[part->first + i] = one;
        else
            nb6_hdf5_fail(&part->file, NBC_FILE, "it has neither Masses nor a MassTable in its header");
    }
}

static int read_names(const struct source *s, struct nb6_model *model, struct nbc_error *err)
{
    struct part *some = some_part(s);
    if (!nb6_hdf5_has(&some->file, some->group, "ParticleIDs")) return some->file.status;
    int64_t *name = nbc_alloc((size_t)s->n, sizeof *name);
    if (!name) return nbc_fail(err, NBC_NO_MEMORY, "%s: no memory for the names of the stars", some->file.path);
    for (int k = 0; k < s->parts && !status_of(s); k++)
        read_part(&s->part[k], "ParticleIDs", H5T_NATIVE_INT64, 1, name);
    int status = status_of(s);
    if (!status) status = nb6_model_set_names(name, 0, some->file.path, model, err);
    nbc_free(name);
    return status;
}

/* ---- columns that are kept with the stars ---- */

/* A vector of n numbers, which a run of ours has kept, or KEEP wants.   @param[out] unit  as the dataset has it, or ""
 */
static int is_kept(struct part *s, const struct nb6_keep *keep, const char *name, char unit[NB6_PROPERTY_UNIT])
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

static int keep_dataset(const struct source *s, const char *name, const char *unit, struct nb6_model *model,
                        struct nbc_error *err)
{
    double *value;
    struct nb6_property column = {.name = ""};
    int status = model->properties ? NBC_OK : nb6_properties_create(s->n, model->name, &model->properties, err);
    snprintf(column.name, sizeof column.name, "%s", name);
    strcpy(column.unit, unit);
    if (!status) status = nb6_properties_add(model->properties, &column, &value, err);
    if (!status) read_reals(s, name, 1, value);
    return status ? status : status_of(s);
}

/* All files of a snapshot have the same datasets. */
static int keep_datasets(const struct source *s, const struct nb6_keep *keep, struct nb6_model *model,
                         struct nbc_error *err)
{
    struct part *some = some_part(s);
    H5G_info_t info = {0};
    char name[NB6_PROPERTY_NAME], unit[NB6_PROPERTY_UNIT];
    int status = NBC_OK;
    nb6_hdf5_check(&some->file, H5Gget_info(some->group, &info), "list", "a group");
    for (hsize_t k = 0; k < info.nlinks && !status && !status_of(s); k++) {
        const ssize_t length =
            H5Lget_name_by_idx(some->group, ".", H5_INDEX_NAME, H5_ITER_INC, k, name, sizeof name, H5P_DEFAULT);
        nb6_hdf5_check(&some->file, length < 0 ? -1 : 0, "read", "a name");
        if (length <= 0 || length >= (ssize_t)sizeof name || !is_kept(some, keep, name, unit)) continue;
        status = keep_dataset(s, name, unit, model, err);
    }
    if (!status) status = status_of(s);
    for (int k = 0; k < keep->count && !status; k++) {
        int found = 0;
        for (int c = 0; model->properties && c < model->properties->count; c++)
            found |= strcasecmp(model->properties->column[c].name, keep->name[k]) == 0;
        if (!found)
            status = nbc_fail(err, NBC_BAD_INPUT, "%s: KEEP: there is no dataset %s of a number for each star",
                              some->file.path, keep->name[k]);
    }
    return status;
}

/* @param[in] units  of the file, which limit the values where they are stated */
static int check_values(const struct nb6_config *config, const struct nb6_data_units *units,
                        const struct nb6_model *model, struct nbc_error *err)
{
    const char *path = config->model.data_path;
    double scale[NB6_ID];
    for (int k = 0; k < NB6_ID; k++)
        scale[k] = units->unit[k].kind == NB6_UNIT_PHYSICAL ? units->unit[k].factor
                                                            : nb6_data_scale(config, (enum nb6_quantity)k);
    for (int64_t i = 0; i < model->n; i++) {
        double largest = fabs(model->mass[i]) * scale[NB6_MASS], sum = model->mass[i];
        for (int d = 0; d < 3; d++) {
            largest = fmax(largest, fmax(fabs(model->x[i][d]) * scale[NB6_X], fabs(model->v[i][d]) * scale[NB6_VX]));
            sum += model->x[i][d] + model->v[i][d];
        }
        const char *what = !isfinite(sum)               ? "is not finite"
                           : largest > NB6_DATA_LARGEST ? "is larger than 1e15"
                           : model->mass[i] < 0         ? "is negative: its mass"
                                                        : NULL;
        if (what) return nbc_fail(err, NBC_BAD_INPUT, "%s: a value of star %lld %s", path, (long long)i + 1, what);
    }
    return NBC_OK;
}

/* ---- all of it ---- */

static int read_source(const struct source *s, const struct nb6_keep *keep, struct nb6_model *model,
                       struct nbc_error *err)
{
    int status = nb6_model_alloc(s->n, model, err);
    if (status) return status;
    read_masses(s, model->mass);
    read_reals(s, "Coordinates", 3, model->x);
    read_reals(s, "Velocities", 3, model->v);
    status = status_of(s);
    if (!status) status = read_names(s, model, err);
    return status ? status : keep_datasets(s, keep, model, err);
}

/* The first n_wanted stars; 0: all. */
static int take_wanted(const char *path, int64_t n_wanted, struct nb6_model *model, struct nbc_error *err)
{
    if (n_wanted <= 0) return NBC_OK;
    if (model->n < n_wanted)
        return nbc_fail(err, NBC_BAD_INPUT, "%s: %lld stars, but N = %lld: set N = %lld", path, (long long)model->n,
                        (long long)n_wanted, (long long)model->n);
    model->data.rows_unused = model->n - n_wanted;
    model->n = n_wanted;
    return NBC_OK;
}

/* A file to be read. */
struct reading {
    const struct nb6_config *config;
    const struct nb6_columns *columns;
    struct nb6_model *model;
    struct nb6_data_units *units;
    struct nbc_error *err;
};

/* By its layout: of AMUSE, of NBODY6++GPU, or of GADGET.   @param[in,out] lead  the file, open */
static int read_layout(struct part *lead, struct source *s, const struct reading *r)
{
    struct nb6_hdf5 *file = &lead->file;
    const struct nb6_keep *keep = &r->columns->keep;
    const int amuse = nb6_amuse_is_one(file), step = !amuse && nb6_step_is_one(file);
    if (file->status) return file->status;
    if ((amuse || step) && (keep->count || keep->all))
        return nbc_fail(r->err, NBC_BAD_INPUT, "%s: KEEP: of %s masses, places and velocities are read; remove KEEP",
                        file->path, amuse ? "files of AMUSE" : "snapshots of NBODY6++GPU");
    int status = amuse  ? nb6_amuse_read(file, r->columns, r->model, r->units, r->err)
                 : step ? nb6_step_read(file, r->columns, r->model, r->units, r->err)
                        : open_snapshot(lead, r->columns, s, r->err);
    if (!status && s->parts > 0) status = read_source(s, keep, r->model, r->err);
    if (!status) status = take_wanted(file->path, r->config->model.n, r->model, r->err);
    if (!status && s->parts > 0) status = nb6_particles_read_units(&s->part->file, r->model, r->units, r->err);
    return status;
}

static int read_files(const struct reading *r)
{
    struct part lead;
    struct source s = {.parts = 0};
    int status = open_part(r->config->model.data_path, &lead, r->err);
    if (!status) status = read_layout(&lead, &s, r);
    if (!status) status = check_values(r->config, r->units, r->model, r->err);
    close_snapshot(&lead, &s);
    return status;
}

static void try_files(void *context)
{
    read_files(context);
}

/* Of the file, or of all existing files of its snapshot. */
static int64_t bytes_of_files(const char *path)
{
    char name[NB6_HDF5_PATH];
    struct stat status;
    int64_t bytes = 0;
    for (int k = 0; k < MOST_FILES && name_of_part(path, k, name) && stat(name, &status) == 0; k++)
        bytes += status.st_size;
    return bytes == 0 && stat(path, &status) == 0 ? status.st_size : bytes;
}

int nb6_particles_read(const struct nb6_config *config, const struct nb6_columns *columns, struct nb6_model *model,
                       struct nb6_data_units *units, struct nbc_error *err)
{
    const char *path = config->model.data_path;
    struct nbc_error why = {0};
    struct nb6_model made = {.n = 0};
    struct reading reading = {config, columns, &made, units, &why};
    int status = nb6_hdf5_try(path, bytes_of_files(path), try_files, &reading, &why);
    if (!status) status = read_files(&reading);
    if (status) {
        nb6_model_free(&made);
        /* a file that HDF5 cannot read is an error of the input */
        const int shown = status == NBC_FILE ? NBC_BAD_INPUT : status;
        const char *advice = status == NBC_FILE ? "; the file is damaged, or it is no snapshot" : "";
        return nbc_fail(err, shown, "%s%s", why.text, advice);
    }
    *model = made;
    return NBC_OK;
}
