/** A source from its predictor, on a device. */
#ifndef GPUNB_DEVICE_PREDICTED_H
#define GPUNB_DEVICE_PREDICTED_H

#include "gpunb/device/kernels.h"
#include "gpunb/predictor.h"

/** The k-th of a device's share, rounded as gpunb_device_send rounds. */
GPUNB_INLINE struct device_source gpunb_predicted_source(const struct device_prediction *a, int k)
{
    const int j = a->number ? a->number[a->first + k] : a->first + k;
    const struct gpunb_jp jp = a->jp[j];
    double x[3], v[3];
    struct device_source source;
    gpunb_jp_at(&jp, a->t, x, v);
    if (!gpunb_state_is_sound(x, v)) *a->refused = j; /* whichever of them comes last */
    for (int c = 0; c < 3; c++) {
        source.x[c] = x[c];
        source.v[c] = (float)v[c];
    }
    source.m = (float)jp.mass;
    return source;
}

#endif
