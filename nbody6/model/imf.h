/** Mass functions made of power laws, sampled by inversion. */
#ifndef NB6_IMF_H
#define NB6_IMF_H

#include "nbody6/input/config.h"

enum { NB6_IMF_SEGMENTS_MAX = 3 };

/** dN/dm ~ m^-slope on each segment, continuous where two meet. Masses in Msun. */
struct nb6_imf {
    int n_segments;
    double lower[NB6_IMF_SEGMENTS_MAX + 1]; /**< limits, ascending; [n_segments] is the upper end */
    double slope[NB6_IMF_SEGMENTS_MAX];
    double fraction_below[NB6_IMF_SEGMENTS_MAX + 1]; /**< of all stars, below lower[k]; 0 ... 1 */
};

/** The mass function of a configuration. Power law: imf_alpha from mass_min_msun to mass_max_msun, any index (1 and 2
 *  included). Kroupa 2001, MNRAS 322, 231, eq. 2: slopes 0.3 below 0.08 Msun, 1.3 up to 0.5 Msun, 2.3 above, between
 * the same limits. Equal masses: one mass, 1.
 *  @return NBC_OK; NBC_BAD_INPUT (limits that are no range of masses) */
int nb6_imf_init(const struct nb6_model_config *config, struct nb6_imf *imf, struct nbc_error *err);

/** Mass below which the fraction u of the stars lies, 0 <= u <= 1. */
double nb6_imf_mass(const struct nb6_imf *imf, double u);

#endif
