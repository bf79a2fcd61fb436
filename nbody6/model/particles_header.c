#include "nbody6/model/particles_header.h"

#include "common/nbc.h"
#include "nbody6/hdf5/hdf5_stored.h"
#include "nbody6/input/units.h"

#include <math.h>
#include <stdio.h>

enum { MOST_TYPES = 16 }; /* SWIFT has 7, GADGET 6 or the number it was compiled for */

/* An attribute of a group, if both exist. */
static int get(struct nb6_hdf5 *file, const char *group, const char *name, double *value)
{
    if (!nb6_hdf5_has(file, file->file, group)) return 0;
    const hid_t object = nb6_hdf5_open_group(file, file->file, group);
    const int found = nb6_hdf5_has_attribute(file, object, name);
    if (found) nb6_hdf5_get(file, object, name, H5T_NATIVE_DOUBLE, 0, value);
    nb6_hdf5_close_object(object);
    return found && !file->status;
}

/* The same where one of several groups has it. */
static int find(struct nb6_hdf5 *file, const char *name, double *value)
{
    return get(file, "Header", name, value) || get(file, "Parameters", name, value);
}

/* ---- how many ---- */

int nb6_particles_header_value(struct nb6_hdf5 *file, const char *name, int k, double *value)
{
    double row[MOST_TYPES];
    if (!nb6_hdf5_has(file, file->file, "Header")) return 0;
    const hid_t header = nb6_hdf5_open_group(file, file->file, "Header");
    const int found = nb6_hdf5_has_attribute(file, header, name);
    const size_t values = found ? nb6_hdf5_get_row(file, header, name, H5T_NATIVE_DOUBLE, MOST_TYPES, row) : 0;
    nb6_hdf5_close_object(header);
    if ((size_t)k >= values) return 0;
    *value = row[k];
    return 1;
}

int nb6_particles_count(struct nb6_hdf5 *file, int type, int64_t n, struct nb6_particles_count *count,
                        struct nbc_error *err)
{
    double here, total = -1, high = 0, files = 1;
    const int has_here = nb6_particles_header_value(file, "NumPart_ThisFile", type, &here);
    if (nb6_particles_header_value(file, "NumPart_Total", type, &total) &&
        nb6_particles_header_value(file, "NumPart_Total_HighWord", type, &high))
        total += high * 0x1p32;
    get(file, "Header", "NumFilesPerSnapshot", &files);
    if (file->status) return file->status;
    if (has_here && here != (double)n)
        return nbc_fail(err, NBC_BAD_INPUT,
                        "%s: PartType%d has %lld rows, but NumPart_ThisFile of the header says %.0f: the file was not "
                        "written to its end, or the header belongs to another one",
                        file->path, type, (long long)n, here);
    count->files = files >= 1 && files <= INT32_MAX ? (int)files : 1;
    count->total = total >= 0 && total <= 0x1p53 ? (int64_t)total : -1;
    return NBC_OK;
}

/* ---- units ---- */

/* Length in cm, mass in g, velocity in cm/s, as GADGET, GIZMO or SWIFT write them.   @return 1: they exist */
static int find_cgs(struct nb6_hdf5 *file, double cgs[3])
{
    static const char *const groups[] = {"Units", "Header", "Parameters"};
    static const char *const names[][3] = {{"UnitLength_in_cm", "UnitMass_in_g", "UnitVelocity_in_cm_per_s"},
                                           {"UnitLength_In_CGS", "UnitMass_In_CGS", "UnitVelocity_In_CGS"}};
    double time;
    for (int k = 0; k < 3; k++)
        for (int j = 0; j < 2; j++)
            if (get(file, groups[k], names[j][0], &cgs[0]) && get(file, groups[k], names[j][1], &cgs[1]) &&
                get(file, groups[k], names[j][2], &cgs[2]))
                return 1;
    if (!get(file, "Units", "Unit length in cgs (U_L)", &cgs[0]) ||
        !get(file, "Units", "Unit mass in cgs (U_M)", &cgs[1]) || !get(file, "Units", "Unit time in cgs (U_t)", &time))
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
static void read_own_units(struct nb6_hdf5 *file, struct nb6_model *model, struct nb6_data_units *units)
{
    double rbar = 0, zmbar = 0, mass = 0;
    set_units(units, NB6_UNIT_NBODY, 1, 1, 1);
    if (!get(file, "nbody6", "rbar_pc", &rbar) || !get(file, "nbody6", "zmbar_msun", &zmbar) ||
        !get(file, "nbody6", "mass_msun", &mass) || !(rbar > 0 && zmbar > 0 && mass > 0))
        return;
    model->data.rbar_pc = rbar;
    model->data.zmbar_msun = zmbar * (double)model->n == mass ? zmbar : mass / (double)model->n;
    snprintf(model->data.format, sizeof model->data.format, "snapshot of nbody6");
}

/* Comoving lengths are refused; a Hubble parameter without cosmology may belong to the units, or to nothing. */
static int check_cosmology(struct nb6_hdf5 *file, struct nb6_model *model, struct nbc_error *err)
{
    double redshift = 0, hubble = 1, omega = 0, comoving = 0;
    get(file, "Header", "Redshift", &redshift);
    find(file, "HubbleParam", &hubble);
    if (!find(file, "Omega0", &omega)) find(file, "Omega_Matter", &omega); /* GIZMO */
    if (!find(file, "ComovingIntegrationOn", &comoving))
        get(file, "Cosmology", "Cosmological run", &comoving); /* SWIFT */
    if (file->status) return file->status;
    if (redshift > 0 || comoving > 0 || (omega > 0 && hubble > 0 && hubble != 1))
        return nbc_fail(err, NBC_BAD_INPUT,
                        "%s: a cosmological snapshot (redshift %g, h = %g), whose lengths are "
                        "comoving; give physical ones",
                        file->path, redshift, hubble);
    if (hubble > 0 && hubble != 1 && isfinite(hubble)) model->data.hubble = hubble;
    return NBC_OK;
}

int nb6_particles_read_units(struct nb6_hdf5 *file, struct nb6_model *model, struct nb6_data_units *units,
                             struct nbc_error *err)
{
    double cgs[3];
    get(file, "Header", "Time", &model->data.t);
    snprintf(model->data.format, sizeof model->data.format, "HDF5 in the GADGET layout");
    if (nb6_hdf5_has(file, file->file, "nbody6")) {
        model->data.is_own = 1;
        read_own_units(file, model, units);
        return file->status;
    }
    const int status = check_cosmology(file, model, err);
    if (status || !find_cgs(file, cgs)) return status ? status : file->status;
    if (!(cgs[0] > 0 && cgs[1] > 0 && cgs[2] > 0) || !isfinite(cgs[0]) || !isfinite(cgs[1]) || !isfinite(cgs[2]))
        return nbc_fail(err, NBC_BAD_INPUT, "%s: the units that it states are not positive", file->path);
    set_units(units, NB6_UNIT_PHYSICAL, cgs[1] / NB6_MSUN_G, cgs[0] / NB6_PC_CM, cgs[2] * 1e-5);
    return file->status;
}
