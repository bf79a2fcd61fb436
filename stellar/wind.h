/* Mass lost by winds: section 7.1 of Hurley, Pols & Tout 2000 (HPT), or Belczynski et al. 2010, as MDFLAG says. */
#ifndef STELLAR_WIND_H
#define STELLAR_WIND_H

#include "stellar/model.h"

/** Effective temperature in K. */
double stellar_temperature(double l, double r);
/** Mass lost, in solar masses a Myr.
 *  @param[in] mu  measure of the envelope, HPT eqs. 97 and 98; below 1 the core shows */
double stellar_wind(const struct stellar_model *model, int type, double m, double l, double r, double mu);

#endif
