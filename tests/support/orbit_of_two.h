/** Two masses on a Kepler orbit, for tests. */
#ifndef NB6_TEST_ORBIT_OF_TWO_H
#define NB6_TEST_ORBIT_OF_TWO_H

/** Two masses at the apocentre of an orbit about their centre of mass.
 *  @param[in] a, e, tilt  semi-major axis, eccentricity, angle of its plane about the x axis
 *  @param[in] x, v  of the centre   @param[out] y, w  places and velocities */
void orbit_of_two(double m0, double m1, double a, double e, double tilt, const double x[3], const double v[3],
                  double y[2][3], double w[2][3]);

#endif
