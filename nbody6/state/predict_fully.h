/** Prediction with all derivatives that are known, more exact than that of the block step: for pictures of the run, and
 *  for bodies that begin anew between two of their steps. */
#ifndef NB6_PREDICT_FULLY_H
#define NB6_PREDICT_FULLY_H

#include "common/hd.h"
#include "nbody6/state/body.h"

/** Position and velocity at time t: the body's own third-order polynomial, the next two terms of the irregular force
 *  from its last step, and those of the regular force, whose corrector comes only at the end of the regular step, from
 *  its beginning. */
NBC_HD void nb6_predict_fully(const struct nb6_body *body, const struct nb6_star *star, nb6_time t, double x[3],
                              double v[3])
{
    const double s = nb6_time_to_double(t - body->t0), r = nb6_time_to_double(t - star->t0_reg);
    for (int k = 0; k < 3; k++) {
        const double si = star->snap_irr[k], ci = star->crackle_irr[k], sr = star->snap_reg[k],
                     cr = star->crackle_reg[k];
        x[k] = body->x0[k] +
               s * (body->v0[k] + s * (body->acc[k] / 2 + s * (body->jerk[k] / 6 + s * (si / 24 + s * ci / 120)))) +
               r * r * r * r * (sr / 24 + r * cr / 120);
        v[k] = body->v0[k] + s * (body->acc[k] + s * (body->jerk[k] / 2 + s * (si / 6 + s * ci / 24))) +
               r * r * r * (sr / 6 + r * cr / 24);
    }
}

#endif
