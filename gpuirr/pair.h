/** The force of one neighbour as GPUs sum it, for the backend `cuda` and the device engine of nbody6, and the limits
 *  within which floats are good enough, for all backends. Private to the program. */
#ifndef GPUIRR_PAIR_H
#define GPUIRR_PAIR_H

#include "common/hd.h"

#include <math.h>

/** Squares of distances from here to there are summed in float. */
#define GPUIRR_MIN_R2 1e-18f
#define GPUIRR_MAX_R2 1e12f

/** Masses for which m/r^3 fits a float at all of these distances. */
#define GPUIRR_MIN_MASS 1e-18
#define GPUIRR_MAX_MASS 1e9

/** A neighbour is strong if its force is STRONG times that of one of mean mass at the edge of the sphere, where r^2 is
 *  EDGE times its mean, as in a homogeneous sphere. */
#define GPUIRR_STRONG 256.0f
#define GPUIRR_EDGE (5.0f / 3.0f)

/** Shorter lists are summed in double: in few-body problems one or two pairs dominate a force. */
#define GPUIRR_SHORT_LIST 8

/** Two sums of forces differ by rounding errors of up to this part of the sum of their magnitudes, in float; in
 *  double of this part of it and of the effect of rounding of positions on it (gpuirr_noise_in_double). */
#define GPUIRR_NOISE_FLOAT 0x1p-22f
#define GPUIRR_NOISE_DOUBLE 0x1p-51

/** Position and velocity of a neighbour relative to the body, its mass, and |x|^2, rounded. */
struct gpuirr_float_pair {
    float dx[3], dv[3], m, r2;
};

NBC_HD struct gpuirr_float_pair gpuirr_round_pair(const double x[3], const double v[3], double mass)
{
    struct gpuirr_float_pair pair;
    for (int k = 0; k < 3; k++) {
        pair.dx[k] = (float)x[k];
        pair.dv[k] = (float)v[k];
    }
    pair.m = (float)mass;
    pair.r2 = pair.dx[0] * pair.dx[0] + pair.dx[1] * pair.dx[1] + pair.dx[2] * pair.dx[2];
    return pair;
}

/** Neighbours with strong m > r^2 are strong. NaN is not for floats. */
NBC_HD int gpuirr_is_for_floats(const struct gpuirr_float_pair *pair, float strong)
{
    return pair->r2 >= GPUIRR_MIN_R2 && pair->r2 <= GPUIRR_MAX_R2 && pair->r2 >= strong * pair->m;
}

/** NA12 eq. 8 and 9 in float.   @param[in,out] sum  acceleration and jerk   @return 1/r^2 */
NBC_HD float gpuirr_add_in_float(const struct gpuirr_float_pair *pair, float sum[6])
{
    const float *dx = pair->dx, *dv = pair->dv;
    const float rv = dx[0] * dv[0] + dx[1] * dv[1] + dx[2] * dv[2];
    const float rinv = nbc_inverse_root(pair->r2), rinv2 = rinv * rinv, mr3 = pair->m * rinv * rinv2;
    const float alpha = -3.0f * rv * rinv2;
    for (int k = 0; k < 3; k++) {
        sum[k] += mr3 * dx[k];
        sum[3 + k] += mr3 * (dv[k] + alpha * dx[k]);
    }
    return rinv2;
}

NBC_HD double gpuirr_square(const double x[3])
{
    return x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
}

/** The same in double.   @param[in] r2  |x|^2, not zero */
NBC_HD void gpuirr_add_in_double(const double x[3], const double v[3], double mass, double r2, double acc[3],
                                 double jerk[3])
{
    const double rv = x[0] * v[0] + x[1] * v[1] + x[2] * v[2];
    const double rinv = nbc_inverse_root_in_double(r2), rinv2 = rinv * rinv;
    const double mr3 = mass * (rinv * rinv2), alpha = -3 * rv * rinv2;
    for (int k = 0; k < 3; k++) {
        acc[k] += mr3 * x[k];
        jerk[k] += mr3 * (v[k] + alpha * x[k]);
    }
}

/** Add the float sums to those in double, and clear them. */
NBC_HD void gpuirr_flush(float part[6], double acc[3], double jerk[3])
{
    for (int k = 0; k < 3; k++) {
        acc[k] += (double)part[k];
        jerk[k] += (double)part[3 + k];
        part[k] = part[3 + k] = 0;
    }
}

/** Rounding error of the force of one neighbour in double, 0 if r2 is: positions are right to 2^-53 of their distance
 *  from the origin, and the force changes by twice that over the distance of the pair.
 *  @param[in] r2  squared distance of the pair   @param[in] from_origin  of the body that feels the force */
NBC_HD double gpuirr_noise_at_distance(double mass, double r2, double from_origin)
{
    if (!(r2 > 0)) return 0;
    const double rinv = nbc_inverse_root_in_double(r2);
    return GPUIRR_NOISE_DOUBLE * fabs(mass) * rinv * rinv * (1 + from_origin * rinv);
}

/** The same.   @param[in] x  of the body that feels the force */
NBC_HD double gpuirr_noise_in_double(double mass, double r2, const double x[3])
{
    return gpuirr_noise_at_distance(mass, r2, sqrt(gpuirr_square(x)));
}

#endif
