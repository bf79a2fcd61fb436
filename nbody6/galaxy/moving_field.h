/** The field of moving.h, as hosts and devices compute it: its force on a body, rounding error, longest step, largest
 *  gradient and work. */
#ifndef NB6_MOVING_FIELD_H
#define NB6_MOVING_FIELD_H

#include "common/hd.h"
#include "nbody6/galaxy/attraction.h"
#include "nbody6/galaxy/field_state.h"
#include "nbody6/galaxy/jet.h"
#include "nbody6/galaxy/orbit_at.h"

#include <math.h>
#include <string.h>

/* Steps that end at or after the begin of the gas's leaving, or begin with it, are no longer than this part of the time
 * in which half of it goes: the force at their ends does not show when the change began. Later steps follow from the
 * derivatives of the force. */
#define NB6_ACROSS_BEGIN (1.0 / 64)

/** Does the galaxy act, or the gas alone? */
NBC_HD int nb6_moving_has_galaxy(const struct nb6_external *external)
{
    const double *p = external->parameter;
    return p[NB6_GALAXY_POINT_MASS] > 0 || p[NB6_GALAXY_BULGE_MASS] > 0 || p[NB6_GALAXY_DISK_MASS] > 0 ||
           p[NB6_GALAXY_HALO_V2] > 0 || p[NB6_GALAXY_CUT_BULGE_MASS] > 0 || p[NB6_GALAXY_NFW_MASS] > 0;
}

NBC_HD double nb6_norm_of_place(const double x[3])
{
    return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}

NBC_HD int nb6_moving_has_gas(const struct nb6_external *external)
{
    return external->parameter[NB6_GALAXY_GAS_MASS] > 0;
}

/** The point of the orbit at a time, from which a galaxy acts on all bodies; without a galaxy it is not set. */
NBC_HD void nb6_moving_at(const struct nb6_external *external, double t, struct nb6_orbit_point *r)
{
    if (nb6_moving_has_galaxy(external)) nb6_orbit_at(external, t, r);
}

/* ---- forces along a path ---- */

/* Force of the galaxy on a body whose path in the frame has these coefficients, minus the force on the frame. */
NBC_HD void nb6_moving_add_galaxy(const struct nb6_external *external, const struct nb6_orbit_point *r,
                                  const struct nb6_jet body[3], int order, struct nb6_jet acc[3])
{
    struct nb6_jet path[3], frame[3], there[3], here[3];
    for (int k = 0; k < 3; k++) {
        frame[k] = nb6_jet_of(r->x[k], r->v[k], r->acc[k] / 2, r->jerk[k] / 6);
        path[k] = nb6_jet_add(&frame[k], &body[k], order);
        here[k] = nb6_jet_of(r->acc[k], r->jerk[k], r->snap[k] / 2, 0);
    }
    nb6_attraction(external->parameter, path, order, there);
    if (order > 2) nb6_attraction(external->parameter, frame, order, here);
    for (int k = 0; k < 3; k++)
        for (int m = 0; m <= order; m++) acc[k].c[m] += there[k].c[m] - here[k].c[m];
}

NBC_HD void nb6_moving_add_gas(const struct nb6_external *external, double t, const struct nb6_jet body[3], int order,
                               struct nb6_jet acc[3])
{
    const double *p = external->parameter;
    struct nb6_jet force[3];
    double mass[4];
    nb6_gas_mass(p, t, nb6_gas_is_leaving(p, t), mass);
    const struct nb6_jet series = nb6_jet_of(mass[0], mass[1], mass[2] / 2, mass[3] / 6);
    nb6_gas_acceleration(p, &series, body, order, force);
    for (int k = 0; k < 3; k++) acc[k] = nb6_jet_add(&acc[k], &force[k], order);
}

/** Acceleration along the path of a body, as a series.   @param[in] r  nb6_moving_at(t) */
NB6_CALLED void nb6_moving_along_path(const struct nb6_external *external, double t, const struct nb6_orbit_point *r,
                                      const struct nb6_jet body[3], int order, struct nb6_jet acc[3])
{
    memset(acc, 0, 3 * sizeof *acc);
    if (nb6_moving_has_galaxy(external)) nb6_moving_add_galaxy(external, r, body, order, acc);
    if (nb6_moving_has_gas(external)) nb6_moving_add_gas(external, t, body, order, acc);
}

