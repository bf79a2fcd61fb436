#include "nbody6/output/snapshot.h"

#include "common/nbc.h"
#include "nbody6/analysis/frame.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/hdf5/hdf5_util.h"
#include "nbody6/input/properties.h"
#include "nbody6/input/units.h"
#include "nbody6/run/nbody6.h"

#include <math.h>
#include <string.h>

/* Units of a GADGET file are given in cgs; the solar mass of units.h makes G = 1 in the units of the file as well. */
static const double KMS_CMS = 1e5;

enum { PARTICLE_TYPES = 6, STARS = 4 };

/* A dataset of /PartType4 and its dimensions as powers of the units of length, mass, velocity and time. */
struct quantity {
    const char *name, *unit, *description;
    const char
        *gadget; /* dimensions as GADGET-3 writes them, which readers take them from; the blank at the end counts */
    int length, mass, velocity, time;
};

static const struct quantity coordinates = {
    "Coordinates", "length", "position in the frame of the run", "U_L ", 1, 0, 0, 0};

static const struct quantity velocities = {
    "Velocities", "velocity", "velocity in the frame of the run", "U_V ", 0, 0, 1, 0};

static const struct quantity masses = {"Masses", "mass", "mass of the star", "U_M ", 0, 1, 0, 0};
static const struct quantity names = {"ParticleIDs", "1", "permanent name of the star, from 1", " ", 0, 0, 0, 0};

static const struct quantity potential = {"Potential",
                                          "velocity^2",
                                          "potential per unit mass due to the other stars, without the galaxy",
                                          "U_V^2 ",
                                          0,
                                          0,
                                          2,
                                          0};

static const struct quantity acceleration = {
    "Acceleration", "velocity/time", "total acceleration, with the field of the galaxy", "U_V/U_T ", 0, 0, 1, -1};

static const struct quantity jerk = {
    "Jerk", "velocity/time^2", "time derivative of the acceleration", "U_V/U_T^2 ", 0, 0, 1, -2};

static const struct quantity radius = {
    "NeighbourRadius", "length", "radius of the neighbour sphere", "U_L ", 1, 0, 0, 0};

static const struct quantity neighbours = {"NeighbourNumber", "1", "stars in the neighbour list", " ", 0, 0, 0, 0};

static const struct quantity dt_irr = {
    "TimeStepIrregular", "time", "step of the irregular force, a power of two", "U_T ", 0, 0, 0, 1};

static const struct quantity dt_reg = {
    "TimeStepRegular", "time", "step of the regular force, a power of two", "U_T ", 0, 0, 0, 1};

/* Regularized pairs, group /Pairs: two names and masses a row; the first star seen from the second. */
static const struct {
    struct quantity quantity;
    size_t offset;
    int columns, integer;
} pair_columns[] = {
#define PAIR(member) offsetof(struct nb6_frame_pair, member)
    {{"ParticleIDs", "1", "names of both stars", " ", 0, 0, 0, 0}, PAIR(star), 2, 1},
    {{"Masses", "mass", "masses of both stars", "U_M ", 0, 1, 0, 0}, PAIR(mass), 2, 0},
    {{"Coordinates", "length", "position of the centre of mass", "U_L ", 1, 0, 0, 0}, PAIR(x), 3, 0},
    {{"Velocities", "velocity", "velocity of the centre of mass", "U_V ", 0, 0, 1, 0}, PAIR(v), 3, 0},
    {{"RelativeCoordinates", "length", "first star seen from the second", "U_L ", 1, 0, 0, 0}, PAIR(dx), 3, 0},
    {{"RelativeVelocities", "velocity", "first star seen from the second", "U_V ", 0, 0, 1, 0}, PAIR(dv), 3, 0},
    {{"SemiMajorAxis", "length", "semi-major axis, negative if unbound", "U_L ", 1, 0, 0, 0}, PAIR(a), 1, 0},
    {{"Eccentricity", "1", "eccentricity", " ", 0, 0, 0, 0}, PAIR(e), 1, 0},
    {{"Period", "time", "period, infinite if unbound", "U_T ", 0, 0, 0, 1}, PAIR(period), 1, 0},
    {{"BindingEnergy", "mass velocity^2", "energy of the relative motion, negative if bound", "U_M U_V^2 ", 0, 1, 2, 0},
     PAIR(binding),
     1,
     0},
    {{"Perturbation", "1", "force of others on the relative motion in units of the mutual one", " ", 0, 0, 0, 0},
     PAIR(gamma),
     1,
     0},
    {{"SlowDown", "1", "slow-down factor", " ", 0, 0, 0, 0}, PAIR(kappa), 1, 0},
    {{"FormationTime", "time", "when the pair was regularized", "U_T ", 0, 0, 0, 1}, PAIR(t_formed), 1, 0},
#undef PAIR
};

