#include "nbody6/input/units.h"

#include <math.h>

#define GM_SUN_M3_S2 1.3271244e20
#define PI 3.14159265358979323846
#define AU_M 149597870700.0
#define PC_M (648000.0 / PI * AU_M)
#define RSUN_M 6.957e8
#define MYR_S (1e6 * 365.25 * 86400.0)

const double NB6_G_PC_KMS2_MSUN = GM_SUN_M3_S2 / PC_M * 1e-6;

const double NB6_PC_PER_MYR_KMS = PC_M * 1e-3 / MYR_S;

const double NB6_PC_CM = 3.0856775814913673e18;

const double NB6_MSUN_G = GM_SUN_M3_S2 * 1e6 / 6.67430e-8;

const double NB6_RSUN_CM = RSUN_M * 1e2, NB6_RSUN_PC = RSUN_M / PC_M, NB6_LSUN_ERG_S = 3.828e33;

const double NB6_MYR_S = MYR_S;

const double NB6_AU_PC = PI / 648000.0;

const double NB6_AU_PER_YEAR_KMS = AU_M * 1e-3 / (365.25 * 86400.0);

struct nb6_units nb6_units_from(double rbar_pc, double zmbar_msun, int64_t n)
{
    struct nb6_units units;
    units.length_pc = rbar_pc;
    units.mass_msun = zmbar_msun * (double)n;
    units.velocity_kms = sqrt(NB6_G_PC_KMS2_MSUN * units.mass_msun / rbar_pc);
    units.time_myr = rbar_pc * NB6_PC_PER_MYR_KMS / units.velocity_kms;
    return units;
}

double nb6_units_tidal_radius_pc(double mass_msun, double galaxy_mass_msun, double galaxy_distance_kpc)
{
    return 1000.0 * galaxy_distance_kpc * cbrt(mass_msun / (3.0 * galaxy_mass_msun));
}
