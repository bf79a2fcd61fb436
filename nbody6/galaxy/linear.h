/** A field that is linear in place and velocity, in a frame that rotates with the cluster on its circular orbit:
 *  a = (t_x x + c v_y, -c v_x, t_z z). The energy with the potential -(t_x x^2 + t_z z^2)/2 is conserved (Jacobi's
 *  integral); the Coriolis force does no work. Source: Aarseth 2003, Gravitational N-Body Simulations. Potentials that
 *  are no more than this have NB6_LINEAR_OPERATIONS in their table, and only make and describe themselves. */
#ifndef NB6_LINEAR_H
#define NB6_LINEAR_H

#include "nbody6/galaxy/external.h"

void nb6_linear_force(const struct nb6_external *external, double t, const double x[3], const double v[3],
                      const double acc[3], double ext_acc[3], double ext_jerk[3]);
double nb6_linear_noise(const struct nb6_external *external, double t, const double x[3], const double v[3]);
void nb6_linear_relative(const struct nb6_external *external, double t, const double centre[2][3], const double x[3],
                         const double v[3], const double xdot[3], const double acc[3], double ext_acc[3],
                         double ext_jerk[3]);
void nb6_linear_higher(const struct nb6_external *external, double t, const double x[3], const double v[3],
                       const double acc[3], const double jerk[3], const double inner[3], double snap[3],
                       double crackle[3]);
double nb6_linear_potential(const struct nb6_external *external, double t, const double x[3]);
double nb6_linear_relative_potential(const struct nb6_external *external, double t, const double centre[3],
                                     const double x[3]);
double nb6_linear_strongest(const struct nb6_external *external, double t, const double x[3]);

#define NB6_LINEAR_OPERATIONS                                                                                          \
    .force = nb6_linear_force, .noise = nb6_linear_noise, .relative = nb6_linear_relative,                             \
    .higher = nb6_linear_higher, .potential = nb6_linear_potential,                                                    \
    .relative_potential = nb6_linear_relative_potential, .strongest = nb6_linear_strongest

#endif
