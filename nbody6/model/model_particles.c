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
#include "nbody6/model/particles_files.h"
#include "nbody6/model/particles_header.h"
#include "nbody6/model/pieces.h"
#include "nbody6/model/star_columns.h"
#include "nbody6/model/table_fields.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- their values ---- */

/* A column that is kept, or one of the model. */
struct target {
    double *to; /* NULL: of the model */
    const struct nb6_model *model;
    enum nb6_model_column column;
    int64_t before; /* stars in other files */
};

static int take_rows(void *context, int64_t first, int64_t count, void *buffer)
{
    const struct target *target = context;
    const int64_t at = target->before + first;
    if (target->to)
        memcpy(target->to + at, buffer, (size_t)count * sizeof *target->to);
    else
        nb6_model_put(target->model, target->column, at, count, buffer);
    return NBC_OK;
}

static void read_part(struct nb6_part *part, const char *name, hid_t type, int64_t columns, const struct target *to)
{
    struct target target = *to;
    target.before = part->first;
    if (part->n > 0) nb6_hdf5_read_dataset(&part->file, part->group, name, type, part->n, columns, take_rows, &target);
}

static void read_reals(const struct nb6_parts *s, const char *name, int64_t columns, const struct target *to)
{
    for (int k = 0; k < s->parts && !nb6_parts_status(s); k++)
        read_part(&s->part[k], name, H5T_NATIVE_DOUBLE, columns, to);
}

/* One mass for all. */
static void put_masses(const struct nb6_part *part, double mass, const struct nb6_model *model)
{
    enum { AT_ONCE = 1024 };
    double masses[AT_ONCE];
    for (int k = 0; k < AT_ONCE; k++) masses[k] = mass;
    for (int64_t first = 0; first < part->n; first += AT_ONCE) {
        const int64_t left = part->n - first;
        nb6_model_put(model, NB6_MODEL_MASS, part->first + first, left < AT_ONCE ? left : AT_ONCE, masses);
    }
}

/* Masses of the particles, or one for all in the header. */
static void read_masses(const struct nb6_parts *s, const struct nb6_model *model)
{
    for (int k = 0; k < s->parts && !nb6_parts_status(s); k++) {
        struct nb6_part *part = &s->part[k];
        double one = 0;
        if (part->n == 0) continue;
        if (nb6_hdf5_has(&part->file, part->group, "Masses") || s->type < 0)
            read_part(part, "Masses", H5T_NATIVE_DOUBLE, 1, &(struct target){NULL, model, NB6_MODEL_MASS, 0});
        else if (nb6_particles_header_value(&part->file, "MassTable", s->type, &one))
            put_masses(part, one, model);
        else
            nb6_hdf5_fail(&part->file, NBC_FILE, "it has neither Masses nor a MassTable in its header");
    }
}

static int read_names(const struct nb6_parts *s, struct nb6_model *model, struct nbc_error *err)
{
    struct nb6_part *some = nb6_parts_some(s);
    if (!nb6_hdf5_has(&some->file, some->group, "ParticleIDs")) return some->file.status;
    for (int k = 0; k < s->parts && !nb6_parts_status(s); k++)
        read_part(&s->part[k], "ParticleIDs", H5T_NATIVE_INT64, 1, &(struct target){NULL, model, NB6_MODEL_NAME, 0});
    const int status = nb6_parts_status(s);
    return status ? status : nb6_model_set_names(NULL, 0, some->file.path, model, err);
}

/* ---- columns that are kept with the stars ---- */

/* A vector of n numbers, which a run of ours has kept, or KEEP wants.   @param[out] unit  as the dataset has it, or ""
 */
static int is_kept(struct nb6_part *s, const struct nb6_keep *keep, const char *name, char unit[NB6_PROPERTY_UNIT])
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

static int keep_dataset(const struct nb6_parts *s, const char *name, const char *unit, struct nb6_model *model,
                        struct nbc_error *err)
{
    double *value;
    struct nb6_property column = {.name = ""};
    int status = model->properties ? NBC_OK : nb6_properties_create(s->n, model->name, &model->properties, err);
    snprintf(column.name, sizeof column.name, "%s", name);
    strcpy(column.unit, unit);
    if (!status) status = nb6_properties_add(model->properties, &column, &value, err);
    if (!status) read_reals(s, name, 1, &(struct target){value, NULL, NB6_MODEL_MASS, 0});
    return status ? status : nb6_parts_status(s);
}

