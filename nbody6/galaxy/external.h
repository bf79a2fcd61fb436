/** The galaxy's linearised field in a frame that rotates with the cluster on its circular orbit (x outward, y along the
 *  orbit, z to the pole): a = (t_x x + c v_y, -c v_x, t_z z). The energy with the potential -(t_x x^2 + t_z z^2)/2 is
 * conserved (Jacobi's integral); the Coriolis force does no work. Source: Aarseth 2003, Gravitational N-Body
 * Simulations. */
#ifndef NB6_EXTERNAL_H
#define NB6_EXTERNAL_H

#include "nbody6/input/config.h"
#include "nbody6/input/units.h"

#include <stdint.h>

struct nb6_external {
    int64_t active;  /**< 1: there is a field */
    double t_x;      /**< 4 A (A - B), or 3 omega^2 for a point-mass galaxy; N-body units */
    double t_z;      /**< -(4 pi G rho + 2 (A^2 - B^2)), from Poisson's equation, or -omega^2 */
    double coriolis; /**< 2 omega */
};

/** Coefficients in N-body units. */
struct nb6_external nb6_external_make(const struct nb6_tide_config *tide, const struct nb6_units *units);

/** Acceleration and jerk of the field at x, v, for a body whose acceleration without the field is acc (needed for the
 *  jerk of the Coriolis force). The field is linear: of a relative motion, this is its relative acceleration. */
void nb6_external_force(const struct nb6_external *external, const double x[3], const double v[3], const double acc[3],
                        double ext_acc[3], double ext_jerk[3]);

/** Second and third derivative of the field's acceleration of a body.
 *  @param[in]  acc, jerk  of the body, with the field   @param[in] inner  second derivative without the field
 *  @param[out] snap, crackle  of the field's acceleration alone */
void nb6_external_higher(const struct nb6_external *external, const double acc[3], const double jerk[3],
                         const double inner[3], double snap[3], double crackle[3]);

/** Potential per unit mass of the field. */
double nb6_external_potential(const struct nb6_external *external, const double x[3]);

/** Largest rate of change of the field with place: that times a distance is the largest difference of accelerations. */
double nb6_external_strongest(const struct nb6_external *external);

/** Tidal radius (M/t_x)^(1/3) of a cluster of this mass; 0 without a field. */
double nb6_external_tidal_radius(const struct nb6_external *external, double mass);

#endif
