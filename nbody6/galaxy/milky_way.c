/* A cluster on an orbit in the Milky Way of Bovy 2015, ApJS 216, 29, section 3.5 and table 1 (MWPotential2014 of
 * galpy): a bulge that is a power law with a cut-off, a disk of Miyamoto & Nagai, a halo of Navarro, Frenk & White,
 * which have 0.05, 0.60 and 0.35 of the radial force at 8 kpc, where the circular velocity is 220 km/s. */
#include "common/nbc.h"
#include "nbody6/galaxy/components.h"
#include "nbody6/galaxy/moving.h"
#include "nbody6/galaxy/orbit.h"
#include "nbody6/galaxy/potential.h"
#include "nbody6/input/config.h"
#include "nbody6/input/units.h"

#include <stdio.h>

static const double R_SUN_KPC = 8, V_SUN_KMS = 220;
static const double BULGE_SHARE = 0.05, BULGE_SLOPE = 1.8, BULGE_CUT_KPC = 1.9;
static const double DISK_SHARE = 0.6, DISK_LENGTH_KPC = 3, DISK_HEIGHT_KPC = 0.28;
static const double HALO_SHARE = 0.35, HALO_LENGTH_KPC = 16;

/* The mass with which this part alone has its share of the circular velocity. */
static void set_mass(enum nb6_galaxy_parameter part, double share, const struct nb6_units *units, double *p)
{
    double alone[NB6_EXTERNAL_PARAMETERS];
    const double v = V_SUN_KMS / units->velocity_kms, r = 1e3 * R_SUN_KPC / units->length_pc;
    for (int k = 0; k < NB6_EXTERNAL_PARAMETERS; k++) alone[k] = p[k];
    alone[NB6_GALAXY_CUT_BULGE_MASS] = alone[NB6_GALAXY_DISK_MASS] = alone[NB6_GALAXY_NFW_MASS] = 0;
    alone[part] = 1;
    p[part] = share * v * v / nb6_galaxy_v2_without_halo(alone, r);
}

static int make_milky_way(const struct nb6_config *config, const struct nb6_units *units, struct nb6_external *external,
                          struct nbc_error *err)
{
    const struct nb6_tide_config *tide = &config->tide;
    const double kpc = 1e3 / units->length_pc;
    double *p = external->parameter, x[3], v[3];
    p[NB6_GALAXY_BULGE_SLOPE] = BULGE_SLOPE;
    p[NB6_GALAXY_BULGE_LENGTH] = BULGE_CUT_KPC * kpc;
    p[NB6_GALAXY_DISK_LENGTH] = DISK_LENGTH_KPC * kpc;
    p[NB6_GALAXY_DISK_HEIGHT] = DISK_HEIGHT_KPC * kpc;
    p[NB6_GALAXY_NFW_LENGTH] = HALO_LENGTH_KPC * kpc;
    set_mass(NB6_GALAXY_CUT_BULGE_MASS, BULGE_SHARE, units, p);
    set_mass(NB6_GALAXY_DISK_MASS, DISK_SHARE, units, p);
    set_mass(NB6_GALAXY_NFW_MASS, HALO_SHARE, units, p);
    for (int k = 0; k < 3; k++) {
        x[k] = tide->position_kpc[k] * kpc;
        v[k] = tide->velocity_kms[k] / units->velocity_kms;
    }
    return nb6_orbit_begin(external, x, v, err);
}

static void describe_milky_way(const struct nb6_config *config, char text[NB6_EXTERNAL_TEXT])
{
    const double *x = config->tide.position_kpc;
    snprintf(text, NB6_EXTERNAL_TEXT, "an orbit in the Milky Way of Bovy 2015, from (%g, %g, %g) kpc", x[0], x[1],
             x[2]);
}

const struct nb6_potential nb6_potential_milky_way = {
    .make = make_milky_way, .describe = describe_milky_way, NB6_MOVING_OPERATIONS};
