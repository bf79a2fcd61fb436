/** The predictor of a source, and the sources that take part: stored by gpunb_set_jp, used by gpunb_predict. */
#ifndef GPUNB_PREDICTOR_H
#define GPUNB_PREDICTOR_H

#include "gpunb/pair.h"

/** State at t0 with total acceleration and jerk, no Taylor factors. */
struct gpunb_jp {
    double x[3], v[3], acc[3], jerk[3], mass, t0;
};

/** The sources that take part, in the order of their numbers. Backends count them by place, and know no gaps. */
struct gpunb_order {
    size_t n;
    const int32_t *number; /**< [n] number of the source at each place; NULL: the place itself */
    uint64_t version;      /**< changes when n or a number does */
};

static inline size_t gpunb_number_at(const struct gpunb_order *order, size_t place)
{
    return order->number ? (size_t)order->number[place] : place;
}

/** a b + c with two roundings: no fused multiply-add on any machine, so that all predict to the same bits. */
GPUNB_INLINE double gpunb_times_plus(double a, double b, double c)
{
#ifdef __CUDA_ARCH__
    return __dadd_rn(__dmul_rn(a, b), c);
#else
    return a * b + c;
#endif
}

/** x = x0 + s (v0 + s (a/2 + s j/6)), v = v0 + s (a + s j/2), s = t - t0, in this order. kernel_predict.h does the same
 *  in vectors. */
GPUNB_INLINE void gpunb_jp_at(const struct gpunb_jp *jp, double t, double x[3], double v[3])
{
    const double s = t - jp->t0;
    for (int k = 0; k < 3; k++) {
        const double half = 0.5 * jp->acc[k], sixth = jp->jerk[k] * (1.0 / 6.0), half_jerk = 0.5 * jp->jerk[k];
        const double slope = gpunb_times_plus(s, gpunb_times_plus(s, sixth, half), jp->v[k]);
        x[k] = gpunb_times_plus(s, slope, jp->x[k]);
        v[k] = gpunb_times_plus(s, gpunb_times_plus(s, half_jerk, jp->acc[k]), jp->v[k]);
    }
}

/** Whether a prediction is in the range of gpunb_send. NaN is not. */
GPUNB_INLINE int gpunb_state_is_sound(const double x[3], const double v[3])
{
    int sound = 1;
    for (int k = 0; k < 3; k++) sound &= fabs(x[k]) <= GPUNB_LIMIT && fabs(v[k]) <= GPUNB_LIMIT;
    return sound;
}

/** Report source j, whose prediction is invalid.   @return NBC_NON_FINITE */
int gpunb_refuse_prediction(struct nbc_error *err, size_t j, const struct gpunb_jp *jp, double t);

#endif
