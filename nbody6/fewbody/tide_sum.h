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

#endif
