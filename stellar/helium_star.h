/* Naked helium stars: section 6.1 of Hurley, Pols & Tout 2000 (HPT). Solar units and Myr. */
#ifndef STELLAR_HELIUM_STAR_H
#define STELLAR_HELIUM_STAR_H

#include "stellar/core.h"

/* Times, luminosities and shell from the initial mass alone */
struct stellar_helium {
    double t_ms, l_zams, l_tms;
    struct stellar_shell shell; /* helium burns around the core of carbon and oxygen */
};

/** Luminosity and radius at zero age, life on the helium main sequence. HPT eqs. 77, 78, 79 */
double stellar_l_zhe(double m);
double stellar_r_zhe(double m);
double stellar_t_hems(double m);
void stellar_helium_make(double m0, struct stellar_helium *s);
/** A star of mass m on the helium main sequence, at fraction tau of it. HPT eqs. 80 to 83 */
void stellar_hems_point(double m, double tau, double *l, double *r);
/** Radius of a giant of luminosity l. HPT eqs. 85 to 88
 *  @param[in] l_tms  luminosity at the end of the helium main sequence   @param[out] is_giant  eq. 88 holds */
double stellar_r_hegb(double m, double l, double l_tms, int *is_giant);
/** Greatest mass of the core of carbon and oxygen. HPT eq. 89; a star too light for it ends as a whole. */
double stellar_helium_core_limit(double m);

#endif
