/** Positions along an orbit, for forces of a pair that is seen as its mean over a period: on processors and GPUs.
 *  Private to the program. */
#ifndef KS_ELLIPSE_H
#define KS_ELLIPSE_H

#include "common/hd.h"
#include "regularization/ks.h"

/** The point with cosine c and sine s.   @param[out] x  relative position   @return the time spent about it relative
 *  to the mean: the distance over a */
NBC_HD double ks_ellipse_point(const struct ks_ellipse *ellipse, double c, double s, double x[3])
{
    for (int k = 0; k < 3; k++) x[k] = ellipse->centre[k] + c * ellipse->by_cosine[k] + s * ellipse->by_sine[k];
    return 1 + c * ellipse->share_cosine + s * ellipse->share_sine;
}

#endif
