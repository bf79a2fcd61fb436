/** Attraction of the components of a galaxy, and of the gas about a cluster, as series along a path: what device
 * engines have of components.h, which describes them. */
#ifndef NB6_ATTRACTION_H
#define NB6_ATTRACTION_H

#include "common/hd.h"
#include "nbody6/galaxy/field_state.h"
#include "nbody6/galaxy/incomplete_gamma.h"
#include "nbody6/galaxy/jet.h"

#include <math.h>

/* The order is a constant in each call: loops over terms come out as straight code, for each order. */

/* x^2 + y^2 (+ z^2) + more */
NB6_STRAIGHT struct nb6_jet nb6_jet_norm2(const struct nb6_jet *x, int components, double more, int order)
{
    struct nb6_jet sum = {{more}};
    for (int d = 0; d < components; d++) {
        const struct nb6_jet product = nb6_jet_multiply(&x[d], &x[d], order);
        sum = nb6_jet_add(&sum, &product, order);
    }
    return sum;
}

NB6_STRAIGHT void nb6_attract_axis(const struct nb6_jet *factor, const struct nb6_jet *x, int order,
                                   struct nb6_jet *acc)
{
    const struct nb6_jet product = nb6_jet_multiply(factor, x, order);
    for (int k = 0; k <= order; k++) acc->c[k] -= product.c[k];
}

NB6_STRAIGHT void nb6_attract_central(const struct nb6_jet *factor, const struct nb6_jet x[3], int order,
                                      struct nb6_jet acc[3])
{
    for (int d = 0; d < 3; d++) nb6_attract_axis(factor, &x[d], order, &acc[d]);
}

/* m u^(-3/2) */
NB6_STRAIGHT struct nb6_jet nb6_jet_inverse_cube(double m, const struct nb6_jet *u, int order)
{
    return nb6_jet_power(u, -1.5, m / (u->c[0] * sqrt(u->c[0])), order);
}

/* ---- parts of the galaxy ---- */

NB6_STRAIGHT void nb6_attract_point_mass(double mass, const struct nb6_jet x[3], int order, struct nb6_jet acc[3])
{
    const struct nb6_jet r2 = nb6_jet_norm2(x, 3, 0, order), factor = nb6_jet_inverse_cube(mass, &r2, order);
    nb6_attract_central(&factor, x, order, acc);
}

/* Without a call of the library for the usual slopes. */
NBC_HD double nb6_power_of(double x, double power)
{
    if (power == 0) return 1;
    if (power == -1) return 1 / x;
    return power == -2 ? 1 / (x * x) : pow(x, power);
}

/* GMB (r/(r + AR))^-GAM (r + AR)^-3 */
NB6_STRAIGHT void nb6_attract_bulge(const double *p, const struct nb6_jet x[3], int order, struct nb6_jet acc[3])
{
    const double slope = p[NB6_GALAXY_BULGE_SLOPE];
    const struct nb6_jet r2 = nb6_jet_norm2(x, 3, 0, order), r = nb6_jet_power(&r2, 0.5, sqrt(r2.c[0]), order);
    const struct nb6_jet outer = nb6_jet_shift(r, p[NB6_GALAXY_BULGE_LENGTH]);
    const double o = 1 / outer.c[0];
    const struct nb6_jet inverse = nb6_jet_power(&outer, -1, o, order), ratio = nb6_jet_multiply(&r, &inverse, order);
    const struct nb6_jet cube = nb6_jet_power(&outer, -3, p[NB6_GALAXY_BULGE_MASS] * o * o * o, order);
    const struct nb6_jet core = nb6_jet_power(&ratio, -slope, nb6_power_of(ratio.c[0], -slope), order);
    const struct nb6_jet factor = nb6_jet_multiply(&core, &cube, order);
    nb6_attract_central(&factor, x, order, acc);
}

