/** The field of the galaxy on the members of a system, where it is not linear, and its work on their relative motion,
 *  where it depends on time. Private to libnbody6. */
#ifndef NB6_PAIRS_GALAXY_H
#define NB6_PAIRS_GALAXY_H

#include "common/nbc.h"
#include "nbody6/state/body.h"
#include "regularization/chain.h"

#include <stdint.h>

struct nb6_external;
struct nb6_external_series;
struct nb6_motion;
struct nb6_subsystems;
struct nb6_sim;

/** Pull of the field on members, beyond that on their centre of mass. */
struct nb6_pull {
    double acc[CHAIN_MAX][3], jerk[CHAIN_MAX][3];
    double power[2]; /**< on the relative motion of all, and its derivative */
};

/** On n members at time t, absolute.
 *  @param[in] series   the field about a place near by, or NULL
 *  @param[in] centre   place and velocity of their centre of mass
 *  @param[in] mass     [n]; shares: the power is per unit mass
 *  @param[in] x, xdot  [n][3] relative to it, and their change in time; xdot NULL: the derivatives are not asked for */
void nb6_galaxy_pull(const struct nb6_external *external, const struct nb6_external_series *series, double t,
                     const double centre[2][3], int n, const double mass[], const double (*x)[3],
                     const double (*xdot)[3], struct nb6_pull *pull);

/** Work of the field on the relative motion in a slot that is not booked yet. */
double nb6_slot_galaxy_work(const struct nb6_subsystems *subsystems, const struct nb6_motion *motion, nb6_slot slot);
/** Book it: after each call that moves it, and before the motion begins anew. The slot is saved. */
int nb6_slot_book_galaxy_work(struct nb6_sim *sim, nb6_slot slot, struct nbc_error *err);

#endif
