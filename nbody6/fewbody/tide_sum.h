/** The tide of a body on a system, for engines as well, wherever they compute. */
#ifndef NB6_TIDE_SUM_H
#define NB6_TIDE_SUM_H

#include "common/hd.h"

#include <math.h>

/** Add the tide of a body of mass m, m (3 x x/r^2 - 1)/r^3, and its derivative.   @param[in] x, v  relative to the
 * system
 *  @param[in,out] field, field_dot  symmetric, xx xy xz yy yz zz */
NBC_HD void nb6_add_tide(double m, const double x[3], const double v[3], double field[6], double field_dot[6])
{
    const double inv2 = 1 / (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]), w = m * inv2 * sqrt(inv2);
    const double xv = (x[0] * v[0] + x[1] * v[1] + x[2] * v[2]) * inv2;
    for (int a = 0, k = 0; a < 3; a++)
        for (int b = a; b < 3; b++, k++) {
            const double xx = x[a] * x[b] * inv2, turn = (x[a] * v[b] + v[a] * x[b]) * inv2;
            field[k] += w * (3 * xx - (a == b));
            field_dot[k] += 3 * w * (turn - xv * (5 * xx - (a == b)));
        }
}

/** Estimated upper limit of the tide of bodies beyond the sphere of a system. For one body, or a compact crowd, at
 * distance d it is 2/d times the acceleration, which is part of the regular one. For a crowd on all sides the
 * accelerations cancel, and so does the tide, up to the variation of the density within the sphere's size: about 4 pi
 * rho, with the density in the sphere. Twice and a few times that leave room; and it is not more than that of the mass
 * of all at the sphere.
 *  @param[in] mass  of all bodies, of which there are n */
NBC_HD double nb6_strongest_outside(double mass, double n, const double acc_reg[3], double r_nb, double nnb)
{
    const double volume = r_nb * r_nb * r_nb, inside = mass * (nnb + 1.0) / n;
    const double acc = sqrt(acc_reg[0] * acc_reg[0] + acc_reg[1] * acc_reg[1] + acc_reg[2] * acc_reg[2]);
    return fmin(4 * acc / r_nb + 10 * inside / volume, mass / volume);
}

#endif
