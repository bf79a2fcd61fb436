#include "nbody6/galaxy/components.h"

#include "nbody6/galaxy/external.h"
#include "nbody6/galaxy/incomplete_gamma.h"
#include "nbody6/galaxy/jet.h"

#include <math.h>

/* The order is a constant in each call: loops over terms come out as straight code, for each order. */
#define INLINE static inline __attribute__((always_inline))

/* x^2 + y^2 (+ z^2) + more */
INLINE struct nb6_jet square(const struct nb6_jet *x, int components, double more, int order)
{
    struct nb6_jet sum = {{more}};
    for (int d = 0; d < components; d++) {
        const struct nb6_jet product = nb6_jet_multiply(&x[d], &x[d], order);
        sum = nb6_jet_add(&sum, &product, order);
    }
    return sum;
}

INLINE void add(const struct nb6_jet *factor, const struct nb6_jet *x, int order, struct nb6_jet *acc)
{
    const struct nb6_jet product = nb6_jet_multiply(factor, x, order);
    for (int k = 0; k <= order; k++) acc->c[k] -= product.c[k];
}

INLINE void add_central(const struct nb6_jet *factor, const struct nb6_jet x[3], int order, struct nb6_jet acc[3])
{
    for (int d = 0; d < 3; d++) add(factor, &x[d], order, &acc[d]);
}

/* m u^(-3/2) */
INLINE struct nb6_jet inverse_cube(double m, const struct nb6_jet *u, int order)
{
    return nb6_jet_power(u, -1.5, m / (u->c[0] * sqrt(u->c[0])), order);
}

/* ---- parts of the galaxy ---- */

INLINE void add_point_mass(double mass, const struct nb6_jet x[3], int order, struct nb6_jet acc[3])
{
    const struct nb6_jet r2 = square(x, 3, 0, order), factor = inverse_cube(mass, &r2, order);
    add_central(&factor, x, order, acc);
}

/* Without a call of the library for the usual slopes. */
static double power_of(double x, double power)
{
    if (power == 0) return 1;
    if (power == -1) return 1 / x;
    return power == -2 ? 1 / (x * x) : pow(x, power);
}

/* GMB (r/(r + AR))^-GAM (r + AR)^-3 */
INLINE void add_bulge(const double *p, const struct nb6_jet x[3], int order, struct nb6_jet acc[3])
{
    const double slope = p[NB6_GALAXY_BULGE_SLOPE];
    const struct nb6_jet r2 = square(x, 3, 0, order), r = nb6_jet_power(&r2, 0.5, sqrt(r2.c[0]), order);
    const struct nb6_jet outer = nb6_jet_shift(r, p[NB6_GALAXY_BULGE_LENGTH]);
    const double o = 1 / outer.c[0];
    const struct nb6_jet inverse = nb6_jet_power(&outer, -1, o, order), ratio = nb6_jet_multiply(&r, &inverse, order);
    const struct nb6_jet cube = nb6_jet_power(&outer, -3, p[NB6_GALAXY_BULGE_MASS] * o * o * o, order);
    const struct nb6_jet core = nb6_jet_power(&ratio, -slope, power_of(ratio.c[0], -slope), order);
    const struct nb6_jet factor = nb6_jet_multiply(&core, &cube, order);
    add_central(&factor, x, order, acc);
}