/* Whether a dataset is kept, by a run of ours or by KEEP. */
static int keeps_some(const struct nb6_parts *s, const struct nb6_keep *keep)
{
    struct nb6_part *some = nb6_parts_some(s);
    H5G_info_t info = {0};
    char name[NB6_PROPERTY_NAME], unit[NB6_PROPERTY_UNIT];
    int found = keep->count > 0 || keep->all;
    nb6_hdf5_check(&some->file, H5Gget_info(some->group, &info), "list", "a group");
    for (hsize_t k = 0; k < info.nlinks && !found; k++) {
        const ssize_t length =
            H5Lget_name_by_idx(some->group, ".", H5_INDEX_NAME, H5_ITER_INC, k, name, sizeof name, H5P_DEFAULT);
        found = length > 0 && length < (ssize_t)sizeof name && is_kept(some, keep, name, unit);
    }
    return found;
}

/* All files of a snapshot have the same datasets. */
static int keep_datasets(const struct nb6_parts *s, const struct nb6_keep *keep, struct nb6_model *model,
                         struct nbc_error *err)
{
    struct nb6_part *some = nb6_parts_some(s);
    H5G_info_t info = {0};
    char name[NB6_PROPERTY_NAME], unit[NB6_PROPERTY_UNIT];
    int status = NBC_OK;
    nb6_hdf5_check(&some->file, H5Gget_info(some->group, &info), "list", "a group");
    for (hsize_t k = 0; k < info.nlinks && !status && !nb6_parts_status(s); k++) {
        const ssize_t length =
            H5Lget_name_by_idx(some->group, ".", H5_INDEX_NAME, H5_ITER_INC, k, name, sizeof name, H5P_DEFAULT);
        nb6_hdf5_check(&some->file, length < 0 ? -1 : 0, "read", "a name");
        if (length <= 0 || length >= (ssize_t)sizeof name || !is_kept(some, keep, name, unit)) continue;
        status = keep_dataset(s, name, unit, model, err);
    }
    if (!status) status = nb6_parts_status(s);
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
    for (struct nb6_piece p = nb6_pieces(model, NB6_MASSES | NB6_PLACES | NB6_VELOCITIES, 0); nb6_piece_next(&p);)
        for (int64_t i = 0; i < p.count; i++) {
            double largest = fabs(p.mass[i]) * scale[NB6_MASS], sum = p.mass[i];
            for (int d = 0; d < 3; d++) {
                largest = fmax(largest, fmax(fabs(p.x[i][d]) * scale[NB6_X], fabs(p.v[i][d]) * scale[NB6_VX]));
                sum += p.x[i][d] + p.v[i][d];
            }
            const char *what = !isfinite(sum)               ? "is not finite"
                               : largest > NB6_DATA_LARGEST ? "is larger than 1e15"
                               : p.mass[i] < 0              ? "is negative: its mass"
                                                            : NULL;
            if (what)
                return nbc_fail(err, NBC_BAD_INPUT, "%s: a value of star %lld %s", path, (long long)(p.first + i) + 1,
                                what);
        }
    return NBC_OK;
}

/* ---- all of it ---- */

