#include "nbody6/input/config_tide.h"

#include "common/nbc.h"
#include "nbody6/input/config.h"
#include "nbody6/input/input_table.h"

int nb6_config_orbit_is_planar(const struct nb6_tide_config *tide)
{
    return !(tide->disk_mass_msun > 0 || tide->halo_velocity_kms > 0 || tide->bulge_mass_msun > 0) &&
           tide->velocity_kms[2] == 0;
}

static int check_point_mass(const struct nb6_tide_config *tide, struct nbc_error *err)
{
    if (tide->galaxy_mass_msun <= 0)
        return nbc_fail(err, NBC_BAD_INPUT,
                        "GMG: a point-mass galaxy (KZ(14) = 2) needs its mass in Msun; give GMG > 0 in "
                        "group &INXTRNL0, or set KZ(14)=0");
    if (tide->galaxy_distance_kpc <= 0)
        return nbc_fail(err, NBC_BAD_INPUT,
                        "RG0: a point-mass galaxy (KZ(14) = 2) needs the cluster's distance in kpc; give "
                        "RG0 > 0 in group &INXTRNL0, or set KZ(14)=0");
    return NBC_OK;
}

static int check_gas(const struct nb6_tide_config *tide, struct nbc_error *err)
{
    if (tide->gas_mass > 0 && !(tide->gas_length > 0))
        return nbc_fail(err, NBC_BAD_INPUT, "AP2: gas of mass MP=%g needs a length; give AP2 > 0 in group &INXTRNL0",
                        tide->gas_mass);
    if (tide->kind == NB6_TIDE_GAS && !(tide->gas_mass > 0))
        return nbc_fail(
            err, NBC_BAD_INPUT,
            "MP: a sphere of gas (KZ(14) = 4) needs its mass; give MP > 0 in group &INXTRNL0, or set KZ(14)=0");
    return NBC_OK;
}

static int check_parts(const struct nb6_tide_config *tide, struct nbc_error *err)
{
    if (!(tide->galaxy_mass_msun > 0 || tide->disk_mass_msun > 0 || tide->halo_velocity_kms > 0 ||
          tide->bulge_mass_msun > 0))
        return nbc_fail(err, NBC_BAD_INPUT,
                        "GMG: a galaxy (KZ(14) = 3) needs a point mass GMG, a disk DISK, a halo VCIRC or a bulge GMB; "
                        "give one of them in group &INXTRNL0, or set KZ(14)=0");
    if (tide->disk_mass_msun > 0 && !(tide->disk_height_kpc > 0))
        return nbc_fail(err, NBC_BAD_INPUT, "B: the disk needs a height; give B > 0 in kpc in group &INXTRNL0");
    if (tide->halo_velocity_kms > 0 && !(tide->halo_radius_kpc > 0))
        return nbc_fail(err, NBC_BAD_INPUT,
                        "RCIRC: VCIRC needs the distance where it is the circular velocity; give RCIRC > 0 in kpc");
    if (tide->bulge_mass_msun > 0 && !(tide->bulge_length_kpc > 0))
        return nbc_fail(err, NBC_BAD_INPUT, "AR: the bulge needs a length; give AR > 0 in kpc in group &INXTRNL0");
    return NBC_OK;
}

static int check_orbit(const struct nb6_tide_config *tide, struct nbc_error *err)
{
    const double *x = tide->position_kpc;
    if (tide->kind == NB6_TIDE_MILKY_WAY || !nb6_config_orbit_is_planar(tide)) {
        if (x[0] != 0 || x[1] != 0 || x[2] != 0) return NBC_OK;
        return nbc_fail(err, NBC_BAD_INPUT,
                        "RG: the cluster stands in the centre of the galaxy; give its place, RG = x, y, z in kpc");
    }
    if (x[0] > 0 && x[1] >= 0 && x[1] < 1) return NBC_OK;
    return nbc_fail(err, NBC_BAD_INPUT,
                    "RG: about a point mass alone, with VG(3) = 0, RG(1) is the apocentre in kpc and RG(2) the "
                    "eccentricity; %g and %g are none",
                    x[0], x[1]);
}

int nb6_config_check_tide(const struct nb6_tide_config *tide, struct nbc_error *err)
{
    const struct nb6_input_choice *choice = nb6_input_find_choice(14, (long)tide->kind);
    int status = NBC_OK;
    if (!choice || choice->status != NB6_USED)
        return nbc_fail(err, NBC_BAD_INPUT, "KZ(14): there is no external potential of number %d", (int)tide->kind);
    if (tide->kind == NB6_TIDE_POINT_MASS) return check_point_mass(tide, err);
    if (tide->kind == NB6_TIDE_GALAXY) status = check_parts(tide, err);
    if ((tide->kind == NB6_TIDE_GALAXY || tide->kind == NB6_TIDE_MILKY_WAY) && !status) status = check_orbit(tide, err);
    if (!status && (tide->kind == NB6_TIDE_GALAXY || tide->kind == NB6_TIDE_GAS)) status = check_gas(tide, err);
    return status;
}