struct cgs {
    double length, mass, velocity, time;
};

static struct cgs units_in_cgs(const struct nb6_units *units)
{
    struct cgs cgs = {units->length_pc * NB6_PC_CM, units->mass_msun * NB6_MSUN_G, units->velocity_kms * KMS_CMS, 0};
    cgs.time = cgs.length / cgs.velocity;
    return cgs;
}

/* ---- header ---- */

static void write_header(struct nb6_hdf5 *file, const struct nb6_frame *frame, const struct nb6_units *units)
{
    static const char *const zero_flags[] = {"Flag_Sfr",    "Flag_Cooling",  "Flag_StellarAge",
                                             "Flag_Metals", "Flag_Feedback", "Flag_Entropy_ICs"};
    uint32_t low[PARTICLE_TYPES] = {0}, high[PARTICLE_TYPES] = {0};
    const double mass_table[PARTICLE_TYPES] = {0};
    low[STARS] = (uint32_t)frame->n;
    high[STARS] = (uint32_t)((uint64_t)frame->n >> 32);
    hid_t header = nb6_hdf5_make_group(file, file->file, "Header");
    nb6_hdf5_put(file, header, "NumPart_ThisFile", H5T_NATIVE_UINT32, PARTICLE_TYPES, low);
    nb6_hdf5_put(file, header, "NumPart_Total", H5T_NATIVE_UINT32, PARTICLE_TYPES, low);
    nb6_hdf5_put(file, header, "NumPart_Total_HighWord", H5T_NATIVE_UINT32, PARTICLE_TYPES, high);
    nb6_hdf5_put(file, header, "MassTable", H5T_NATIVE_DOUBLE, PARTICLE_TYPES, mass_table);
    nb6_hdf5_put_double(file, header, "Time", frame->t);
    nb6_hdf5_put_double(file, header, "Time_GYR", 1e-3 * frame->t * units->time_myr); /* pynbody takes time from here */
    nb6_hdf5_put_double(file, header, "Redshift", 0);
    nb6_hdf5_put_double(file, header, "BoxSize", 0);
    nb6_hdf5_put_double(file, header, "HubbleParam", 1);
    nb6_hdf5_put_double(file, header, "Omega0", 0);
    nb6_hdf5_put_double(file, header, "OmegaLambda", 0);
    nb6_hdf5_put_double(file, header, "OmegaBaryon", 0);
    nb6_hdf5_put_int(file, header, "NumFilesPerSnapshot", 1);
    for (size_t k = 0; k < sizeof zero_flags / sizeof zero_flags[0]; k++)
        nb6_hdf5_put_int(file, header, zero_flags[k], 0);
    nb6_hdf5_put_int(file, header, "Flag_DoublePrecision", 1);
    nb6_hdf5_close_object(header);
}

static void write_units(struct nb6_hdf5 *file, const struct cgs *cgs)
{
    hid_t group = nb6_hdf5_make_group(file, file->file, "Units");
    nb6_hdf5_put_double(file, group, "UnitLength_in_cm", cgs->length);
    nb6_hdf5_put_double(file, group, "UnitMass_in_g", cgs->mass);
    nb6_hdf5_put_double(file, group, "UnitVelocity_in_cm_per_s", cgs->velocity);
    nb6_hdf5_put_double(file, group, "UnitTime_in_s", cgs->time);
    nb6_hdf5_close_object(group);
}

