/* Stars from HDF5 files in the GADGET layout: snapshots of nbody6 in N-body units, others by the units they state. */
#include "common/nbc.h"
#include "nbody6/hdf5/hdf5_util.h"
#include "nbody6/input/config.h"
#include "nbody6/input/data_columns.h"
#include "nbody6/input/properties.h"
#include "nbody6/input/unit_names.h"
#include "nbody6/input/units.h"
#include "nbody6/model/model.h"
#include "nbody6/model/model_parts.h"
#include "nbody6/model/star_columns.h"
#include "nbody6/model/table_row.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { PARTICLE_TYPES = 6 };

/* Where the reader is: the open file, the group of the stars, how many it has. */
struct source {
    struct nb6_hdf5 file;
    hid_t group;
    int type; /* K of PartTypeK; -1: another group, named by COLUMNS */
    int64_t n;
};

int nb6_particles_is_hdf5(const char *path)
{
    H5E_auto2_t report;
    void *data;
    H5Eget_auto2(H5E_DEFAULT, &report, &data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    const int found = H5Fis_hdf5(path) > 0;
    H5Eset_auto2(H5E_DEFAULT, report, data);
    return found;
}

static int has(hid_t group, const char *name)
{
    return H5Lexists(group, name, H5P_DEFAULT) > 0;
}

/* ---- which stars ---- */

/* Rows of a dataset [n][3]; 0: it is not there, or has another shape. */
static int64_t places_in(hid_t parent, const char *group)
{
    char name[NB6_COLUMN_NAME_MAX + 16];
    hsize_t shape[2] = {0, 0};
    snprintf(name, sizeof name, "%s/Coordinates", group);
    if (!has(parent, group) || !has(parent, name)) return 0;
    const hid_t dataset = H5Dopen2(parent, name, H5P_DEFAULT);
    if (dataset < 0) return 0;
    const hid_t space = H5Dget_space(dataset);
    if (H5Sget_simple_extent_ndims(space) == 2) H5Sget_simple_extent_dims(space, shape, NULL);
    H5Sclose(space);
    H5Dclose(dataset);
    return shape[1] == 3 && shape[0] <= INT32_MAX ? (int64_t)shape[0] : 0;
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
        if (columns->count == 1 ? strcmp(columns->name[0], group) != 0 : places_in(s->file.file, group) == 0) continue;
        if (name[0]) snprintf(others + strlen(others), sizeof others - strlen(others), " and %s", group);
        if (!name[0]) strcpy(name, group);
        s->type = k;
    }
    if (columns->count == 1) strcpy(name, columns->name[0]);
    if (others[0])
        return nbc_fail(err, NBC_BAD_INPUT,
                        "%s: %s%s have particles; say which are the stars, for instance with "
                        "COLUMNS='%s' in &INMODEL",
                        path, name, others, name);
    s->n = name[0] ? places_in(s->file.file, name) : 0;
    if (s->n == 0)
        return nbc_fail(
            err, NBC_BAD_INPUT,
            "%s: no stars in the GADGET layout%s%s: a group /PartType0 to /PartType5 with Coordinates [N][3], "
            "Velocities and Masses is needed; a checkpoint of nbody6 is continued by `nbody6 --resume`",
            path, name[0] ? " in group " : "", name);
    s->group = nb6_hdf5_open_group(&s->file, s->file.file, name);
    return s->file.status;
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
    double table[PARTICLE_TYPES];
    if (has(s->group, "Masses") || s->type < 0) {
        read_reals(s, "Masses", 1, mass);
        return;
    }
    const hid_t header = nb6_hdf5_open_group(&s->file, s->file.file, "Header");
    nb6_hdf5_get(&s->file, header, "MassTable", H5T_NATIVE_DOUBLE, PARTICLE_TYPES, table);
    nb6_hdf5_close_object(header);
    for (int64_t i = 0; i < s->n && !s->file.status; i++) mass[i] = table[s->type];
}