INLINE void add_disk(const double *p, const struct nb6_jet x[3], int order, struct nb6_jet acc[3])
{
    const double height = p[NB6_GALAXY_DISK_HEIGHT];
    const struct nb6_jet s2 = square(x + 2, 1, height * height, order);
    const struct nb6_jet s = nb6_jet_power(&s2, 0.5, sqrt(s2.c[0]), order);
    const struct nb6_jet inverse = nb6_jet_power(&s, -1, 1 / s.c[0], order);
    const struct nb6_jet u = nb6_jet_shift(s, p[NB6_GALAXY_DISK_LENGTH]), u2 = nb6_jet_multiply(&u, &u, order);
    const struct nb6_jet plane2 = square(x, 2, 0, order), d2 = nb6_jet_add(&plane2, &u2, order);
    const struct nb6_jet plane = inverse_cube(p[NB6_GALAXY_DISK_MASS], &d2, order);
    const struct nb6_jet ratio = nb6_jet_multiply(&u, &inverse, order), up = nb6_jet_multiply(&plane, &ratio, order);
    add(&plane, &x[0], order, &acc[0]);
    add(&plane, &x[1], order, &acc[1]);
    add(&up, &x[2], order, &acc[2]);
}

INLINE void add_halo(const double *p, const struct nb6_jet x[3], int order, struct nb6_jet acc[3])
{
    const struct nb6_jet u = square(x, 3, p[NB6_GALAXY_HALO_R2], order);
    const struct nb6_jet factor = nb6_jet_power(&u, -1, p[NB6_GALAXY_HALO_V2] / u.c[0], order);
    add_central(&factor, x, order, acc);
}

/* A sphere of mass M(r) within r: -M(r)/r^3 x.   @param[in] rate  dM/dr along the path */
INLINE void add_sphere(double mass, const struct nb6_jet *rate, const struct nb6_jet *r, const struct nb6_jet *r2,
                       const struct nb6_jet x[3], int order, struct nb6_jet acc[3])
{
    const struct nb6_jet inside = nb6_jet_integral(rate, r, mass, order), cube = inverse_cube(1, r2, order);
    const struct nb6_jet factor = nb6_jet_multiply(&inside, &cube, order);
    add_central(&factor, x, order, acc);
}

/* M(r) = M P((3 - GAM)/2, u), u = (r/AR)^2, P the incomplete gamma function over the whole one */
static double cut_bulge_mass(const double *p, double u)
{
    const double a = 0.5 * (3 - p[NB6_GALAXY_BULGE_SLOPE]);
    double below, above;
    nb6_incomplete_gamma(a, u, &below, &above);
    return p[NB6_GALAXY_CUT_BULGE_MASS] * (below / (below + above));
}

/* dM/dr = 2 M/(Gamma AR) (r/AR)^(2 - GAM) exp(-u) */
INLINE void add_cut_bulge(const double *p, const struct nb6_jet x[3], int order, struct nb6_jet acc[3])
{
    const double cut = p[NB6_GALAXY_BULGE_LENGTH], slope = p[NB6_GALAXY_BULGE_SLOPE];
    const struct nb6_jet r2 = square(x, 3, 0, order), r = nb6_jet_power(&r2, 0.5, sqrt(r2.c[0]), order);
    const struct nb6_jet u = nb6_jet_scale(-1 / (cut * cut), &r2, order);
    const double scale = 2 * p[NB6_GALAXY_CUT_BULGE_MASS] / (tgamma(0.5 * (3 - slope)) * cut);
    const struct nb6_jet outside = nb6_jet_exp(&u, exp(u.c[0]), order);
    const struct nb6_jet inside = nb6_jet_power(&r, 2 - slope, scale * pow(r.c[0] / cut, 2 - slope), order);
    const struct nb6_jet rate = nb6_jet_multiply(&inside, &outside, order);
    add_sphere(cut_bulge_mass(p, -u.c[0]), &rate, &r, &r2, x, order, acc);
}

/* dM/dr = M_s r/(r + r_s)^2 */
INLINE void add_nfw(const double *p, const struct nb6_jet x[3], int order, struct nb6_jet acc[3])
{
    const double mass = p[NB6_GALAXY_NFW_MASS], length = p[NB6_GALAXY_NFW_LENGTH];
    const struct nb6_jet r2 = square(x, 3, 0, order), r = nb6_jet_power(&r2, 0.5, sqrt(r2.c[0]), order);
    const struct nb6_jet outer = nb6_jet_shift(r, length);
    const double o = 1 / outer.c[0];
    const struct nb6_jet inverse2 = nb6_jet_power(&outer, -2, mass * o * o, order);
    const struct nb6_jet rate = nb6_jet_multiply(&r, &inverse2, order);
    add_sphere(mass * (log1p(r.c[0] / length) - r.c[0] * o), &rate, &r, &r2, x, order, acc);
}

