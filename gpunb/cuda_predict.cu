/* Sources on a device from predictors: changed ones to their places, all of them to a time. */
#include "gpunb/cuda_kernels.h"
#include "gpunb/cuda_predict.cuh"

namespace
{

constexpr int BLOCK = 128, NUMBERS = sizeof(struct gpunb_jp) / sizeof(double);

/* One thread for each number of a record: neighbours in a warp write to neighbours in memory. */
__global__ void __launch_bounds__(BLOCK) store(const double *changes, const int32_t *index, int count, double *jp)
{
    const size_t k = (size_t)blockIdx.x * BLOCK + threadIdx.x, record = k / NUMBERS;
    if (record < (size_t)count) jp[(size_t)index[record] * NUMBERS + k % NUMBERS] = changes[k];
}

__global__ void __launch_bounds__(BLOCK) predict(const struct cuda_prediction a)
{
    const int k = blockIdx.x * BLOCK + threadIdx.x;
    if (k < a.n) a.sources[k] = predicted_source(a, k);
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
