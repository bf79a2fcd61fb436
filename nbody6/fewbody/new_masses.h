/** New masses and velocities of some stars. Private to libnbody6. */
#ifndef NB6_NEW_MASSES_H
#define NB6_NEW_MASSES_H

#include "nbody6/state/ascending.h"
#include "nbody6/state/body.h"

#include <stddef.h>
#include <stdint.h>

/** Slowly: over many orbits, so that every bound pair with the star in it keeps the product of semi-major axis and
 * mass, the eccentricity, the phase and its centre of mass. Suddenly: all stars keep their places, and their velocities
 *  unless they get new ones. */
struct nb6_new_masses {
    int64_t n;
    const nb6_index *star;   /**< [n] ascending */
    const double *mass;      /**< [n] */
    const double (*v)[3];    /**< [n] absolute; NULL: velocities are kept. Not with `is_slow` */
    const double (*kick)[3]; /**< [n] in place of v, what is added to velocities, if anything: in images alone */
    int is_slow;
    int is_untold;      /**< 1: without an event, since the caller has others */
    int n_come, n_gone; /**< single stars that come to the cluster with these masses, or leave it with none: the last,
                           the first of them; whoever sees one begins anew */
};

/** Where a star is among them, -1: its mass stays. */
static inline int64_t nb6_new_masses_place(const struct nb6_new_masses *masses, nb6_index star)
{
    return nb6_list_find(masses->star, (size_t)masses->n, star);
}

#endif
