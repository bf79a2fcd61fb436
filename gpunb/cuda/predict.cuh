/* A source from its predictor, on a device. */
#ifndef GPUNB_CUDA_PREDICT_CUH
#define GPUNB_CUDA_PREDICT_CUH

#include "gpunb/cuda/kernels.h"
#include "gpunb/predictor.h"

/* The k-th of a device's share, rounded as gpunb_cuda_send rounds. */
__device__ __forceinline__ struct cuda_source predicted_source(const struct cuda_prediction &a, int k)
{
    const int j = a.number ? a.number[a.first + k] : a.first + k;
    double x[3], v[3];
    const struct gpunb_jp jp = a.jp[j];
    gpunb_jp_at(&jp, a.t, x, v);
    if (!gpunb_state_is_sound(x, v)) *a.refused = j; /* whichever of them comes last */
    return {{x[0], x[1], x[2]}, {(float)v[0], (float)v[1], (float)v[2]}, (float)jp.mass};
}

#endif
