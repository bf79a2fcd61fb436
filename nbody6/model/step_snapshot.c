/* Stars from the HDF5 snapshots of NBODY6++GPU, snap.40_T.h5part. */
#include "common/nbc.h"
#include "nbody6/hdf5/hdf5_stored.h"
#include "nbody6/hdf5/hdf5_util.h"
#include "nbody6/model/foreign_hdf5.h"
#include "nbody6/model/model.h"
#include "nbody6/model/model_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char STEP[] = "Step#", MASS[] = "023 M", NAME[] = "032 Name";
static const char *const PLACE[3] = {"001 X1", "002 X2", "003 X3"}, *const VELOCITY[3] = {"004 V1", "005 V2", "006 V3"};
/* Stars that have left the cluster are missing, none comes; a cluster of 1.1 Msun is none. */
static const double MOST_NBODY_MASS = 1.1;

static int64_t rows_of(struct nb6_hdf5 *file, hid_t group, const char *name)
{
    return nb6_hdf5_has(file, group, name) ? nb6_hdf5_rows_of(file, group, name) : 0;
}

static hid_t open_step(struct nb6_hdf5 *file, const char *name)
{
    return file->status ? H5I_INVALID_HID : H5Gopen2(file->file, name, H5P_DEFAULT);
}

int nb6_step_is_one(struct nb6_hdf5 *file)
{
    char name[NB6_FOREIGN_NAME];
    for (int64_t k = 0; nb6_foreign_name(file, file->file, k, name); k++)
        if (strncmp(name, STEP, strlen(STEP)) == 0) return 1;
    return 0;
}

/* ---- which step ---- */

static int choose_step(struct nb6_hdf5 *file, const struct nb6_columns *columns, char chosen[NB6_FOREIGN_NAME],
                       struct nbc_error *err)
{
    char name[NB6_FOREIGN_NAME];
    int64_t most = 0;
    long last = -1;
    for (int64_t k = 0; nb6_foreign_name(file, file->file, k, name); k++) {
        if (strncmp(name, STEP, strlen(STEP)) != 0) continue;
        if (columns->count == 1 && strcmp(columns->name[0], name) != 0) continue;
        const long number = strtol(name + strlen(STEP), NULL, 10); /* Step#10 stands before Step#9 */
        const hid_t group = open_step(file, name);
        const int64_t n = group >= 0 ? rows_of(file, group, MASS) : 0;
        nb6_hdf5_close_object(group);
        if (n < most || (n == most && number < last) || n == 0) continue;
        most = n;
        last = number;
        strcpy(chosen, name);
    }
    if (file->status) return file->status;
    if (columns->count > 1)
        return nbc_fail(err, NBC_BAD_INPUT,
                        "%s: a snapshot of NBODY6++GPU has no columns that COLUMNS could name; give it the name of a "
                        "step, such as COLUMNS='%s0', or remove it",
                        file->path, STEP);
    if (most > 0) return NBC_OK;
    return nbc_fail(err, NBC_BAD_INPUT, "%s: a snapshot of NBODY6++GPU without stars%s%s (dataset \"%s\")", file->path,
                    columns->count ? " in " : "", columns->count ? columns->name[0] : "", MASS);
}

static int check_datasets(struct nb6_hdf5 *file, hid_t group, const char *step, struct nbc_error *err)
{
    for (int k = 0; k < 7; k++) {
        const char *name = k < 3 ? PLACE[k] : k < 6 ? VELOCITY[k - 3] : NAME;
        if (!nb6_hdf5_has(file, group, name) && !file->status)
            return nbc_fail(err, NBC_BAD_INPUT, "%s: %s has no dataset \"%s\"", file->path, step, name);
    }
    return file->status;
}

/* ---- names of stars ---- */

/* Stars by their names. */
struct named {
    double name;
    int64_t star;
};

static int by_name(const void *a, const void *b)
{
    const struct named *p = a, *q = b;
    if (p->name != q->name) return p->name < q->name ? -1 : 1;
    return (p->star > q->star) - (p->star < q->star);
}

struct index {
    int64_t n;
    struct named *star;
};

static int64_t find(const struct index *index, double name)
{
    int64_t low = 0, high = index->n;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (index->star[middle].name < name)
            low = middle + 1;
        else
            high = middle;
    }
    return low < index->n && index->star[low].name == name ? index->star[low].star : -1;
}

static int make_index(struct nb6_hdf5 *file, hid_t group, int64_t n, struct index *index, struct nbc_error *err)
{
    double *name = nbc_alloc((size_t)n, sizeof *name);
    index->n = n;
    index->star = nbc_alloc((size_t)n, sizeof *index->star);
    if (!name || !index->star) {
        nbc_free(name);
        return nbc_fail(err, NBC_NO_MEMORY, "%s: no memory for the names of the stars", file->path);
    }
    nb6_foreign_column(file, group, NAME, n, 1, name);
    for (int64_t i = 0; i < n; i++) index->star[i] = (struct named){name[i], i};
    qsort(index->star, (size_t)n, sizeof *index->star, by_name);
    nbc_free(name);
    return file->status;
}

/* ---- binaries ---- */