/* yt (4.4) takes 1 kpc for the length unit of any file in this layout, whatever /Units says, but for those of AREPO,
 * which it knows by the name of an option of that code. The value of the option is not read. pynbody looks for other
 * names here. */
static void write_mark_for_yt(struct nb6_hdf5 *file)
{
    hid_t group = nb6_hdf5_make_group(file, file->file, "Config");
    nb6_hdf5_put_text(file, group, "AMR",
                      "no: a star cluster of nbody6; with this name here yt takes its units from /Units");
    nb6_hdf5_close_object(group);
}

/* Data that GADGET has no place for. They do not depend on the time of writing, the folder or the name of a run. */
static void write_own(struct nb6_hdf5 *file, const struct nb6_frame *frame, const struct nb6_snapshot_info *info)
{
    hid_t group = nb6_hdf5_make_group(file, file->file, "nbody6");
    nb6_hdf5_put_text(file, group, "version", NB6_VERSION);
    if (info->run) nb6_hdf5_put_text(file, group, "run", info->run);
    nb6_hdf5_put_text(file, group, "units",
                      "N-body units (G = 1); multiply by the numbers named *_pc, *_msun, *_kms, *_myr");
    nb6_hdf5_put(file, group, "snapshot", H5T_NATIVE_INT64, 0, &info->number);
    nb6_hdf5_put(file, group, "n", H5T_NATIVE_INT64, 0, &frame->n);
    nb6_hdf5_put_double(file, group, "t", frame->t);
    nb6_hdf5_put_double(file, group, "t_myr", frame->t * info->units->time_myr);
    nb6_hdf5_put_double(file, group, "rbar_pc", info->config->rbar_pc);
    nb6_hdf5_put_double(file, group, "zmbar_msun", info->config->zmbar_msun);
    nb6_hdf5_put_double(file, group, "length_pc", info->units->length_pc);
    nb6_hdf5_put_double(file, group, "mass_msun", info->units->mass_msun);
    nb6_hdf5_put_double(file, group, "velocity_kms", info->units->velocity_kms);
    nb6_hdf5_put_double(file, group, "time_myr", info->units->time_myr);
    nb6_hdf5_put_int(file, group, "tide", info->external->active != 0);
    nb6_hdf5_put_double(file, group, "tide_t_x", info->external->t_x);
    nb6_hdf5_put_double(file, group, "tide_t_z", info->external->t_z);
    nb6_hdf5_put_double(file, group, "tide_coriolis", info->external->coriolis);
    nb6_hdf5_close_object(group);
}

/* ---- stars ---- */

struct array {
    const char *data; /* NULL: rows are asked for, */
    const struct nb6_body_rows *rows;
    enum nb6_body_column column;
    size_t row_bytes, stride;
};

static int copy_rows(void *context, int64_t first, int64_t count, void *buffer)
{
    const struct array *array = context;
    char *to = buffer;
    if (!array->data) {
        array->rows->get(array->rows->context, array->column, first, count, buffer);
        return NBC_OK;
    }
    const char *from = array->data + (size_t)first * array->stride;
    for (int64_t k = 0; k < count; k++, from += array->stride, to += array->row_bytes)
        memcpy(to, from, array->row_bytes);
    return NBC_OK;
}

