#include "nbody6/galaxy/components.h"

#include "nbody6/galaxy/attraction.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/galaxy/incomplete_gamma.h"
#include "nbody6/galaxy/jet.h"

#include <math.h>

void nb6_galaxy_acceleration(const double parameter[NB6_EXTERNAL_PARAMETERS], const struct nb6_jet x[3], int order,
                             struct nb6_jet acc[3])
{
    nb6_attraction(parameter, x, order, acc);
}

static double bulge_potential(const double *p, double r)
{
    const double a = p[NB6_GALAXY_BULGE_LENGTH], slope = p[NB6_GALAXY_BULGE_SLOPE], mass = p[NB6_GALAXY_BULGE_MASS];
    if (slope == 2) return mass / a * log(r / (r + a));
    return -mass / a * (1 - pow(r / (r + a), 2 - slope)) / (2 - slope);
}

/* -M(r)/r, and the part from outside: M/(Gamma((3 - GAM)/2) AR) times the upper gamma function of 1 - GAM/2 */
static double cut_bulge_potential(const double *p, double r)
{
    const double cut = p[NB6_GALAXY_BULGE_LENGTH], slope = p[NB6_GALAXY_BULGE_SLOPE], u = r * r / (cut * cut);
    const double unit = p[NB6_GALAXY_CUT_BULGE_MASS] / (tgamma(0.5 * (3 - slope)) * cut);
    double rate;
    return -nb6_cut_bulge_mass(p, r, 1 / r, &rate) / r - unit * nb6_upper_gamma(1 - 0.5 * slope, u);
}

double nb6_galaxy_potential(const double parameter[NB6_EXTERNAL_PARAMETERS], const double x[3])
{
    const double *p = parameter, plane2 = x[0] * x[0] + x[1] * x[1], r2 = plane2 + x[2] * x[2];
    double sum = 0;
    if (p[NB6_GALAXY_POINT_MASS] > 0) sum -= p[NB6_GALAXY_POINT_MASS] / sqrt(r2);
    if (p[NB6_GALAXY_BULGE_MASS] > 0) sum += bulge_potential(p, sqrt(r2));
    if (p[NB6_GALAXY_DISK_MASS] > 0) {
        const double height = p[NB6_GALAXY_DISK_HEIGHT];
        const double u = p[NB6_GALAXY_DISK_LENGTH] + sqrt(x[2] * x[2] + height * height);
        sum -= p[NB6_GALAXY_DISK_MASS] / sqrt(plane2 + u * u);
    }
    if (p[NB6_GALAXY_HALO_V2] > 0) sum += 0.5 * p[NB6_GALAXY_HALO_V2] * log(r2 + p[NB6_GALAXY_HALO_R2]);
    if (p[NB6_GALAXY_CUT_BULGE_MASS] > 0) sum += cut_bulge_potential(p, sqrt(r2));
    if (p[NB6_GALAXY_NFW_MASS] > 0)
        sum -= p[NB6_GALAXY_NFW_MASS] / sqrt(r2) * log1p(sqrt(r2) / p[NB6_GALAXY_NFW_LENGTH]);
    return sum;
}

double nb6_galaxy_v2_without_halo(const double parameter[NB6_EXTERNAL_PARAMETERS], double r)
{
    double without[NB6_EXTERNAL_PARAMETERS];
    const struct nb6_jet x[3] = {{{r}}, {{0}}, {{0}}};
    struct nb6_jet acc[3];
    for (int k = 0; k < NB6_EXTERNAL_PARAMETERS; k++) without[k] = parameter[k];
    without[NB6_GALAXY_HALO_V2] = 0;
    nb6_galaxy_acceleration(without, x, 0, acc);
    return -r * acc[0].c[0];
}

/* With a^2 and b^2 = a^2 + q at both places, p = 1/a and r = 1/b: r - p = -q p r/(a + b), and r^n - p^n is that times a
 * sum of like terms. */
void nb6_gas_difference(const double parameter[NB6_EXTERNAL_PARAMETERS], const double centre[2][3], const double x[3],
                        const double xdot[3], double acc[3], double jerk[3], double *potential)
{
    const double *c = centre[0], *v = centre[1];
    double a2 = parameter[NB6_GALAXY_GAS_R2], cx = 0, x2 = 0, cv = 0, change = 0;
    for (int k = 0; k < 3; k++) {
        a2 += c[k] * c[k];
        cx += c[k] * x[k];
        x2 += x[k] * x[k];
        cv += c[k] * v[k];
        change += c[k] * xdot[k] + x[k] * (v[k] + xdot[k]);
    }
    const double q = 2 * cx + x2, a = sqrt(a2), b = sqrt(a2 + q), p = 1 / a, r = 1 / b, p2 = p * p, r2 = r * r;
    const double less = -q * p * r / (a + b), cube = r * r2, cubes = less * (r2 + r * p + p2);
    const double fifths = less * (r2 * r2 + r2 * r * p + r2 * p2 + r * p * p2 + p2 * p2);
    const double cube_dot = -3 * (cv + change) * cube * r2, cubes_dot = -3 * (change * cube * r2 + cv * fifths);
    for (int k = 0; k < 3; k++) {
        acc[k] = -(x[k] * cube + c[k] * cubes);
        jerk[k] = -(xdot[k] * cube + x[k] * cube_dot + v[k] * cubes + c[k] * cubes_dot);
    }
    *potential = 0.5 * p2 * p * (x2 - q * q * (2 * a + b) * r / ((a + b) * (a + b)));
}
