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
    const double root = sqrt(u->c[0]), cube = 1 / (u->c[0] * root);
    return nb6_jet_power(u, cube * root, -1.5, m * cube, order);
}

/* ---- parts of the galaxy ---- */

/** Numbers that the parts need at a place and that take more than arithmetic: they do not depend on the path through
 *  it. */
struct nb6_place {
    double r, cube;     /**< distance from the centre, 1/r^3 */
    double bulge;       /**< (r/(r + AR))^-GAM */
    double cut_inside;  /**< M(r) of the bulge with a cut-off */
    double cut_outside; /**< dM/dr of it */
    double nfw_inside;  /**< M(r) of the halo with a cusp */
};

/* Without a call of the library for the usual slopes. */
NBC_HD double nb6_power_of(double x, double power)
{
    if (power == 0) return 1;
    if (power == -1) return 1 / x;
    return power == -2 ? 1 / (x * x) : pow(x, power);
}

/** M(r) = M P((3 - GAM)/2, u), u = (r/AR)^2, P the lower gamma function over the whole one, and
 *  dM/dr = 2 M/(Gamma AR) (r/AR)^(2 - GAM) exp(-u).   @param[in] inverse  1/r */
NBC_HD double nb6_cut_bulge_mass(const double *p, double r, double inverse, double *rate)
{
    const double slope = p[NB6_GALAXY_BULGE_SLOPE], a = 0.5 * (3 - slope), all = tgamma(a);
    const double s = r / p[NB6_GALAXY_BULGE_LENGTH], unit = p[NB6_GALAXY_CUT_BULGE_MASS] / all;
    const double density = exp((3 - slope) * log(s) - s * s); /* u^a e^-u: where it is large, so is not its exponent */
    *rate = 2 * unit * density * inverse;
    return unit * nb6_lower_gamma(a, s * s, all, density);
}

NBC_HD void nb6_place_at(const double *p, const double x[3], struct nb6_place *at)
{
    const double r2 = x[0] * x[0] + x[1] * x[1] + x[2] * x[2], r = sqrt(r2);
    at->r = r;
    at->cube = 1 / (r2 * r);
    at->bulge = at->cut_inside = at->cut_outside = at->nfw_inside = 0;
    if (p[NB6_GALAXY_BULGE_MASS] > 0)
        at->bulge = nb6_power_of(r / (r + p[NB6_GALAXY_BULGE_LENGTH]), -p[NB6_GALAXY_BULGE_SLOPE]);
    if (p[NB6_GALAXY_CUT_BULGE_MASS] > 0) at->cut_inside = nb6_cut_bulge_mass(p, r, r2 * at->cube, &at->cut_outside);
    if (p[NB6_GALAXY_NFW_MASS] > 0)
        at->nfw_inside =
            p[NB6_GALAXY_NFW_MASS] * (log1p(r / p[NB6_GALAXY_NFW_LENGTH]) - r / (r + p[NB6_GALAXY_NFW_LENGTH]));
}

/* Distance from the centre along a path. */
struct nb6_distance {
    struct nb6_jet r2, r;
    double inverse, inverse2; /* 1/r, 1/r^2 at s = 0 */
};

NB6_STRAIGHT struct nb6_distance nb6_distance_along(const struct nb6_place *at, const struct nb6_jet x[3], int order)
{
    struct nb6_distance d;
    d.r2 = nb6_jet_norm2(x, 3, 0, order);
    d.inverse = d.r2.c[0] * at->cube;
    d.inverse2 = at->r * at->cube;
    d.r = nb6_jet_power(&d.r2, d.inverse2, 0.5, at->r, order);
    return d;
}

