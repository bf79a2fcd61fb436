/* Stars on the main sequence and in the Hertzsprung gap: Tout et al. 1996 at zero age, section 5.1 of Hurley, Pols &
 * Tout 2000 (HPT) later. Solar units and Myr. */
#ifndef STELLAR_MAIN_SEQUENCE_H
#define STELLAR_MAIN_SEQUENCE_H

#include "stellar/fits.h"

/* Main sequence of a mass. */
struct stellar_ms {
    double t_bgb, t_hook, t_ms; /* base of the giant branch, hook, end of the main sequence */
    double l_zams, r_zams, l_tms, r_tms;
    double alpha_l, beta_l, delta_l, eta;     /* HPT eqs. 19, 20, 16, 18 */
    double alpha_r, beta_r, gamma_r, delta_r; /* HPT eqs. 21, 22, 23, 17 */
    double r_least;                           /* HPT eq. 24: a degenerate star is no smaller */
};

/** Luminosity at zero age. Tout et al. 1996, eq. 1. */
double stellar_l_zams(const struct stellar_fits *f, double m);
/** Radius at zero age. Tout et al. 1996, eq. 2. */
double stellar_r_zams(const struct stellar_fits *f, double m);
/** Time at which a star reaches the base of the giant branch. HPT eq. 4. */
double stellar_t_bgb(const struct stellar_fits *f, double m);
/** Time at which the main sequence ends. HPT eq. 5 */
double stellar_t_ms(const struct stellar_fits *f, double m, double t_bgb);
/** Luminosity at the base of the giant branch. HPT eq. 10. */
double stellar_l_bgb(const struct stellar_fits *f, double m);
/** Radius at the end of the main sequence. HPT eq. 9. */
double stellar_r_tms(const struct stellar_fits *f, double m);
/** Luminosity at the end of the main sequence. HPT eq. 8. */
double stellar_l_tms(const struct stellar_fits *f, double m);
void stellar_ms_make(const struct stellar_fits *f, double m, struct stellar_ms *s);
/** Luminosity and radius at an age up to t_ms. HPT eqs. 12 and 13. */
void stellar_ms_point(const struct stellar_ms *s, double age, double *l, double *r);

#endif