/** Acceleration and jerk at time t at x, v. */
NBC_HD void nb6_moving_field_force(const struct nb6_external *external, double t, const struct nb6_orbit_point *r,
                                   const double x[3], const double v[3], double ext_acc[3], double ext_jerk[3])
{
    struct nb6_jet body[3], force[3];
    for (int k = 0; k < 3; k++) body[k] = nb6_jet_line(x[k], v[k]);
    nb6_moving_along_path(external, t, r, body, 1, force);
    for (int k = 0; k < 3; k++) {
        ext_acc[k] = force[k].c[0];
        ext_jerk[k] = force[k].c[1];
    }
}

/** Forces of the galaxy on a body and on the frame are right to some roundings of themselves, places to one of the
 * distance from the centre, over which a force changes by about itself. */
NBC_HD double nb6_moving_field_noise(const struct nb6_external *external, const struct nb6_orbit_point *r,
                                     const double x[3])
{
    double noise = 0;
    if (nb6_moving_has_galaxy(external)) noise += 0x1p-50 * nb6_norm_of_place(r->acc);
    if (nb6_moving_has_gas(external)) {
        const double r2 = external->parameter[NB6_GALAXY_GAS_R2] + nb6_norm_of_place(x) * nb6_norm_of_place(x);
        noise += 0x1p-52 * external->parameter[NB6_GALAXY_GAS_MASS] * nb6_norm_of_place(x) / (r2 * sqrt(r2));
    }
    return noise;
}

/** Norm (Frobenius) of the gradient of the acceleration at x. */
NB6_CALLED double nb6_moving_field_strongest(const struct nb6_external *external, double t,
                                             const struct nb6_orbit_point *r, const double x[3])
{
    double sum = 0;
    for (int axis = 0; axis < 3; axis++) {
        struct nb6_jet path[3], force[3];
        double row[3] = {0, 0, 0}, mass[4];
        if (nb6_moving_has_galaxy(external)) {
            for (int k = 0; k < 3; k++) path[k] = nb6_jet_line(r->x[k] + x[k], k == axis ? 1.0 : 0.0);
            nb6_attraction(external->parameter, path, 1, force);
            for (int k = 0; k < 3; k++) row[k] += force[k].c[1];
        }
        if (nb6_moving_has_gas(external)) {
            for (int k = 0; k < 3; k++) path[k] = nb6_jet_line(x[k], k == axis ? 1.0 : 0.0);
            nb6_gas_mass(external->parameter, t, nb6_gas_is_leaving(external->parameter, t), mass);
            const struct nb6_jet gas = nb6_jet_line(mass[0], 0);
            nb6_gas_acceleration(external->parameter, &gas, path, 1, force);
            for (int k = 0; k < 3; k++) row[k] += force[k].c[1];
        }
        sum += row[0] * row[0] + row[1] * row[1] + row[2] * row[2];
    }
    return sqrt(sum);
}

/* ---- work ---- */

/* Partial derivative in time of the potential at x, and its derivative along the path of the body. Of the galaxy:
 * x F' - V (F(R + x) - F), V = R', which is of second order in x. */
NBC_HD void nb6_moving_add_galactic_rate(const struct nb6_external *external, const struct nb6_moment *at,
                                         const struct nb6_orbit_point *r, double rate[2])
{
    struct nb6_jet path[3], there[3];
    for (int k = 0; k < 3; k++) path[k] = nb6_jet_line(r->x[k] + at->x[k], r->v[k] + at->v[k]);
    nb6_attraction(external->parameter, path, 1, there);
    for (int k = 0; k < 3; k++) {
        const double pull = there[k].c[0] - r->acc[k], change = there[k].c[1] - r->jerk[k];
        rate[0] += at->x[k] * r->jerk[k] - r->v[k] * pull;
        rate[1] += at->v[k] * r->jerk[k] + at->x[k] * r->snap[k] - r->acc[k] * pull - r->v[k] * change;
    }
}

