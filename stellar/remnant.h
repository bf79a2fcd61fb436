/* White dwarfs, neutron stars and black holes: section 6.2 of Hurley, Pols & Tout 2000 (HPT). Solar units and Myr. */
#ifndef STELLAR_REMNANT_H
#define STELLAR_REMNANT_H

#include "stellar/model.h"

/** Radius of a white dwarf. HPT eq. 91 */
double stellar_r_wd(double m, double m_chandrasekhar);
/** Luminosity of a white dwarf that has cooled for a time: HPT eq. 90, or the modified law of Hurley & Shara 2003 as
 *  WDFLAG says. @param[in] type  STELLAR_HE_WD to STELLAR_ONE_WD */
double stellar_l_wd(const struct stellar_model *model, int type, double m, double age);
/** Any remnant. HPT eqs. 90 to 96 */
void stellar_remnant_point(const struct stellar_model *model, int type, double m, double age, double *l, double *r);

#endif
