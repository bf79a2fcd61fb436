/* Circular orbit around a point mass, linearised: t_x = 3 omega^2, t_z = -omega^2. */
#include "common/nbc.h"
#include "nbody6/galaxy/linear.h"
#include "nbody6/galaxy/potential.h"

#include <math.h>
#include <stdio.h>

static int make_point_mass(const struct nb6_config *config, const struct nb6_units *units,
                           struct nb6_external *external, struct nbc_error *err)
{
    (void)err;
    double mass = config->tide.galaxy_mass_msun / units->mass_msun;
    double distance = 1e3 * config->tide.galaxy_distance_kpc / units->length_pc;
    double omega2 = mass / (distance * distance * distance);
    external->t_x = 3 * omega2;
    external->t_z = -omega2;
    external->coriolis = 2 * sqrt(omega2);
    return NBC_OK;
}

static void describe_point_mass(const struct nb6_config *config, char text[NB6_EXTERNAL_TEXT])
{
    snprintf(text, NB6_EXTERNAL_TEXT, "circular orbit around a point mass of %g Msun at %g kpc",
             config->tide.galaxy_mass_msun, config->tide.galaxy_distance_kpc);
}

const struct nb6_potential nb6_potential_point_mass = {
    .make = make_point_mass, .describe = describe_point_mass, NB6_LINEAR_OPERATIONS};
