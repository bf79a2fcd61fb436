/** Stars at rest on a circle, nearly: near-collisions of all of them. */
#ifndef RINGS_H
#define RINGS_H

#include "nbody6/input/config.h"
#include "tests/support/cluster.h"

/** Stars at rest on a circle in the plane z = 0, each moved by `offset` of its radius in a random direction. Masses and
 *  velocities of the first n stars of the cluster are set. */
void rings_put(struct cluster *c, int n, const double mass[], double radius, double offset, uint64_t seed);
/** n equal stars of mass 1 together on a circle of such a radius that their energy is -0.5, to t = 2: all of them fall
 *  together, and what comes out flies apart.
 *  @param[out] chains  that formed
 *  @return the largest error of the energy at 16 times, over what it was */
double rings_error(int n, double offset, uint64_t seed, enum nb6_engine_choice engine, double *chains);
/** The energy error that any ring with this offset may have (see the comment in rings.c). */
double rings_bound(double offset);

#endif
