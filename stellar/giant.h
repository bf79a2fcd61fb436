/* Stars after the main sequence, up to the second giant branch: sections 5.1.2 to 5.4 of Hurley, Pols & Tout 2000
 * (HPT). Solar units and Myr. */
#ifndef STELLAR_GIANT_H
#define STELLAR_GIANT_H

#include "stellar/core.h"
#include "stellar/fits.h"

/* Times, luminosities and cores of the phases after the main sequence, from the initial mass alone. */
struct stellar_giant {
    double m0;
    double t_ms, t_bgb, t_hei, t_he, t_bagb, t_du; /* ends of phases; t_he: how long helium burns in the core */
    double l_tms, r_tms, l_ehg, l_hei, l_bagb;
    double mc_tms, mc_ehg; /* core at both ends of the Hertzsprung gap: HPT eqs. 28 and 29 */
    double mc_bgb, mc_hei, mc_bagb, mc_du;
    struct stellar_shell gb, eagb, tpagb; /* hydrogen; helium; both */
    double lambda;                        /* HPT eq. 73: what dredge-up takes from the core's growth */
    double tau_x, tau_bl;                 /* begin of the blue phase, its length: fractions of t_he, HPT eq. 58 */
    double l_x;                           /* luminosity at tau_x, HPT eq. 59 */
    double least_part; /* below M_HeF: least radius while helium burns, as a part of R_GB(l_x), HPT eq. 55 */
};

/** Radii on the giant branches of a star of mass m and luminosity l. HPT eqs. 46 and 74 */
double stellar_r_gb(const struct stellar_fits *f, double m, double l);
double stellar_r_agb(const struct stellar_fits *f, double m, double l);
/** Core mass at the base of the second giant branch. HPT eq. 66 */
double stellar_mc_bagb(const struct stellar_fits *f, double m);
/** Constants by which the fits below m_hef join those above it; needs the tables. */
void stellar_giant_join(struct stellar_fits *f);
void stellar_giant_make(const struct stellar_fits *f, double m0, struct stellar_giant *g);
/** Least radius while helium burns, of a star whose mass is m now. HPT eq. 55; above M_FGB, where helium ignites at
 * that radius, it is that of the initial mass, as in the programs that share these fits. */
double stellar_r_least(const struct stellar_fits *f, const struct stellar_giant *g, double m);

/* Points of a star of mass m at an age. @param[out] mc  core mass */
void stellar_hg_point(const struct stellar_fits *f, const struct stellar_giant *g, double m, double age, double *l,
                      double *r, double *mc);
void stellar_gb_point(const struct stellar_fits *f, const struct stellar_giant *g, double m, double age, double *l,
                      double *r, double *mc);
void stellar_cheb_point(const struct stellar_fits *f, const struct stellar_giant *g, double m, double age, double *l,
                        double *r, double *mc);
/** The early second giant branch: the core of helium stays what it is. @param[out] mco  carbon and oxygen inside */
void stellar_eagb_point(const struct stellar_fits *f, const struct stellar_giant *g, double m, double age, double *l,
                        double *r, double *mco);
/** Thermal pulses: one core. */
void stellar_tpagb_point(const struct stellar_fits *f, const struct stellar_giant *g, double m, double age, double *l,
                         double *r, double *mc);
/** Age at which the core of a pulsing star has a mass. */
double stellar_tpagb_time(const struct stellar_giant *g, double mc);

#endif