static int read_source(const struct nb6_parts *s, const struct nb6_keep *keep, struct nb6_model *model,
                       struct nbc_error *err)
{
    if (model->store && model->store->n != s->n)
        return nbc_fail(err, NBC_BAD_INPUT, "%s: it has changed while it was read", s->part->file.path);
    int status = nb6_model_alloc(s->n, model, err);
    if (status) return status;
    read_masses(s, model);
    read_reals(s, "Coordinates", 3, &(struct target){NULL, model, NB6_MODEL_X, 0});
    read_reals(s, "Velocities", 3, &(struct target){NULL, model, NB6_MODEL_V, 0});
    status = nb6_parts_status(s);
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
static int read_layout(struct nb6_part *lead, struct nb6_parts *s, const struct reading *r)
{
    struct nb6_hdf5 *file = &lead->file;
    const struct nb6_keep *keep = &r->columns->keep;
    const int amuse = nb6_amuse_is_one(file), step = !amuse && nb6_step_is_one(file);
    if (file->status) return file->status;
    if ((amuse || step) && r->model->store)
        return nbc_fail(r->err, NBC_BAD_INPUT, "%s: it has changed while it was read", file->path);
    if ((amuse || step) && (keep->count || keep->all))
        return nbc_fail(r->err, NBC_BAD_INPUT, "%s: KEEP: of %s masses, places and velocities are read; remove KEEP",
                        file->path, amuse ? "files of AMUSE" : "snapshots of NBODY6++GPU");
    int status = amuse  ? nb6_amuse_read(file, r->columns, r->model, r->units, r->err)
                 : step ? nb6_step_read(file, r->columns, r->model, r->units, r->err)
                        : nb6_parts_open(lead, r->columns, s, r->err);
    if (!status && s->parts > 0) status = read_source(s, keep, r->model, r->err);
    if (!status) status = take_wanted(file->path, r->config->model.n, r->model, r->err);
    if (!status && s->parts > 0) status = nb6_particles_read_units(&s->part->file, r->model, r->units, r->err);
    return status;
}

static int read_files(const struct reading *r)
{
    struct nb6_part lead;
    struct nb6_parts s = {.parts = 0};
    int status = nb6_part_open(r->config->model.data_path, &lead, r->err);
    if (!status) status = read_layout(&lead, &s, r);
    if (!status) status = check_values(r->config, r->units, r->model, r->err);
    nb6_parts_close(&lead, &s);
    return status;
}

static void try_files(void *context)
{
    read_files(context);
}

/* A file that HDF5 cannot read is an error of the input. */
static int tell(int status, const struct nbc_error *why, struct nbc_error *err)
{
    const int shown = status == NBC_FILE ? NBC_BAD_INPUT : status;
    const char *advice = status == NBC_FILE ? "; the file is damaged, or it is no snapshot" : "";
    return status ? nbc_fail(err, shown, "%s%s", why->text, advice) : NBC_OK;
}

int nb6_particles_read(const struct nb6_config *config, const struct nb6_columns *columns, struct nb6_model *model,
                       struct nb6_data_units *units, struct nbc_error *err)
{
    const char *path = config->model.data_path;
    struct nbc_error why = {0};
    struct nb6_model made = {.store = model->store};
    struct reading reading = {config, columns, &made, units, &why};
    int status = nb6_hdf5_try(path, nb6_parts_bytes(path), try_files, &reading, &why);
    if (!status) status = read_files(&reading);
    if (status) {
        nb6_model_free(&made);
        return tell(status, &why, err);
    }
    *model = made;
    return NBC_OK;
}

/* ---- how many ---- */

/* A file that is asked how many stars it has that are read in pieces. */
struct count {
    const struct nb6_config *config;
    const struct nb6_columns *columns;
    int64_t n; /* 0: they are read at once */
    struct nbc_error *err;
};

static int count_stars(struct count *count)
{
    struct nb6_part lead;
    struct nb6_parts s = {.parts = 0};
    int status = nb6_part_open(count->config->model.data_path, &lead, count->err), others = 0;
    if (!status) others = nb6_amuse_is_one(&lead.file) || nb6_step_is_one(&lead.file);
    if (!status) status = lead.file.status;
    if (!status && !others) status = nb6_parts_open(&lead, count->columns, &s, count->err);
    if (!status && !others) {
        const int64_t wanted = count->config->model.n;
        const int is_all = (wanted <= 0 || wanted == s.n) && !keeps_some(&s, &count->columns->keep);
        count->n = is_all ? s.n : 0;
        status = nb6_parts_status(&s);
    }
    nb6_parts_close(&lead, &s);
    return status;
}

static void try_to_count(void *context)
{
    count_stars(context);
}

int nb6_particles_size(const struct nb6_config *config, const struct nb6_columns *columns, int64_t *n,
                       struct nbc_error *err)
{
    struct nbc_error why = {0};
    struct count count = {config, columns, 0, &why};
    int status = nb6_hdf5_try(config->model.data_path, 0, try_to_count, &count, &why);
    if (!status) status = count_stars(&count);
    if (!status) *n = count.n;
    return tell(status, &why, err);
}
