/** Components of a galaxy about its centre, and the gas about the centre of a cluster: accelerations as series along a
 * path, and potentials. N-body units. Private to nbody6/galaxy.
 *
 *  point mass   -GM/r
 *  bulge        Dehnen 1993, MNRAS 265, 250, eqs. 1 and 2: M(r) = GMB (r/(r + AR))^(3 - GAM)
 *  disk         Miyamoto & Nagai 1975, PASJ 27, 533, eq. 4: -DISK/(R^2 + (A + (z^2 + B^2)^1/2)^2)^1/2
 *  halo         logarithmic: (v0^2/2) ln(r^2 + r0^2)
 *  cut bulge    density ~ r^-GAM exp(-(r/AR)^2), of a total mass; of the Milky Way alone, as is the next
 *  NFW halo     Navarro, Frenk & White 1997, ApJ 490, 493, eq. 1: M(r) = M_s (ln(1 + r/r_s) - r/(r + r_s))
 *  gas          Plummer sphere -MP/(r^2 + AP^2)^1/2, whose mass falls from TDELAY on as MP/(1 + MPDOT (t - TDELAY))
 *               (Kroupa, Aarseth & Hurley 2001, MNRAS 321, 699)
 *  The names are those of the input of NBODY6. */
#ifndef NB6_COMPONENTS_H
#define NB6_COMPONENTS_H

#include "nbody6/galaxy/attraction.h"
#include "nbody6/galaxy/external.h"
#include "nbody6/galaxy/jet.h"

/** Acceleration of the galaxy along a path x(s), as a series of the same order.   @param[in] x [3] from its centre */
void nb6_galaxy_acceleration(const double parameter[NB6_EXTERNAL_PARAMETERS], const struct nb6_jet x[3], int order,
                             struct nb6_jet acc[3]);
double nb6_galaxy_potential(const double parameter[NB6_EXTERNAL_PARAMETERS], const double x[3]);
/** Square of the circular velocity in the plane at distance r > 0, of all but the logarithmic halo. */
double nb6_galaxy_v2_without_halo(const double parameter[NB6_EXTERNAL_PARAMETERS], double r);

/** The attraction of a unit mass of gas at the place of a body, displaced by x, minus that at the place itself, without
 * a loss of figures.   @param[in] xdot  change of x   @param[out] potential  also less its slope there times x */
void nb6_gas_difference(const double parameter[NB6_EXTERNAL_PARAMETERS], const double centre[2][3], const double x[3],
                        const double xdot[3], double acc[3], double jerk[3], double *potential);

#endif