/* nb6_jet_power takes derivatives of the value that it is given, so that it may hold a factor. */
INLINE void accelerate(const double *p, const struct nb6_jet x[3], int order, struct nb6_jet acc[3])
{
    for (int d = 0; d < 3; d++) acc[d] = (struct nb6_jet){{0}};
    if (p[NB6_GALAXY_POINT_MASS] > 0) add_point_mass(p[NB6_GALAXY_POINT_MASS], x, order, acc);
    if (p[NB6_GALAXY_BULGE_MASS] > 0) add_bulge(p, x, order, acc);
    if (p[NB6_GALAXY_DISK_MASS] > 0) add_disk(p, x, order, acc);
    if (p[NB6_GALAXY_HALO_V2] > 0) add_halo(p, x, order, acc);
    if (p[NB6_GALAXY_CUT_BULGE_MASS] > 0) add_cut_bulge(p, x, order, acc);
    if (p[NB6_GALAXY_NFW_MASS] > 0) add_nfw(p, x, order, acc);
}

void nb6_galaxy_acceleration(const double parameter[NB6_EXTERNAL_PARAMETERS], const struct nb6_jet x[3], int order,
                             struct nb6_jet acc[3])
{
    switch (order) {
    case 0:
        accelerate(parameter, x, 0, acc);
        break;
    case 1:
        accelerate(parameter, x, 1, acc);
        break;
    case 2:
        accelerate(parameter, x, 2, acc);
        break;
    default:
        accelerate(parameter, x, 3, acc);
        break;
    }
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
    double below, above;
    nb6_incomplete_gamma(1 - 0.5 * slope, u, &below, &above);
    return -cut_bulge_mass(p, u) / r - p[NB6_GALAXY_CUT_BULGE_MASS] / (tgamma(0.5 * (3 - slope)) * cut) * above;
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

/* ---- gas ---- */

int nb6_gas_is_leaving(const double parameter[NB6_EXTERNAL_PARAMETERS], double t)
{
    return parameter[NB6_GALAXY_GAS_RATE] > 0 && t >= parameter[NB6_GALAXY_GAS_DELAY];
}

void nb6_gas_mass(const double parameter[NB6_EXTERNAL_PARAMETERS], double t, int leaving, double mass[4])
{
    const double rate = leaving ? parameter[NB6_GALAXY_GAS_RATE] : 0;
    const double u = 1 + rate * (t - parameter[NB6_GALAXY_GAS_DELAY]);
    mass[0] = parameter[NB6_GALAXY_GAS_MASS] / u;
    for (int k = 1; k < 4; k++) mass[k] = -k * rate / u * mass[k - 1];
}

void nb6_gas_acceleration(const double parameter[NB6_EXTERNAL_PARAMETERS], const struct nb6_jet *mass,
                          const struct nb6_jet x[3], int order, struct nb6_jet acc[3])
{
    const struct nb6_jet r2 = square(x, 3, parameter[NB6_GALAXY_GAS_R2], order), unit = inverse_cube(1, &r2, order);
    const struct nb6_jet factor = nb6_jet_multiply(mass, &unit, order);
    for (int d = 0; d < 3; d++) acc[d] = (struct nb6_jet){{0}};
    add_central(&factor, x, order, acc);
}

double nb6_gas_potential(const double parameter[NB6_EXTERNAL_PARAMETERS], const double x[3])
{
    return -1 / sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + parameter[NB6_GALAXY_GAS_R2]);
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
