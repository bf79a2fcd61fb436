/* Sources on a device from predictors: changed ones to their places, all of them to a time. */
#include "gpunb/cuda_kernels.h"
#include "gpunb/predictor.h"

namespace
{

constexpr int BLOCK = 128, NUMBERS = sizeof(struct gpunb_jp) / sizeof(double);

/* One thread for each number of a record: neighbours in a warp write to neighbours in memory. */
__global__ void __launch_bounds__(BLOCK) store(const double *changes, const int32_t *index, int count, double *jp)
{
    const size_t k = (size_t)blockIdx.x * BLOCK + threadIdx.x, record = k / NUMBERS;
    if (record < (size_t)count) jp[(size_t)index[record] * NUMBERS + k % NUMBERS] = changes[k];
}

/* Rounded as gpunb_cuda_send rounds. */
__global__ void __launch_bounds__(BLOCK) predict(const struct cuda_prediction a)
{
    const int k = blockIdx.x * BLOCK + threadIdx.x;
    if (k >= a.n) return;
    const int j = a.number ? a.number[a.first + k] : a.first + k;
    double x[3], v[3];
    const struct gpunb_jp jp = a.jp[j];
    gpunb_jp_at(&jp, a.t, x, v);
    if (!gpunb_state_is_sound(x, v)) *a.refused = j; /* whichever of them comes last */
    a.sources[k] = {{x[0], x[1], x[2]}, {(float)v[0], (float)v[1], (float)v[2]}, (float)jp.mass};
}

} // namespace

cudaError_t gpunb_cuda_store(const double *changes, const int32_t *index, int count, struct gpunb_jp *jp,
                             cudaStream_t stream)
{
    const size_t threads = (size_t)count * NUMBERS;
    store<<<(unsigned)((threads + BLOCK - 1) / BLOCK), BLOCK, 0, stream>>>(changes, index, count, (double *)jp);
    return cudaGetLastError();
}

cudaError_t gpunb_cuda_predict_share(const struct cuda_prediction *prediction, cudaStream_t stream)
{
    predict<<<(prediction->n + BLOCK - 1) / BLOCK, BLOCK, 0, stream>>>(*prediction);
    return cudaGetLastError();
}
