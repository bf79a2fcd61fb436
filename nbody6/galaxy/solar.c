/* Circular orbit in the solar neighbourhood as NBODY6 has it, linearised. */
#include "common/nbc.h"
#include "nbody6/galaxy/linear.h"
#include "nbody6/galaxy/potential.h"

#include <math.h>
#include <stdio.h>

/* Oort's constants in km/s/kpc, local density in Msun/pc^3. */
static const double OORT_A = 14.4, OORT_B = -12.0, LOCAL_DENSITY_MSUN_PC3 = 0.11;

/* t_x = 4 A (A - B); t_z = -(4 pi G rho + 2 (A^2 - B^2)), from Poisson's equation. */
static int make_solar(const struct nb6_config *config, const struct nb6_units *units, struct nb6_external *external,
                      struct nbc_error *err)
{
    (void)config;
    (void)err;
    double inverse_time = 1e-3 * units->length_pc / units->velocity_kms; /* 1 km/s/kpc in N-body units */
    double a = OORT_A * inverse_time, b = OORT_B * inverse_time;
    double density = LOCAL_DENSITY_MSUN_PC3 * units->length_pc * units->length_pc * units->length_pc / units->mass_msun;
    external->t_x = 4 * a * (a - b);
    external->t_z = -(4 * M_PI * density + 2 * (a * a - b * b));
    external->coriolis = 2 * (a - b);
    return NBC_OK;
}

static void describe_solar(const struct nb6_config *config, char text[NB6_EXTERNAL_TEXT])
{
    (void)config;
    snprintf(text, NB6_EXTERNAL_TEXT, "circular orbit in the solar neighbourhood");
}

const struct nb6_potential nb6_potential_solar = {
    .make = make_solar, .describe = describe_solar, NB6_LINEAR_OPERATIONS};