NB6_STRAIGHT void nb6_attract_disk(const double *p, const struct nb6_jet x[3], int order, struct nb6_jet acc[3])
{
    const double height = p[NB6_GALAXY_DISK_HEIGHT];
    const struct nb6_jet s2 = nb6_jet_norm2(x + 2, 1, height * height, order);
    const struct nb6_jet s = nb6_jet_power(&s2, 0.5, sqrt(s2.c[0]), order);
    const struct nb6_jet inverse = nb6_jet_power(&s, -1, 1 / s.c[0], order);
    const struct nb6_jet u = nb6_jet_shift(s, p[NB6_GALAXY_DISK_LENGTH]), u2 = nb6_jet_multiply(&u, &u, order);
    const struct nb6_jet plane2 = nb6_jet_norm2(x, 2, 0, order), d2 = nb6_jet_add(&plane2, &u2, order);
    const struct nb6_jet plane = nb6_jet_inverse_cube(p[NB6_GALAXY_DISK_MASS], &d2, order);
    const struct nb6_jet ratio = nb6_jet_multiply(&u, &inverse, order), up = nb6_jet_multiply(&plane, &ratio, order);
    nb6_attract_axis(&plane, &x[0], order, &acc[0]);
    nb6_attract_axis(&plane, &x[1], order, &acc[1]);
    nb6_attract_axis(&up, &x[2], order, &acc[2]);
}

NB6_STRAIGHT void nb6_attract_halo(const double *p, const struct nb6_jet x[3], int order, struct nb6_jet acc[3])
{
    const struct nb6_jet u = nb6_jet_norm2(x, 3, p[NB6_GALAXY_HALO_R2], order);
    const struct nb6_jet factor = nb6_jet_power(&u, -1, p[NB6_GALAXY_HALO_V2] / u.c[0], order);
    nb6_attract_central(&factor, x, order, acc);
}

/* A sphere of mass M(r) within r: -M(r)/r^3 x.   @param[in] rate  dM/dr along the path */
NB6_STRAIGHT void nb6_attract_sphere(double mass, const struct nb6_jet *rate, const struct nb6_jet *r,
                                     const struct nb6_jet *r2, const struct nb6_jet x[3], int order,
                                     struct nb6_jet acc[3])
{
    const struct nb6_jet inside = nb6_jet_integral(rate, r, mass, order), cube = nb6_jet_inverse_cube(1, r2, order);
    const struct nb6_jet factor = nb6_jet_multiply(&inside, &cube, order);
    nb6_attract_central(&factor, x, order, acc);
}

/* M(r) = M P((3 - GAM)/2, u), u = (r/AR)^2, P the incomplete gamma function over the whole one */
NBC_HD double nb6_cut_bulge_mass(const double *p, double u)
{
    const double a = 0.5 * (3 - p[NB6_GALAXY_BULGE_SLOPE]);
    double below, above;
    nb6_incomplete_gamma(a, u, &below, &above);
    return p[NB6_GALAXY_CUT_BULGE_MASS] * (below / (below + above));
}

/* dM/dr = 2 M/(Gamma AR) (r/AR)^(2 - GAM) exp(-u) */
NB6_STRAIGHT void nb6_attract_cut_bulge(const double *p, const struct nb6_jet x[3], int order, struct nb6_jet acc[3])
{
    const double cut = p[NB6_GALAXY_BULGE_LENGTH], slope = p[NB6_GALAXY_BULGE_SLOPE];
    const struct nb6_jet r2 = nb6_jet_norm2(x, 3, 0, order), r = nb6_jet_power(&r2, 0.5, sqrt(r2.c[0]), order);
    const struct nb6_jet u = nb6_jet_scale(-1 / (cut * cut), &r2, order);
    const double scale = 2 * p[NB6_GALAXY_CUT_BULGE_MASS] / (tgamma(0.5 * (3 - slope)) * cut);
    const struct nb6_jet outside = nb6_jet_exp(&u, exp(u.c[0]), order);
    const struct nb6_jet inside = nb6_jet_power(&r, 2 - slope, scale * pow(r.c[0] / cut, 2 - slope), order);
    const struct nb6_jet rate = nb6_jet_multiply(&inside, &outside, order);
    nb6_attract_sphere(nb6_cut_bulge_mass(p, -u.c[0]), &rate, &r, &r2, x, order, acc);
}

