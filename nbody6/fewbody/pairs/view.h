/** How a system and a body that it has in its list feel each other: resolved, or, from afar, as the mean over the orbit
 *  of the system, which turns many times while the body passes. So the oscillation of the force need not be followed,
 *  which would take steps of a thirtieth of a period for both bodies. The relative motion in the system feels the body
 *  at each place of the orbit all the same. PeTar takes points along the orbit for this as well (Wang, Iwasawa,
 *  Nitadori & Makino 2020, MNRAS 497, 536). Private to libnbody6. */
#ifndef NB6_PAIRS_VIEW_H
#define NB6_PAIRS_VIEW_H

#include "nbody6/fewbody/parts.h"
#include "nbody6/state/body.h"

#include <stdint.h>

struct nb6_motion;
struct nb6_sim;
struct nbc_error;

struct nb6_kept_view;

/** A body with all that others may see of it. */
struct nb6_view {
    nb6_slot slot; /**< < 0: a point */
    double mass, t;
    const struct nb6_motion *motion;
    int status;                         /**< NBC_NON_FINITE: its stars were asked for, and have no prediction */
    struct nb6_kept_view *kept;         /**< shared with all bodies that see it at this time; NULL: it is not */
    const struct nb6_parts *now, *mean; /**< NULL: was not asked for yet */
    struct nb6_parts own_now, own_mean; /**< unless kept */
};

/** Body i as a point. */
void nb6_view_point(const struct nb6_sim *sim, int64_t i, struct nb6_view *view);
/** From now on the views of systems at time t, relative to sim->ti_origin, are computed once for all bodies and threads
 *  that ask for them, until nb6_views_drop; the motions of the run must not change meanwhile. The first one that asks
 *  computes, so that results are those of views that are not kept.
 *  @return NBC_OK; NBC_NO_MEMORY */
int nb6_views_keep(struct nb6_sim *sim, double t, struct nbc_error *err);
void nb6_views_drop(struct nb6_sim *sim);
/** Its stars at time t, relative to sim->ti_origin. */
void nb6_view_slot(const struct nb6_sim *sim, const struct nb6_motion *motion, nb6_slot slot, double t,
                   struct nb6_view *view);
/** Force of a body at x, v on one at the origin less that of points of mass, added to acc and jerk. Remote pairs and
 * points feel the mean of each other, whatever their distance is just now (pairs/remote.h). */
void nb6_view_force(const struct nb6_sim *sim, const double x[3], const double v[3], struct nb6_view *own,
                    struct nb6_view *other, double acc[3], double jerk[3]);
/** Force of a field that is not linear on a system with its centre of mass at this place, with this velocity, at time
 * t, absolute, less that on a point, added to acc and jerk. It is seen as a body as far away as the field takes to
 * change.
 */
void nb6_view_field(const struct nb6_sim *sim, double t, const double centre[2][3], struct nb6_view *own, double acc[3],
                    double jerk[3]);
/** The second derivative of the field by places, if the centre of mass of a slot feels the motion in it there now, and
 * not the mean over an orbit alone; else 0. */
double nb6_view_field_felt(const struct nb6_sim *sim, nb6_slot slot);

#endif
