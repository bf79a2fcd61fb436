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

/** A mass where it is at the time of a change, whose pull leaves all others. */
struct nb6_pull_source {
    nb6_index body; /**< or its place in an image; -1: it has none there */
    int32_t spare;
    double mass, x[3], v[3];
};

/** Changes the fourth power of no distance but zero, at which there is no force then, and no division by zero. */
#define NB6_AT_ORIGIN 1e-290

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

/** Add the pulls of n sources at x, v to the regular part: the same bits as by vectors (fewbody/vector_sums_kernel.h),
 *  where source k is in lane k modulo 8 of a cell, and lanes are added in their order. */
NBC_HD void nb6_pulls_of_sources(int64_t n, const struct nb6_pull_source *source, const double at[3],
                                 const double v_at[3], struct nb6_pulls *pulls)
{
    enum { LANES = 8 };
    for (int l = 0; l < LANES; l++) {
        double acc[3] = {0, 0, 0}, jerk[3] = {0, 0, 0};
        for (int64_t k = l; k < n; k += LANES) {
            const struct nb6_pull_source *s = &source[k];
            const double x = s->x[0] - at[0], y = s->x[1] - at[1], z = s->x[2] - at[2];
            const double vx = s->v[0] - v_at[0], vy = s->v[1] - v_at[1], vz = s->v[2] - v_at[2];
            const double r2 = x * x + y * y + z * z, inv2 = r2 / (r2 * r2 + NB6_AT_ORIGIN);
            const double w = s->mass * inv2 * sqrt(inv2), alpha = 3 * (x * vx + y * vy + z * vz) * inv2;
            acc[0] += w * x;
            acc[1] += w * y;
            acc[2] += w * z;
            jerk[0] += w * (vx - alpha * x);
            jerk[1] += w * (vy - alpha * y);
            jerk[2] += w * (vz - alpha * z);
        }
        for (int d = 0; d < 3; d++) {
            pulls->acc_reg[d] += acc[d];
            pulls->jerk_reg[d] += jerk[d];
        }
    }
}

/** The pull of a mass at y with velocity w, which is in the list of a body at x, v, goes from the regular to the
 *  irregular part. */
NBC_HD void nb6_pull_to_irregular(double mass, const double y[3], const double w[3], const double x[3],
                                  const double v[3], struct nb6_pulls *pulls)
{
    double acc[3], jerk[3];
    if (!nb6_pull(mass, y, w, x, v, acc, jerk)) return;
    for (int k = 0; k < 3; k++) {
        pulls->acc_irr[k] += acc[k];
        pulls->jerk_irr[k] += jerk[k];
        pulls->acc_reg[k] -= acc[k];
        pulls->jerk_reg[k] -= jerk[k];
    }
}

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