NBC_HD void nb6_moving_add_gas_rate(const struct nb6_external *external, const struct nb6_moment *at, int leaving,
                                    double rate[2])
{
    const double *x = at->x, *v = at->v, phi = nb6_gas_potential(external->parameter, x);
    double mass[4];
    nb6_gas_mass(external->parameter, at->t, leaving, mass);
    rate[0] += mass[1] * phi;
    rate[1] += mass[2] * phi - mass[1] * phi * phi * phi * (x[0] * v[0] + x[1] * v[1] + x[2] * v[2]);
}

/** That of both together.   @param[in] r  nb6_moving_at(at->t)   @param[in] leaving  as nb6_gas_mass */
NB6_CALLED void nb6_moving_field_rate(const struct nb6_external *external, const struct nb6_moment *at,
                                      const struct nb6_orbit_point *r, int leaving, double rate[2])
{
    rate[0] = rate[1] = 0;
    if (nb6_moving_has_galaxy(external)) nb6_moving_add_galactic_rate(external, at, r, rate);
    if (nb6_moving_has_gas(external)) nb6_moving_add_gas_rate(external, at, leaving, rate);
}

/** Hermite's rule over a step h, from the rates at both ends. */
NBC_HD double nb6_moving_work_between(double h, const double from[2], const double to[2])
{
    return h / 2 * (from[0] + to[0] + h / 6 * (from[1] - to[1]));
}

NBC_HD double nb6_moving_work_of_part(const struct nb6_external *external, const struct nb6_moment *from,
                                      const struct nb6_moment *to)
{
    const double h = to->t - from->t;
    const int leaving = nb6_gas_is_leaving(external->parameter, from->t + 0.5 * h);
    struct nb6_orbit_point r;
    double begin[2], end[2];
    nb6_moving_at(external, from->t, &r);
    nb6_moving_field_rate(external, from, &r, leaving, begin);
    nb6_moving_at(external, to->t, &r);
    nb6_moving_field_rate(external, to, &r, leaving, end);
    return nb6_moving_work_between(h, begin, end);
}

/* Cubic polynomial through both ends. */
NBC_HD void nb6_moving_between(const struct nb6_moment *from, const struct nb6_moment *to, double t, double x[3],
                               double v[3])
{
    const double h = to->t - from->t, s = (t - from->t) / h;
    for (int k = 0; k < 3; k++) {
        const double d = to->x[k] - from->x[k], a = h * from->v[k] - d, b = d - h * to->v[k];
        x[k] = from->x[k] + s * d + s * (1 - s) * ((1 - s) * a + s * b);
        v[k] = (d + (1 - 2 * s) * ((1 - s) * a + s * b) + s * (1 - s) * (b - a)) / h;
    }
}

/** Whether the gas begins to leave between two times. */
NBC_HD int nb6_moving_begins_between(const struct nb6_external *external, double from, double to)
{
    const double begin = external->parameter[NB6_GALAXY_GAS_DELAY];
    return external->parameter[NB6_GALAXY_GAS_RATE] > 0 && begin > from && begin < to;
}

/** Work per unit mass. If the gas begins to leave within a step, it is two here. */
NBC_HD double nb6_moving_field_work(const struct nb6_external *external, const struct nb6_moment *from,
                                    const struct nb6_moment *to)
{
    const double begin = external->parameter[NB6_GALAXY_GAS_DELAY];
    double x[3], v[3];
    if (!(to->t > from->t)) return 0;
    if (!nb6_moving_begins_between(external, from->t, to->t)) return nb6_moving_work_of_part(external, from, to);
    nb6_moving_between(from, to, begin, x, v);
    const struct nb6_moment middle = {begin, x, v};
    return nb6_moving_work_of_part(external, from, &middle) + nb6_moving_work_of_part(external, &middle, to);
}

/** Longest step from time t on, as nb6_external_longest_step. */
NBC_HD double nb6_moving_field_longest_step(const struct nb6_external *external, double t)
{
    const double *p = external->parameter, wait = p[NB6_GALAXY_GAS_DELAY] - t;
    if (!nb6_moving_has_gas(external) || !(p[NB6_GALAXY_GAS_RATE] > 0) || wait < 0) return INFINITY;
    return fmax(wait / 2, NB6_ACROSS_BEGIN / p[NB6_GALAXY_GAS_RATE]);
}

#endif