/* dM/dr = M_s r/(r + r_s)^2 */
NB6_STRAIGHT void nb6_attract_nfw(const double *p, const struct nb6_jet x[3], int order, struct nb6_jet acc[3])
{
    const double mass = p[NB6_GALAXY_NFW_MASS], length = p[NB6_GALAXY_NFW_LENGTH];
    const struct nb6_jet r2 = nb6_jet_norm2(x, 3, 0, order), r = nb6_jet_power(&r2, 0.5, sqrt(r2.c[0]), order);
    const struct nb6_jet outer = nb6_jet_shift(r, length);
    const double o = 1 / outer.c[0];
    const struct nb6_jet inverse2 = nb6_jet_power(&outer, -2, mass * o * o, order);
    const struct nb6_jet rate = nb6_jet_multiply(&r, &inverse2, order);
    nb6_attract_sphere(mass * (log1p(r.c[0] / length) - r.c[0] * o), &rate, &r, &r2, x, order, acc);
}

/* nb6_jet_power takes derivatives of the value that it is given, so that it may hold a factor. */
NB6_STRAIGHT void nb6_attract(const double *p, const struct nb6_jet x[3], int order, struct nb6_jet acc[3])
{
    for (int d = 0; d < 3; d++) acc[d] = nb6_jet_line(0, 0);
    if (p[NB6_GALAXY_POINT_MASS] > 0) nb6_attract_point_mass(p[NB6_GALAXY_POINT_MASS], x, order, acc);
    if (p[NB6_GALAXY_BULGE_MASS] > 0) nb6_attract_bulge(p, x, order, acc);
    if (p[NB6_GALAXY_DISK_MASS] > 0) nb6_attract_disk(p, x, order, acc);
    if (p[NB6_GALAXY_HALO_V2] > 0) nb6_attract_halo(p, x, order, acc);
    if (p[NB6_GALAXY_CUT_BULGE_MASS] > 0) nb6_attract_cut_bulge(p, x, order, acc);
    if (p[NB6_GALAXY_NFW_MASS] > 0) nb6_attract_nfw(p, x, order, acc);
}

/** Acceleration of the galaxy along a path x(s), as a series of the same order.   @param[in] x [3] from its centre */
NB6_CALLED void nb6_attraction(const double parameter[NB6_EXTERNAL_PARAMETERS], const struct nb6_jet x[3], int order,
                               struct nb6_jet acc[3])
{
    switch (order) {
    case 0:
        nb6_attract(parameter, x, 0, acc);
        break;
    case 1:
        nb6_attract(parameter, x, 1, acc);
        break;
    case 2:
        nb6_attract(parameter, x, 2, acc);
        break;
    default:
        nb6_attract(parameter, x, 3, acc);
        break;
    }
}

/* ---- gas ---- */

/** Is the gas leaving at t? */
NBC_HD int nb6_gas_is_leaving(const double parameter[NB6_EXTERNAL_PARAMETERS], double t)
{
    return parameter[NB6_GALAXY_GAS_RATE] > 0 && t >= parameter[NB6_GALAXY_GAS_DELAY];
}

/** Mass of the gas and its first three derivatives in time.   @param[in] leaving 1: as after TDELAY, 0: as before */
NBC_HD void nb6_gas_mass(const double parameter[NB6_EXTERNAL_PARAMETERS], double t, int leaving, double mass[4])
{
    const double rate = leaving ? parameter[NB6_GALAXY_GAS_RATE] : 0;
    const double u = 1 + rate * (t - parameter[NB6_GALAXY_GAS_DELAY]);
    mass[0] = parameter[NB6_GALAXY_GAS_MASS] / u;
    for (int k = 1; k < 4; k++) mass[k] = -k * rate / u * mass[k - 1];
}

/** Acceleration of the gas along a path.   @param[in] mass  series along the same path */
NB6_CALLED void nb6_gas_acceleration(const double parameter[NB6_EXTERNAL_PARAMETERS], const struct nb6_jet *mass,
                                     const struct nb6_jet x[3], int order, struct nb6_jet acc[3])
{
    const struct nb6_jet r2 = nb6_jet_norm2(x, 3, parameter[NB6_GALAXY_GAS_R2], order),
                         unit = nb6_jet_inverse_cube(1, &r2, order);
    const struct nb6_jet factor = nb6_jet_multiply(mass, &unit, order);
    for (int d = 0; d < 3; d++) acc[d] = nb6_jet_line(0, 0);
    nb6_attract_central(&factor, x, order, acc);
}

/** Potential of a unit mass of gas. */
NBC_HD double nb6_gas_potential(const double parameter[NB6_EXTERNAL_PARAMETERS], const double x[3])
{
    return -1 / sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + parameter[NB6_GALAXY_GAS_R2]);
}

#endif