static int refuse_members(struct nb6_hdf5 *file, const char *dataset, double name, struct nbc_error *err)
{
    return nbc_fail(
        err, NBC_BAD_INPUT,
        "%s: star %.0f of \"%s\" is not among the stars (\"%s\"): versions of NBODY6++GPU before 2021 write "
        "binaries and hierarchies apart, in units of their own, which is not read; write all stars as a "
        "table m x y z vx vy vz",
        file->path, name, dataset, NAME);
}

/* Stars of binaries and hierarchies, "161 Bin Name1", have to be among the stars. */
static int check_members(struct nb6_hdf5 *file, hid_t group, const struct index *index, struct nbc_error *err)
{
    char dataset[NB6_FOREIGN_NAME];
    int status = NBC_OK;
    for (int64_t k = 0; !status && nb6_foreign_name(file, group, k, dataset); k++) {
        const size_t length = strlen(dataset);
        if (length < 5 || (dataset[0] != '1' && dataset[0] != '2') || strncmp(dataset + length - 5, "Name", 4) != 0)
            continue; /* "163 Bin cm Name" ends with no number */
        const int64_t n = rows_of(file, group, dataset);
        double *name = n > 0 ? nbc_alloc((size_t)n, sizeof *name) : NULL;
        if (n > 0 && !name) return nbc_fail(err, NBC_NO_MEMORY, "%s: no memory for its binaries", file->path);
        nb6_foreign_column(file, group, dataset, n, 1, name);
        for (int64_t i = 0; i < n && !status && !file->status; i++)
            if (find(index, name[i]) < 0) status = refuse_members(file, dataset, name[i], err);
        nbc_free(name);
    }
    return status ? status : file->status;
}

/* Columns of the binaries. */
enum { NAME_1, NAME_2, CENTRE, CENTRE_V = CENTRE + 3, REL = CENTRE_V + 3, REL_V = REL + 3, COLUMNS = REL_V + 3 };
static const char *const BINARY[COLUMNS] = {"161 Bin Name1",  "162 Bin Name2",  "101 Bin cm X1",  "102 Bin cm X2",
                                            "103 Bin cm X3",  "104 Bin cm V1",  "105 Bin cm V2",  "106 Bin cm V3",
                                            "125 Bin rel X1", "126 Bin rel X2", "127 Bin rel X3", "128 Bin rel V1",
                                            "129 Bin rel V2", "130 Bin rel V3"};

/* Relative places in units and with the sign of the places of the stars: their sum over all binaries says so, as the
 * stars of wide ones have not lost their digits. Other units are left alone. */
static double sign_of(const struct nb6_model *model, const struct index *index, int64_t n, const double (*row)[COLUMNS],
                      int of)
{
    double product = 0, square = 0;
    for (int64_t b = 0; b < n; b++) {
        const int64_t i = find(index, row[b][NAME_1]), j = find(index, row[b][NAME_2]);
        for (int d = 0; d < 3; d++) {
            const double(*x)[3] = (const double(*)[3])(of == REL ? model->x : model->v);
            product += (x[i][d] - x[j][d]) * row[b][of + d];
            square += row[b][of + d] * row[b][of + d];
        }
    }
    const double ratio = square > 0 ? product / square : 0;
    return fabs(ratio) > 0.8 && fabs(ratio) < 1.25 ? copysign(1, ratio) : 0;
}

static void place_members(const struct index *index, int64_t n, const double (*row)[COLUMNS], struct nb6_model *model)
{
    const double sign = sign_of(model, index, n, row, REL), sign_v = sign_of(model, index, n, row, REL_V);
    if (sign == 0 || sign_v == 0) return;
    for (int64_t b = 0; b < n; b++) {
        const int64_t i = find(index, row[b][NAME_1]), j = find(index, row[b][NAME_2]);
        const double mass = model->mass[i] + model->mass[j];
        if (!(mass > 0)) continue;
        for (int d = 0; d < 3; d++) {
            model->x[i][d] = row[b][CENTRE + d] + sign * row[b][REL + d] * (model->mass[j] / mass);
            model->x[j][d] = row[b][CENTRE + d] - sign * row[b][REL + d] * (model->mass[i] / mass);
            model->v[i][d] = row[b][CENTRE_V + d] + sign_v * row[b][REL_V + d] * (model->mass[j] / mass);
            model->v[j][d] = row[b][CENTRE_V + d] - sign_v * row[b][REL_V + d] * (model->mass[i] / mass);
        }
    }
}

static int read_binaries(struct nb6_hdf5 *file, hid_t group, const struct index *index, struct nb6_model *model,
                         struct nbc_error *err)
{
    int status = check_members(file, group, index, err), complete = 1;
    const int64_t n = status ? 0 : rows_of(file, group, BINARY[NAME_1]);
    for (int k = 0; k < COLUMNS && n > 0; k++) complete &= nb6_hdf5_has(file, group, BINARY[k]);
    if (status || n <= 0 || !complete) return status ? status : file->status;
    double(*row)[COLUMNS] = nbc_alloc((size_t)n, sizeof *row);
    if (!row) return nbc_fail(err, NBC_NO_MEMORY, "%s: no memory for %lld binaries", file->path, (long long)n);
    for (int k = 0; k < COLUMNS; k++) nb6_foreign_column(file, group, BINARY[k], n, COLUMNS, &row[0][k]);
    if (!file->status) place_members(index, n, (const double(*)[COLUMNS])row, model);
    nbc_free(row);
    return file->status;
}

