/** What stars that come or go add to the energy, summed over stars one by one: O(stars that change x all stars). */
#ifndef NB6_ENERGY_OF_STARS_H
#define NB6_ENERGY_OF_STARS_H

#include <stdint.h>

struct nb6_census;
struct nb6_external;
struct nb6_frame;

/** Kinetic energy, and potential energy among themselves, with those who stay and in the galaxy, of who is new at time
 * t. */
double nb6_energy_of_new_stars(const struct nb6_census *census, double t, const struct nb6_external *external);
/** The same of who goes.   @param[in] stars  a frame of stars   @param[in] moved [n] < 0: who goes */
double nb6_energy_of_old_stars(const struct nb6_frame *stars, const int32_t *moved,
                               const struct nb6_external *external);

#endif