/* Add GMB (r/(r + AR))^-GAM (r + AR)^-3. */
NB6_STRAIGHT void nb6_add_bulge(const double *p, const struct nb6_place *at, const struct nb6_distance *d, int order,
                                struct nb6_jet *factor)
{
    const double slope = p[NB6_GALAXY_BULGE_SLOPE];
    const struct nb6_jet outer = nb6_jet_shift(d->r, p[NB6_GALAXY_BULGE_LENGTH]);
    const double o = 1 / outer.c[0];
    const struct nb6_jet inverse = nb6_jet_power(&outer, o, -1, o, order),
                         ratio = nb6_jet_multiply(&d->r, &inverse, order);
    const struct nb6_jet cube = nb6_jet_power(&outer, o, -3, p[NB6_GALAXY_BULGE_MASS] * o * o * o, order);
    const struct nb6_jet core = nb6_jet_power(&ratio, outer.c[0] * d->inverse, -slope, at->bulge, order);
    const struct nb6_jet product = nb6_jet_multiply(&core, &cube, order);
    *factor = nb6_jet_add(factor, &product, order);
}

NB6_STRAIGHT void nb6_add_halo(const double *p, const struct nb6_distance *d, int order, struct nb6_jet *factor)
{
    const struct nb6_jet u = nb6_jet_shift(d->r2, p[NB6_GALAXY_HALO_R2]);
    const double inverse = 1 / u.c[0];
    const struct nb6_jet product = nb6_jet_power(&u, inverse, -1, p[NB6_GALAXY_HALO_V2] * inverse, order);
    *factor = nb6_jet_add(factor, &product, order);
}

/* dM/dr = 2 M/(Gamma AR) (r/AR)^(2 - GAM) exp(-u) */
NB6_STRAIGHT struct nb6_jet nb6_cut_bulge_rate(const double *p, const struct nb6_place *at,
                                               const struct nb6_distance *d, int order)
{
    const double cut = p[NB6_GALAXY_BULGE_LENGTH];
    const struct nb6_jet u = nb6_jet_scale(-1 / (cut * cut), &d->r2, order), outside = nb6_jet_exp(&u, 1, order);
    const struct nb6_jet inside =
        nb6_jet_power(&d->r, d->inverse, 2 - p[NB6_GALAXY_BULGE_SLOPE], at->cut_outside, order);
    return nb6_jet_multiply(&inside, &outside, order);
}

/* dM/dr = M_s r/(r + r_s)^2 */
NB6_STRAIGHT struct nb6_jet nb6_nfw_rate(const double *p, const struct nb6_distance *d, int order)
{
    const struct nb6_jet outer = nb6_jet_shift(d->r, p[NB6_GALAXY_NFW_LENGTH]);
    const double o = 1 / outer.c[0];
    const struct nb6_jet inverse2 = nb6_jet_power(&outer, o, -2, p[NB6_GALAXY_NFW_MASS] * o * o, order);
    return nb6_jet_multiply(&d->r, &inverse2, order);
}

/* Add M(r)/r^3, M(r) the mass within r of all parts that have it. */
NB6_STRAIGHT void nb6_add_inside(const double *p, const struct nb6_place *at, const struct nb6_distance *d, int order,
                                 struct nb6_jet *factor)
{
    const double mass = p[NB6_GALAXY_POINT_MASS] + at->cut_inside + at->nfw_inside;
    struct nb6_jet rate = {{0}};
    if (p[NB6_GALAXY_CUT_BULGE_MASS] > 0) rate = nb6_cut_bulge_rate(p, at, d, order);
    if (p[NB6_GALAXY_NFW_MASS] > 0) {
        const struct nb6_jet nfw = nb6_nfw_rate(p, d, order);
        rate = nb6_jet_add(&rate, &nfw, order);
    }
    const struct nb6_jet inside = nb6_jet_integral(&rate, &d->r, mass, order);
    const struct nb6_jet cube = nb6_jet_power(&d->r2, d->inverse2, -1.5, at->cube, order);
    const struct nb6_jet product = nb6_jet_multiply(&inside, &cube, order);
    *factor = nb6_jet_add(factor, &product, order);
}

