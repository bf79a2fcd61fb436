/** Direct integration of all stars in a galaxy or in gas, as the input describes it: the formulae are written out anew
 *  and in long double, the frame moves in the galaxy with the stars (KZ(14) = 3, 5), and no function of the programs is
 *  called. Gragg's rule with extrapolation (Hairer, Norsett & Wanner 1993, II.9), steps by the error of the last
 *  column. */
#ifndef ALL_STARS_H
#define ALL_STARS_H

#include "nbody6/input/config.h"
#include "nbody6/input/units.h"

#include <stdint.h>

enum { ALL_STARS_MOST = 16 };

/** Bring n stars from t = 0 to t.   @param[in] tolerance  of each step, relative to the separation or velocity of each
 *  star from and to its nearest neighbour   @param[in,out] x, v  [n][3], in the frame of the cluster */
void all_stars_integrate(const struct nb6_tide_config *tide, const struct nb6_units *units, double t, double tolerance,
                         int n, const double *mass, double (*x)[3], double (*v)[3]);

#endif
