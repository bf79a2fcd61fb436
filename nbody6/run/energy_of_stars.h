/** Energy change by added and removed stars, summed over stars one by one: O(changed stars x all stars). */
#ifndef NB6_ENERGY_OF_STARS_H
#define NB6_ENERGY_OF_STARS_H

#include "nbody6/state/body.h"

#include <stdint.h>

struct nb6_census;
struct nb6_external;
struct nb6_frame;

/** Energy of the new stars at time t: kinetic, and potential among themselves, with the stars that stay and in the
 * galaxy. */
double nb6_energy_of_new_stars(const struct nb6_census *census, double t, const struct nb6_external *external);
/** The same for the removed stars.   @param[in] stars  a frame of stars   @param[in] moved [n] < 0: removed */
double nb6_energy_of_old_stars(const struct nb6_frame *stars, const nb6_index *moved,
                               const struct nb6_external *external);

#endif
