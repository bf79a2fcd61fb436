/** The pull of a mass on a body, and how a pull leaves the polynomials of a body: shared by engines on processors and
 *  devices. */
#ifndef NB6_PULL_H
#define NB6_PULL_H

#include "common/hd.h"
#include "nbody6/state/body.h"

#include <math.h>

/** Acceleration and jerk by a mass at y with velocity w of a body at x with v.   @return 0: both are in one place */
NBC_HD int nb6_pull(double mass, const double y[3], const double w[3], const double x[3], const double v[3],
                    double acc[3], double jerk[3])
{
    double dx[3], dv[3], r2 = 0, xv = 0;
    for (int k = 0; k < 3; k++) {
        dx[k] = y[k] - x[k];
        dv[k] = w[k] - v[k];
        r2 += dx[k] * dx[k];
        xv += dx[k] * dv[k];
    }
    if (!(r2 > 0)) return 0;
    const double m = mass / (r2 * sqrt(r2)), alpha = 3 * xv / r2;
    for (int k = 0; k < 3; k++) {
        acc[k] = m * dx[k];
        jerk[k] = m * (dv[k] - alpha * dx[k]);
    }
    return 1;
}

/** A body loses an acceleration and jerk at its own time. Position and velocity at s after it stay the same. */
NBC_HD void nb6_pull_less(struct nb6_body *body, double s, const double acc[3], const double jerk[3])
{
    for (int k = 0; k < 3; k++) {
        body->x0[k] -= s * s * (acc[k] / 2 + s * jerk[k] / 3);
        body->v0[k] += s * (acc[k] + s * jerk[k] / 2);
        body->acc[k] -= acc[k];
        body->jerk[k] -= jerk[k];
    }
}

/** Acceleration and jerk at one time in each of the two polynomials of a body. */
struct nb6_pulls {
    double acc_irr[3], jerk_irr[3], acc_reg[3], jerk_reg[3];
};

/** These at time t leave the polynomials of a body, which begin earlier: extended backwards with their jerk. The body
 *  is at time t where it was. */
NBC_HD void nb6_pulls_leave(const struct nb6_pulls *pulls, nb6_time t, struct nb6_body *body, struct nb6_star *star)
{
    const double s = nb6_time_to_double(t - body->t0), r = nb6_time_to_double(t - star->t0_reg);
    double acc[3], jerk[3];
    for (int k = 0; k < 3; k++) {
        const double irr = pulls->acc_irr[k] - s * pulls->jerk_irr[k];
        star->acc_irr[k] -= irr;
        star->jerk_irr[k] -= pulls->jerk_irr[k];
        star->acc_reg[k] -= pulls->acc_reg[k] - r * pulls->jerk_reg[k];
        star->jerk_reg[k] -= pulls->jerk_reg[k];
        acc[k] = irr + (pulls->acc_reg[k] - s * pulls->jerk_reg[k]);
        jerk[k] = pulls->jerk_irr[k] + pulls->jerk_reg[k];
    }
    nb6_pull_less(body, s, acc, jerk);
}

#endif
