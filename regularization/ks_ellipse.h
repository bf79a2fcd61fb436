/** An orbit as a curve in space, for whoever sees no more of a pair than its mean over a period: plain numbers, for
 *  processors and GPUs. */
#ifndef KS_ELLIPSE_H
#define KS_ELLIPSE_H

#include "common/hd.h"

/** Two conjugate half-diameters of an ellipse about its centre, and how the distance varies along it, over its mean,
 *  which is the semi-major axis. The angle is the eccentric anomaly, counted from some place of the orbit. */
struct ks_ellipse {
    double centre[3], by_cosine[3], by_sine[3]; /**< the position is centre + c by_cosine + s by_sine */
    double share_cosine, share_sine;            /**< the distance is a (1 + c share_cosine + s share_sine) */
};

/** The point with cosine c and sine s.   @param[out] x  relative position   @return the time that is spent about it,
 * over its mean: the distance over a */
NBC_HD double ks_ellipse_point(const struct ks_ellipse *ellipse, double c, double s, double x[3])
{
    for (int k = 0; k < 3; k++) x[k] = ellipse->centre[k] + c * ellipse->by_cosine[k] + s * ellipse->by_sine[k];
    return 1 + c * ellipse->share_cosine + s * ellipse->share_sine;
}

#endif