static void write_array(struct nb6_hdf5 *file, hid_t group, const struct cgs *cgs, const struct quantity *quantity,
                        hid_t type, int64_t n, int64_t columns, struct array *array)
{
    if (file->status) return;
    array->row_bytes = (size_t)columns * H5Tget_size(type);
    if (array->stride == 0) array->stride = array->row_bytes;
    double factor = pow(cgs->length, quantity->length) * pow(cgs->mass, quantity->mass) *
                    pow(cgs->velocity, quantity->velocity) * pow(cgs->time, quantity->time);
    hid_t dataset = nb6_hdf5_make_dataset(file, group, quantity->name, type, n, columns, copy_rows, array);
    nb6_hdf5_put_text(file, dataset, "unit", quantity->unit);
    nb6_hdf5_put_text(file, dataset, "description", quantity->description);
    nb6_hdf5_put_text(file, dataset, "VarDescription", quantity->gadget);
    nb6_hdf5_put_double(file, dataset, "CGSConversionFactor", factor);
    nb6_hdf5_put_double(file, dataset, "aexp-scale-exponent", 0);
    nb6_hdf5_put_double(file, dataset, "h-scale-exponent", 0);
    nb6_hdf5_close_object(dataset);
}

/* Columns that frames of rows have, too. */
static void write_column(struct nb6_hdf5 *file, hid_t group, const struct cgs *cgs, const struct quantity *quantity,
                         const struct nb6_frame *frame, int64_t columns, const void *data, enum nb6_body_column column)
{
    const hid_t type = column == NB6_ROWS_NAME ? H5T_NATIVE_UINT64 : H5T_NATIVE_DOUBLE;
    struct array array = {.data = data, .rows = &frame->rows, .column = column};
    const int is_there = frame->rows.get ? column != NB6_ROWS_POT || frame->has_pot : data != NULL;
    if (is_there) write_array(file, group, cgs, quantity, type, frame->n, columns, &array);
}

static void write_quantity(struct nb6_hdf5 *file, hid_t group, const struct cgs *cgs, const struct quantity *quantity,
                           hid_t type, int64_t n, int64_t columns, const void *data)
{
    struct array array = {.data = data};
    if (data) write_array(file, group, cgs, quantity, type, n, columns, &array);
}

static void write_stars(struct nb6_hdf5 *file, const struct cgs *cgs, const struct nb6_frame *frame)
{
    hid_t group = nb6_hdf5_make_group(file, file->file, "PartType4");
    const hid_t real = H5T_NATIVE_DOUBLE;
    write_column(file, group, cgs, &coordinates, frame, 3, frame->x, NB6_ROWS_X);
    write_column(file, group, cgs, &velocities, frame, 3, frame->v, NB6_ROWS_V);
    write_column(file, group, cgs, &masses, frame, 1, frame->mass, NB6_ROWS_MASS);
    write_column(file, group, cgs, &names, frame, 1, frame->name, NB6_ROWS_NAME);
    write_column(file, group, cgs, &potential, frame, 1, frame->pot, NB6_ROWS_POT);
    write_column(file, group, cgs, &acceleration, frame, 3, frame->acc, NB6_ROWS_ACC);
    write_quantity(file, group, cgs, &jerk, real, frame->n, 3, frame->jerk);
    write_quantity(file, group, cgs, &radius, real, frame->n, 1, frame->r_nb);
    write_quantity(file, group, cgs, &neighbours, H5T_NATIVE_INT32, frame->n, 1, frame->nnb);
    write_column(file, group, cgs, &dt_irr, frame, 1, frame->dt_irr, NB6_ROWS_STEP);
    write_quantity(file, group, cgs, &dt_reg, real, frame->n, 1, frame->dt_reg);
    nb6_hdf5_close_object(group);
}

/* ---- properties of the stars ---- */

/* Units of which the size is known; those of the table of columns (model/star_columns.c). */
static double cgs_of_unit(const char *unit, const struct cgs *cgs)
{
    const struct {
        const char *unit;
        double cgs;
    } known[] = {{"Msun", NB6_MSUN_G},      {"Rsun", NB6_RSUN_CM},   {"Lsun", NB6_LSUN_ERG_S}, {"Myr", NB6_MYR_S},
                 {"1/yr", 1e6 / NB6_MYR_S}, {"length", cgs->length}, {"mass", cgs->mass}};
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++)
        if (strcmp(known[k].unit, unit) == 0) return known[k].cgs;
    return 1;
}

