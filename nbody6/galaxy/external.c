#include "nbody6/galaxy/external.h"

#include "nbody6/input/config.h"
#include "nbody6/input/units.h"

#include <math.h>

/* Solar neighbourhood as NBODY6 has it: Oort's constants in km/s/kpc, local density in Msun/pc^3. */
static const double OORT_A = 14.4, OORT_B = -12.0, LOCAL_DENSITY_MSUN_PC3 = 0.11;

static struct nb6_external solar_neighbourhood(const struct nb6_units *units)
{
    double inverse_time = 1e-3 * units->length_pc / units->velocity_kms; /* 1 km/s/kpc in N-body units */
    double a = OORT_A * inverse_time, b = OORT_B * inverse_time;
    double density = LOCAL_DENSITY_MSUN_PC3 * units->length_pc * units->length_pc * units->length_pc / units->mass_msun;
    struct nb6_external external = {1, 4 * a * (a - b), -(4 * M_PI * density + 2 * (a * a - b * b)), 2 * (a - b)};
    return external;
}

static struct nb6_external point_mass(const struct nb6_tide_config *tide, const struct nb6_units *units)
{
    double mass = tide->galaxy_mass_msun / units->mass_msun;
    double distance = 1e3 * tide->galaxy_distance_kpc / units->length_pc;
    double omega2 = mass / (distance * distance * distance);
    struct nb6_external external = {1, 3 * omega2, -omega2, 2 * sqrt(omega2)};
    return external;
}

struct nb6_external nb6_external_make(const struct nb6_tide_config *tide, const struct nb6_units *units)
{
    switch (tide->kind) {
    case NB6_TIDE_SOLAR:
        return solar_neighbourhood(units);
    case NB6_TIDE_POINT_MASS:
        return point_mass(tide, units);
    case NB6_TIDE_NONE:
        break;
    }
    return (struct nb6_external){0, 0, 0, 0};
}

void nb6_external_force(const struct nb6_external *external, const double x[3], const double v[3], const double acc[3],
                        double ext_acc[3], double ext_jerk[3])
{
    double c = external->coriolis;
    ext_acc[0] = external->t_x * x[0] + c * v[1];
    ext_acc[1] = -c * v[0];
    ext_acc[2] = external->t_z * x[2];
    ext_jerk[0] = external->t_x * v[0] + c * (acc[1] + ext_acc[1]);
    ext_jerk[1] = -c * (acc[0] + ext_acc[0]);
    ext_jerk[2] = external->t_z * v[2];
}

void nb6_external_higher(const struct nb6_external *external, const double acc[3], const double jerk[3],
                         const double inner[3], double snap[3], double crackle[3])
{
    double c = external->coriolis;
    snap[0] = external->t_x * acc[0] + c * jerk[1];
    snap[1] = -c * jerk[0];
    snap[2] = external->t_z * acc[2];
    crackle[0] = external->t_x * jerk[0] + c * (inner[1] + snap[1]);
    crackle[1] = -c * (inner[0] + snap[0]);
    crackle[2] = external->t_z * jerk[2];
}

double nb6_external_potential(const struct nb6_external *external, const double x[3])
{
    return -0.5 * (external->t_x * x[0] * x[0] + external->t_z * x[2] * x[2]);
}

double nb6_external_strongest(const struct nb6_external *external)
{
    return fmax(fabs(external->t_x), fabs(external->t_z));
}

double nb6_external_tidal_radius(const struct nb6_external *external, double mass)
{
    return external->active ? cbrt(mass / external->t_x) : 0;
}
