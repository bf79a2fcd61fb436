/* Fits in mass of the giant phases, which giant.c puts together. Solar units and Myr; HPT is Hurley, Pols & Tout 2000.
 */
#ifndef STELLAR_GIANT_FITS_H
#define STELLAR_GIANT_FITS_H

#include "stellar/core.h"
#include "stellar/fits.h"

/** Relation of core mass and luminosity. HPT, below eq. 38 */
void stellar_giant_law(const struct stellar_fits *f, double m, struct stellar_core_law *law);
/** Rate of hydrogen burning, A'_H. HPT, below eq. 43 */
double stellar_a_h(double m);
/** Luminosity at helium ignition. HPT eq. 49 */
double stellar_l_hei(const struct stellar_fits *f, double m);
/** Least luminosity while helium burns, above m_hef. HPT eq. 51 */
double stellar_l_min(const struct stellar_fits *f, double m);
/** Luminosity and radius at the begin of quiet helium burning, below m_hef. HPT eqs. 53 and 54
 *  @param[in] mc  core mass at helium ignition */
double stellar_l_zahb(const struct stellar_fits *f, double m, double mc);
double stellar_r_zahb(const struct stellar_fits *f, double m, double mc);
/** Least radius while helium burns, above m_hef. HPT eq. 55 */
double stellar_r_mhe(const struct stellar_fits *f, double m);
/** Luminosity at the base of the second giant branch. HPT eq. 56 */
double stellar_l_bagb(const struct stellar_fits *f, double m);
/** How long helium burns in the core. HPT eq. 57
 *  @param[in] mc  core mass at helium ignition, used below m_hef   @param[in] t_bgb  used above it */
double stellar_t_he(const struct stellar_fits *f, double m, double mc, double t_bgb);
/** Length of the blue phase as a fraction of t_he. HPT eq. 58 */
double stellar_tau_bl(const struct stellar_fits *f, double m);
/** Core mass above m_hef. HPT eq. 44 @param[in] c  of the base of the giant branch, or of helium ignition */
double stellar_mc_heavy(const struct stellar_fits *f, double m, double c);

#endif
