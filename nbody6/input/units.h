/** Physical units from RBAR and ZMBAR. The only file where N-body units meet pc, Msun, km/s and Myr. */
#ifndef NB6_UNITS_H
#define NB6_UNITS_H

#include <stdint.h>

/** Multiply an N-body value by these. In N-body units G = 1 always. The total mass is 1, except for a data file that is
 *  taken unscaled: its masses are in units of mass_msun, whatever their sum. */
struct nb6_units {
    double length_pc;    /**< RBAR */
    double mass_msun;    /**< ZMBAR * N: the total mass of a model whose masses add up to 1 */
    double velocity_kms; /**< sqrt(G M / R), M and R the two units above */
    double time_myr;     /**< R / V */
};

/** G in pc (km/s)^2 / Msun. From the nominal solar mass parameter GM_sun = 1.3271244e20 m^3 s^-2 (IAU 2015 Resolution
 *  B3), the parsec of 648000/pi au (IAU 2015 Resolution B2) and the au of 149597870700 m (IAU 2012 Resolution B2). */
extern const double NB6_G_PC_KMS2_MSUN;

/** km in a parsec divided by the seconds in 10^6 Julian years of 365.25 days: pc/Myr in km/s. */
extern const double NB6_PC_PER_MYR_KMS;

/** A parsec in cm (as above) and the nominal solar mass in g: GM_sun divided by G of CODATA 2018. */
extern const double NB6_PC_CM, NB6_MSUN_G;

/** The nominal solar radius (IAU 2015 Resolution B3) in pc and cm, and luminosity (B3) in erg/s. */
extern const double NB6_RSUN_PC, NB6_RSUN_CM, NB6_LSUN_ERG_S;

/** 10^6 Julian years in seconds. */
extern const double NB6_MYR_S;

/** An astronomical unit in pc, and one a Julian year in km/s. */
extern const double NB6_AU_PC, NB6_AU_PER_YEAR_KMS;

/** @param[in] rbar_pc length unit, > 0; zmbar_msun mean mass, > 0; n stars of the initial model, >= 1 */
struct nb6_units nb6_units_from(double rbar_pc, double zmbar_msun, int64_t n);

/** Tidal (Jacobi) radius in pc of a cluster on a circular orbit about a point mass, R_G (M / 3 M_G)^(1/3).
 *  @param[in] mass_msun cluster; galaxy_mass_msun > 0; galaxy_distance_kpc */
double nb6_units_tidal_radius_pc(double mass_msun, double galaxy_mass_msun, double galaxy_distance_kpc);

#endif