/* ---- centres of mass ---- */

static void remove_star(struct nb6_model *model, int64_t *kept, int64_t i, int stays)
{
    if (!stays) return;
    model->mass[*kept] = model->mass[i];
    memmove(model->x[*kept], model->x[i], sizeof model->x[i]);
    memmove(model->v[*kept], model->v[i], sizeof model->v[i]);
    model->name[*kept] = model->name[i];
    ++*kept;
}

/* Versions of 2021 write them behind the stars; the names of stars and centres differ. */
static int drop_centres(struct nb6_hdf5 *file, hid_t group, const struct index *index, struct nb6_model *model,
                        struct nbc_error *err)
{
    static const char dataset[] = "163 Bin cm Name";
    const int64_t n = rows_of(file, group, dataset);
    int64_t kept = 0;
    if (n <= 0 || file->status) return file->status;
    double *name = nbc_alloc((size_t)n, sizeof *name);
    char *is_centre = nbc_alloc((size_t)model->n, 1);
    if (name && is_centre) {
        nb6_foreign_column(file, group, dataset, n, 1, name);
        for (int64_t k = 0; k < n && !file->status; k++) {
            const int64_t i = find(index, name[k]);
            if (i >= 0) is_centre[i] = 1;
        }
        for (int64_t i = 0; i < model->n; i++) remove_star(model, &kept, i, !is_centre[i]);
        model->n = kept;
    }
    const int ok = name && is_centre;
    nbc_free(name);
    nbc_free(is_centre);
    return ok ? file->status : nbc_fail(err, NBC_NO_MEMORY, "%s: no memory for its binaries", file->path);
}

/* ---- all of it ---- */

static void set_units(const struct nb6_model *model, struct nb6_data_units *units)
{
    double mass = 0;
    for (int64_t i = 0; i < model->n; i++) mass += model->mass[i];
    for (int k = 0; k < NB6_ID; k++)
        units->unit[k] = (struct nb6_unit){mass <= MOST_NBODY_MASS ? NB6_UNIT_NBODY : NB6_UNIT_PHYSICAL, 1};
}

static void note_step(struct nb6_hdf5 *file, hid_t group, const char *step, struct nb6_data_facts *facts)
{
    float time = 0;
    if (nb6_hdf5_has_attribute(file, group, "Time")) nb6_hdf5_get(file, group, "Time", H5T_NATIVE_FLOAT, 0, &time);
    facts->t = (double)time;
    snprintf(facts->format, sizeof facts->format, "snapshot of NBODY6++GPU, %.16s", step);
    nb6_foreign_unread(facts, "forces, steps, stellar parameters");
}

static int read_stars(struct nb6_hdf5 *file, hid_t group, struct index *index, struct nb6_model *model,
                      struct nbc_error *err)
{
    const int64_t n = model->n;
    nb6_foreign_column(file, group, MASS, n, 1, model->mass);
    for (int d = 0; d < 3; d++) {
        nb6_foreign_column(file, group, PLACE[d], n, 3, &model->x[0][d]);
        nb6_foreign_column(file, group, VELOCITY[d], n, 3, &model->v[0][d]);
    }
    int status = file->status ? file->status : make_index(file, group, n, index, err);
    if (status) return status;
    int64_t *name = nbc_alloc((size_t)n, sizeof *name);
    if (!name) return nbc_fail(err, NBC_NO_MEMORY, "%s: no memory for the names of the stars", file->path);
    for (int64_t k = 0; k < n; k++)
        name[index->star[k].star] = fabs(index->star[k].name) < 1e15 ? (int64_t)index->star[k].name : 0;
    status = nb6_model_set_names(name, 0, file->path, model, err);
    nbc_free(name);
    if (!status) status = read_binaries(file, group, index, model, err);
    return status ? status : drop_centres(file, group, index, model, err);
}

int nb6_step_read(struct nb6_hdf5 *file, const struct nb6_columns *columns, struct nb6_model *model,
                  struct nb6_data_units *units, struct nbc_error *err)
{
    char step[NB6_FOREIGN_NAME] = "";
    struct index index = {0, NULL};
    int status = choose_step(file, columns, step, err);
    if (status) return status;
    const hid_t group = nb6_hdf5_open_group(file, file->file, step);
    if (!file->status) status = check_datasets(file, group, step, err);
    const int64_t n = status || file->status ? 0 : rows_of(file, group, MASS);
    if (!status && !file->status) status = nb6_model_alloc(n, model, err);
    if (!status && !file->status) status = read_stars(file, group, &index, model, err);
    if (!status && !file->status) {
        note_step(file, group, step, &model->data);
        set_units(model, units);
    }
    nbc_free(index.star);
    nb6_hdf5_close_object(group);
    return status ? status : file->status;
}