NB6_STRAIGHT void nb6_attract_disk(const double *p, const struct nb6_jet x[3], int order, struct nb6_jet acc[3])
{
    const double height = p[NB6_GALAXY_DISK_HEIGHT];
    const struct nb6_jet s2 = nb6_jet_norm2(x + 2, 1, height * height, order);
    const double of_s2 = 1 / s2.c[0], root = sqrt(s2.c[0]), of_s = root * of_s2;
    const struct nb6_jet s = nb6_jet_power(&s2, of_s2, 0.5, root, order);
    const struct nb6_jet inverse = nb6_jet_power(&s2, of_s2, -0.5, of_s, order);
    const struct nb6_jet u = nb6_jet_shift(s, p[NB6_GALAXY_DISK_LENGTH]), u2 = nb6_jet_multiply(&u, &u, order);
    const struct nb6_jet plane2 = nb6_jet_norm2(x, 2, 0, order), d2 = nb6_jet_add(&plane2, &u2, order);
    const struct nb6_jet plane = nb6_jet_inverse_cube(p[NB6_GALAXY_DISK_MASS], &d2, order);
    const struct nb6_jet ratio = nb6_jet_multiply(&u, &inverse, order), up = nb6_jet_multiply(&plane, &ratio, order);
    nb6_attract_axis(&plane, &x[0], order, &acc[0]);
    nb6_attract_axis(&plane, &x[1], order, &acc[1]);
    nb6_attract_axis(&up, &x[2], order, &acc[2]);
}

/* nb6_jet_power takes derivatives of the value that it is given, so that it may hold a factor. */
NB6_STRAIGHT void nb6_attract(const double *p, const struct nb6_place *at, const struct nb6_jet x[3], int order,
                              struct nb6_jet acc[3])
{
    struct nb6_jet factor = {{0}};
    const int has_inside =
        p[NB6_GALAXY_POINT_MASS] > 0 || p[NB6_GALAXY_CUT_BULGE_MASS] > 0 || p[NB6_GALAXY_NFW_MASS] > 0;
    const struct nb6_distance d = nb6_distance_along(at, x, order);
    for (int k = 0; k < 3; k++) acc[k] = nb6_jet_line(0, 0);
    if (has_inside) nb6_add_inside(p, at, &d, order, &factor);
    if (p[NB6_GALAXY_BULGE_MASS] > 0) nb6_add_bulge(p, at, &d, order, &factor);
    if (p[NB6_GALAXY_HALO_V2] > 0) nb6_add_halo(p, &d, order, &factor);
    nb6_attract_central(&factor, x, order, acc);
    if (p[NB6_GALAXY_DISK_MASS] > 0) nb6_attract_disk(p, x, order, acc);
}

/** Acceleration of the galaxy along a path x(s), as a series of the same order.
 *  @param[in] at  nb6_place_at(x)   @param[in] x [3] from its centre */
NB6_CALLED void nb6_attraction_at(const double parameter[NB6_EXTERNAL_PARAMETERS], const struct nb6_place *at,
                                  const struct nb6_jet x[3], int order, struct nb6_jet acc[3])
{
    switch (order) {
    case 0:
        nb6_attract(parameter, at, x, 0, acc);
        break;
    case 1:
        nb6_attract(parameter, at, x, 1, acc);
        break;
    case 2:
        nb6_attract(parameter, at, x, 2, acc);
        break;
    default:
        nb6_attract(parameter, at, x, 3, acc);
        break;
    }
}

/** nb6_attraction_at, of one path through a place. */
NB6_CALLED void nb6_attraction(const double parameter[NB6_EXTERNAL_PARAMETERS], const struct nb6_jet x[3], int order,
                               struct nb6_jet acc[3])
{
    const double place[3] = {x[0].c[0], x[1].c[0], x[2].c[0]};
    struct nb6_place at;
    nb6_place_at(parameter, place, &at);
    nb6_attraction_at(parameter, &at, x, order, acc);
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
