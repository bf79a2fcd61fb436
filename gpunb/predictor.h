/** The predictor of a source, and the sources that take part: stored by gpunb_set_jp, used by gpunb_predict. */
#ifndef GPUNB_PREDICTOR_H
#define GPUNB_PREDICTOR_H

#include "common/predictor.h"
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

/** All backends predict to the same bits (common/predictor.h). */
GPUNB_INLINE void gpunb_jp_at(const struct gpunb_jp *jp, double t, double x[3], double v[3])
{
    nbc_predict(t - jp->t0, jp->x, jp->v, jp->acc, jp->jerk, NBC_ROUND_EACH, x, v);
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