static int read_names(struct source *s, struct nb6_model *model, struct nbc_error *err)
{
    if (!has(s->group, "ParticleIDs")) return NBC_OK;
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
    const hid_t dataset = H5Dopen2(s->group, name, H5P_DEFAULT);
    if (dataset < 0) return 0;
    const hid_t space = H5Dget_space(dataset), type = H5Dget_type(dataset);
    const H5T_class_t class = H5Tget_class(type);
    if (H5Sget_simple_extent_ndims(space) == 1) H5Sget_simple_extent_dims(space, &rows, NULL);
    const int numbers = (class == H5T_FLOAT || class == H5T_INTEGER) && (int64_t)rows == s->n;
    const int ours = H5Aexists(dataset, "kept") > 0;
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
    H5Gget_info(s->group, &info);
    for (hsize_t k = 0; k < info.nlinks && !status; k++) {
        const ssize_t length =
            H5Lget_name_by_idx(s->group, ".", H5_INDEX_NAME, H5_ITER_INC, k, name, sizeof name, H5P_DEFAULT);
        if (length <= 0 || length >= (ssize_t)sizeof name || !is_kept(s, keep, name, unit)) continue;
        status = keep_dataset(s, name, unit, model, err);
    }
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

/* ---- units ---- */

/* An attribute of a group, if both are there. */
static int get(struct source *s, const char *group, const char *name, double *value)
{
    if (!has(s->file.file, group)) return 0;
    const hid_t object = nb6_hdf5_open_group(&s->file, s->file.file, group);
    const int found = object >= 0 && H5Aexists(object, name) > 0;
    if (found) nb6_hdf5_get(&s->file, object, name, H5T_NATIVE_DOUBLE, 0, value);
    nb6_hdf5_close_object(object);
    return found && !s->file.status;
}

/* Length in cm, mass in g, velocity in cm/s, as GADGET or SWIFT write them.   @return 1: they are there */
static int find_cgs(struct source *s, double cgs[3])
{
    static const char *const groups[] = {"Units", "Header", "Parameters"};
    double time;
    for (int k = 0; k < 3; k++)
        if (get(s, groups[k], "UnitLength_in_cm", &cgs[0]) && get(s, groups[k], "UnitMass_in_g", &cgs[1]) &&
            get(s, groups[k], "UnitVelocity_in_cm_per_s", &cgs[2]))
            return 1;
    if (!get(s, "Units", "Unit length in cgs (U_L)", &cgs[0]) || !get(s, "Units", "Unit mass in cgs (U_M)", &cgs[1]) ||
        !get(s, "Units", "Unit time in cgs (U_t)", &time))
        return 0;
    cgs[2] = cgs[0] / time;
    return 1;
}

static void set_units(struct nb6_data_units *units, enum nb6_unit_kind kind, double mass, double length,
                      double velocity)
{
    for (int k = 0; k < NB6_ID; k++)
        units->unit[k] = (struct nb6_unit){kind, k == NB6_MASS ? mass : k < NB6_VX ? length : velocity};
}

/* N-body units with RBAR and ZMBAR, which make the same units of as many stars as there are now. */
static void read_own_units(struct source *s, struct nb6_model *model, struct nb6_data_units *units)
{
    double rbar = 0, zmbar = 0, mass = 0;
    set_units(units, NB6_UNIT_NBODY, 1, 1, 1);
    if (!get(s, "nbody6", "rbar_pc", &rbar) || !get(s, "nbody6", "zmbar_msun", &zmbar) ||
        !get(s, "nbody6", "mass_msun", &mass) || !(rbar > 0 && zmbar > 0 && mass > 0))
        return;
    model->data.rbar_pc = rbar;
    model->data.zmbar_msun = zmbar * (double)model->n == mass ? zmbar : mass / (double)model->n;
    snprintf(model->data.format, sizeof model->data.format, "snapshot of nbody6");
}

static int read_units(struct source *s, struct nb6_model *model, struct nb6_data_units *units, struct nbc_error *err)
{
    double cgs[3], redshift = 0, hubble = 1, omega = 0;
    get(s, "Header", "Time", &model->data.t);
    snprintf(model->data.format, sizeof model->data.format, "HDF5 in the GADGET layout");
    if (has(s->file.file, "nbody6")) {
        read_own_units(s, model, units);
        return s->file.status;
    }
    get(s, "Header", "Redshift", &redshift);
    get(s, "Header", "HubbleParam", &hubble);
    get(s, "Header", "Omega0", &omega);
    if (redshift > 0 || (omega > 0 && hubble > 0 && hubble != 1))
        return nbc_fail(err, NBC_BAD_INPUT,
                        "%s: a cosmological snapshot (redshift %g, h = %g), whose lengths are "
                        "comoving; give physical ones",
                        s->file.path, redshift, hubble);
    if (!find_cgs(s, cgs)) return s->file.status;
    if (!(cgs[0] > 0 && cgs[1] > 0 && cgs[2] > 0) || !isfinite(cgs[0]) || !isfinite(cgs[1]) || !isfinite(cgs[2]))
        return nbc_fail(err, NBC_BAD_INPUT, "%s: the units that it states are not positive", s->file.path);
    set_units(units, NB6_UNIT_PHYSICAL, cgs[1] / NB6_MSUN_G, cgs[0] / NB6_PC_CM, cgs[2] * 1e-5);
    return s->file.status;
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
    if (!status) status = read_units(s, model, units, err);
    return status;
}

int nb6_particles_read(const struct nb6_model_config *config, const struct nb6_columns *columns,
                       struct nb6_model *model, struct nb6_data_units *units, struct nbc_error *err)
{
    struct nbc_error why = {0};
    struct nb6_model made = {.n = 0};
    struct source s = {.group = -1};
    int status = nb6_hdf5_open(&s.file, config->data_path, &why);
    if (!status) status = choose_group(&s, columns, &why);
    if (!status) status = read_source(&s, config->n, &columns->keep, &made, units, &why);
    nb6_hdf5_close_object(s.group);
    nb6_hdf5_close(&s.file);
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
