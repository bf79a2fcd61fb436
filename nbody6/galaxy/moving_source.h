/** Sources of the field in a frame that follows an orbit or rests: the galaxy, from its centre, and gas about the
 * centre of the frame (moving.h). Private to nbody6/galaxy. */
#ifndef NB6_MOVING_SOURCE_H
#define NB6_MOVING_SOURCE_H

#include "nbody6/galaxy/external.h"
#include "nbody6/galaxy/jet.h"

/** A body at its place from the centre of the galaxy, or of the gas: its path, and the mass that acts there. */
struct nb6_moving_source {
    const struct nb6_external *external;
    double x[3], v[3], mass[2]; /**< mass of the gas and its rate; 0: the galaxy */
};

/** @return how many act on a body at x, v in the frame, 0 to 2, the galaxy first */
int nb6_moving_sources(const struct nb6_external *external, double t, const double x[3], const double v[3],
                       struct nb6_moving_source source[2]);
/** Acceleration along a path, as a series of this order. */
void nb6_source_acceleration(const struct nb6_moving_source *s, const struct nb6_jet path[3], int order,
                             struct nb6_jet acc[3]);
/** 1/length^2 within which the field changes, and its derivative along the way of the body. Each part of a galaxy
 * changes within its distance from its centre, where that is a cusp, or no less than its core; a disk within its
 * distance from the plane, or its height. */
void nb6_source_inverse_squares(const struct nb6_moving_source *s, double sum[2]);

#endif
