/** Mass functions, sampled by inversion: power laws in segments, or generating functions of papers. */
#ifndef NB6_IMF_H
#define NB6_IMF_H

#include "nbody6/input/config.h"

enum { NB6_IMF_SEGMENTS_MAX = 3 };

/** The mass, in Msun, above which the fraction w of all stars lies: falls from w = 0, where it is infinite, to w = 1.
 *  Papers write it as a function of X = 1 - w. */
typedef double nb6_imf_generator(double w);

/** Either dN/dm ~ m^-slope on each segment, continuous where two meet; or, with a generator, its masses from `lower[0]`
 *  to `lower[1]`. Masses in Msun. */
struct nb6_imf {
    int n_segments;
    double lower[NB6_IMF_SEGMENTS_MAX + 1]; /**< limits, ascending; [n_segments] is the upper end */
    double slope[NB6_IMF_SEGMENTS_MAX];
    double fraction_below[NB6_IMF_SEGMENTS_MAX + 1]; /**< of all stars, below lower[k]; 0 ... 1 */
    nb6_imf_generator *generator;                    /**< NULL: power laws */
    double w_least, w_most;                          /**< fractions above the lower and the upper end */
};

/** The mass function of a configuration, between mass_min_msun and mass_max_msun.
 *
 *  Power law: imf_alpha, any index (1 and 2 included). Kroupa 2001, MNRAS 322, 231, eq. 2: slopes 0.3 below 0.08 Msun,
 *  1.3 up to 0.5 Msun, 2.3 above. Equal masses: one mass, 1. The others are generating functions of X, uniform in
 *  (0, 1), in Msun, restricted to the X between the limits:
 *      Miller & Scalo 1979 as Eggleton, Fitchett & Tout 1989, ApJ 347, 998, fit them:
 *          0.19 X / ((1 - X)^0.75 + 0.032 (1 - X)^0.25)
 *      Kroupa, Tout & Gilmore 1993, MNRAS 262, 545, for the slope 1.3 below 0.5 Msun; none below 0.08 Msun:
 *          0.08 + (0.19 X^1.55 + 0.05 X^0.6) / (1 - X)^0.58
 *      Eggleton 2006, Evolutionary Processes in Binary and Multiple Stars, Cambridge:  0.3 (X / (1 - X))^0.55
 *      and the function that NBODY6 has in its place:  0.3 X / (1 - X)^0.55
 *  @return NBC_OK; NBC_BAD_INPUT (limits that are no range of masses, or that hold none) */
int nb6_imf_init(const struct nb6_model_config *config, struct nb6_imf *imf, struct nbc_error *err);

/** Mass below which the fraction u of the stars lies, 0 <= u <= 1. */
double nb6_imf_mass(const struct nb6_imf *imf, double u);

/** The generating function of a kind; NULL: power laws, or equal masses. */
nb6_imf_generator *nb6_imf_generator_of(enum nb6_imf_kind kind);
/** The fraction of stars above a mass: where the generator has it, to the last bits; 1 below its least mass. */
double nb6_imf_fraction_above(nb6_imf_generator *generator, double mass);

/** In a few words, for people. */
const char *nb6_imf_name(enum nb6_imf_kind kind);

/** Do the two stars of a binary have a mass each (1), or is one mass divided by RATIO (0)? NBODY6: KZ(20) > 1. */
int nb6_imf_draws_companions(enum nb6_imf_kind kind);

#endif
