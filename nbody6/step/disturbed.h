/** Bodies that a sudden change of another one concerns, on processors and devices: they begin anew. */
#ifndef NB6_DISTURBED_H
#define NB6_DISTURBED_H

#include "common/hd.h"

/** A polynomial follows a body that has another velocity while the way that this makes is short beside their distance:
 *  a body whose regular step would end when it is longer than this part of it begins anew. Without that a star that is
 *  kicked with 400 times the velocity dispersion, in a cluster of 550 stars, changes the energy by 1.9e-4; with it by
 *  2e-5, as the cluster does in that time without a kick. */
#define NB6_PASSED_SHARE 0.1

/** Whether a body at y, whose velocity changes by `speed`, will pass one at x within a time. */
NBC_HD int nb6_will_pass(double speed, double time, const double y[3], const double x[3])
{
    const double way = speed * time / NB6_PASSED_SHARE;
    const double dx[3] = {y[0] - x[0], y[1] - x[1], y[2] - x[2]};
    return way * way > dx[0] * dx[0] + dx[1] * dx[1] + dx[2] * dx[2];
}

#endif