/* Values of a column for the stars of a frame. */
struct kept {
    const struct nb6_properties *properties;
    const struct nb6_frame *frame;
    const double *value;
    int64_t near;
};

static int copy_kept(void *context, int64_t first, int64_t count, void *buffer)
{
    struct kept *kept = context;
    const struct nb6_body_rows *rows = &kept->frame->rows;
    double *to = buffer;
    if (rows->get) /* names take the place of the values, which are as long */
        rows->get(rows->context, NB6_ROWS_NAME, first, count, buffer);
    else
        memcpy(buffer, kept->frame->name + first, (size_t)count * sizeof *kept->frame->name);
    for (int64_t k = 0; k < count; k++) {
        int64_t name;
        memcpy(&name, &to[k], sizeof name);
        const int64_t place = nb6_properties_place(kept->properties, name, kept->near);
        to[k] = place >= 0 ? kept->value[place] : NAN;
        kept->near = place + 1;
    }
    return NBC_OK;
}

/* Beside the other datasets of the stars. */
static void write_properties(struct nb6_hdf5 *file, const struct cgs *cgs, const struct nb6_frame *frame,
                             const struct nb6_properties *properties)
{
    if (!properties || file->status) return;
    hid_t group = nb6_hdf5_open_group(file, file->file, "PartType4");
    for (int k = 0; k < properties->count; k++) {
        const struct nb6_property *column = &properties->column[k];
        struct kept kept = {properties, frame, properties->value[k], 0};
        hid_t dataset =
            nb6_hdf5_make_dataset(file, group, column->name, H5T_NATIVE_DOUBLE, frame->n, 1, copy_kept, &kept);
        nb6_hdf5_put_text(file, dataset, "unit", column->unit);
        nb6_hdf5_put_text(file, dataset, "description",
                          column->description ? column->description : "column of the data file, as it was read");
        nb6_hdf5_put_text(file, dataset, "VarDescription", " ");
        nb6_hdf5_put_double(file, dataset, "CGSConversionFactor", cgs_of_unit(column->unit, cgs));
        nb6_hdf5_put_double(file, dataset, "aexp-scale-exponent", 0);
        nb6_hdf5_put_double(file, dataset, "h-scale-exponent", 0);
        nb6_hdf5_put_int(file, dataset, "kept", 1);
        nb6_hdf5_close_object(dataset);
    }
    nb6_hdf5_close_object(group);
}

static void write_pairs(struct nb6_hdf5 *file, const struct cgs *cgs, const struct nb6_frame *frame)
{
    if (frame->n_pair == 0) return;
    hid_t group = nb6_hdf5_make_group(file, file->file, "Pairs");
    for (size_t k = 0; k < sizeof pair_columns / sizeof pair_columns[0]; k++) {
        struct array array = {.data = (const char *)frame->pair + pair_columns[k].offset,
                              .stride = sizeof *frame->pair};
        write_array(file, group, cgs, &pair_columns[k].quantity,
                    pair_columns[k].integer ? H5T_NATIVE_UINT64 : H5T_NATIVE_DOUBLE, frame->n_pair,
                    pair_columns[k].columns, &array);
    }
    nb6_hdf5_close_object(group);
}

int nb6_snapshot_write(const char *path, const struct nb6_frame *frame, const struct nb6_snapshot_info *info,
                       struct nbc_error *err)
{
    struct nb6_hdf5 file;
    struct cgs cgs = units_in_cgs(info->units);
    nb6_hdf5_create(&file, path, 0, err);
    write_header(&file, frame, info->units);
    write_units(&file, &cgs);
    write_mark_for_yt(&file);
    write_own(&file, frame, info);
    write_stars(&file, &cgs, frame);
    write_properties(&file, &cgs, frame, info->properties);
    write_pairs(&file, &cgs, frame);
    return info->unsynced ? nb6_hdf5_place(&file) : nb6_hdf5_commit(&file, NULL);
}
