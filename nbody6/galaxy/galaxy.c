/* A cluster on an orbit in a galaxy of point mass, bulge, disk and halo, perhaps with gas about it. */
#include "common/nbc.h"
#include "nbody6/galaxy/components.h"
#include "nbody6/galaxy/moving.h"
#include "nbody6/galaxy/orbit.h"
#include "nbody6/galaxy/potential.h"
#include "nbody6/input/config.h"
#include "nbody6/input/config_tide.h"
#include "nbody6/input/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void set_parts(const struct nb6_tide_config *tide, const struct nb6_units *units, double *p)
{
    const double kpc = 1e3 / units->length_pc;
    p[NB6_GALAXY_POINT_MASS] = tide->galaxy_mass_msun / units->mass_msun;
    p[NB6_GALAXY_DISK_MASS] = tide->disk_mass_msun / units->mass_msun;
    p[NB6_GALAXY_DISK_LENGTH] = tide->disk_length_kpc * kpc;
    p[NB6_GALAXY_DISK_HEIGHT] = tide->disk_height_kpc * kpc;
    p[NB6_GALAXY_BULGE_MASS] = tide->bulge_mass_msun / units->mass_msun;
    p[NB6_GALAXY_BULGE_LENGTH] = tide->bulge_length_kpc * kpc;
    p[NB6_GALAXY_BULGE_SLOPE] = tide->bulge_slope;
}

/* As NBODY6 has it: VCIRC is the circular velocity of all together at RCIRC and that of the halo far out, v0; the
 * halo's share at RCIRC, v0^2 RCIRC^2/(RCIRC^2 + r0^2), gives r0. */
static int set_halo(const struct nb6_tide_config *tide, const struct nb6_units *units, double *p, struct nbc_error *err)
{
    if (!(tide->halo_velocity_kms > 0)) return NBC_OK;
    const double v = tide->halo_velocity_kms / units->velocity_kms, r = 1e3 * tide->halo_radius_kpc / units->length_pc;
    const double others = nb6_galaxy_v2_without_halo(p, r), share = v * v - others;
    if (!(share > 0))
        return nbc_fail(err, NBC_BAD_INPUT,
                        "VCIRC: the other parts of the galaxy alone have a circular velocity of %.6g km/s at RCIRC=%g "
                        "kpc, which leaves nothing for a halo; give VCIRC above that, or 0 for no halo",
                        sqrt(others) * units->velocity_kms, tide->halo_radius_kpc);
    p[NB6_GALAXY_HALO_V2] = v * v;
    p[NB6_GALAXY_HALO_R2] = r * r * others / share;
    return NBC_OK;
}

static int begin_planar(const struct nb6_tide_config *tide, const struct nb6_units *units,
                        struct nb6_external *external, struct nbc_error *err)
{
    const double apocentre = 1e3 * tide->position_kpc[0] / units->length_pc, ecc = tide->position_kpc[1];
    const double x[3] = {apocentre, 0, 0};
    const double v[3] = {0, sqrt(external->parameter[NB6_GALAXY_POINT_MASS] / apocentre * (1 - ecc)), 0};
    return nb6_orbit_begin(external, x, v, err);
}

static int make_galaxy(const struct nb6_config *config, const struct nb6_units *units, struct nb6_external *external,
                       struct nbc_error *err)
{
    const struct nb6_tide_config *tide = &config->tide;
    set_parts(tide, units, external->parameter);
    const int status = set_halo(tide, units, external->parameter, err);
    if (status) return status;
    nb6_moving_set_gas(tide, external);
    if (nb6_config_orbit_is_planar(tide)) return begin_planar(tide, units, external, err);
    double x[3], v[3];
    for (int k = 0; k < 3; k++) {
        x[k] = 1e3 * tide->position_kpc[k] / units->length_pc;
        v[k] = tide->velocity_kms[k] / units->velocity_kms;
    }
    return nb6_orbit_begin(external, x, v, err);
}

static void describe_galaxy(const struct nb6_config *config, char text[NB6_EXTERNAL_TEXT])
{
    const struct nb6_tide_config *tide = &config->tide;
    const struct {
        int is_there;
        const char *name;
    } parts[] = {{tide->galaxy_mass_msun > 0, " point mass,"},
                 {tide->bulge_mass_msun > 0, " bulge,"},
                 {tide->disk_mass_msun > 0, " disk,"},
                 {tide->halo_velocity_kms > 0, " halo,"},
                 {tide->gas_mass > 0, " gas about the cluster,"}};
    size_t used = (size_t)snprintf(text, NB6_EXTERNAL_TEXT, "an orbit in a galaxy of");
    for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++)
        if (parts[k].is_there) used += (size_t)snprintf(text + used, NB6_EXTERNAL_TEXT - used, "%s", parts[k].name);
    if (nb6_config_orbit_is_planar(tide))
        snprintf(text + used, NB6_EXTERNAL_TEXT - used, " apocentre %g kpc, e = %g", tide->position_kpc[0],
                 tide->position_kpc[1]);
    else
        snprintf(text + used, NB6_EXTERNAL_TEXT - used, " from (%g, %g, %g) kpc", tide->position_kpc[0],
                 tide->position_kpc[1], tide->position_kpc[2]);
}

const struct nb6_potential nb6_potential_galaxy = {
    .make = make_galaxy, .describe = describe_galaxy, NB6_MOVING_OPERATIONS};
