/* Sources on a device from predictors: changed ones to their places, all of them to a time. */
#include "gpunb/cuda/kernels.h"
#include "gpunb/device/predicted.h"

namespace
{

constexpr int BLOCK = 128, STORE = 256, NUMBERS = sizeof(struct gpunb_jp) / sizeof(double);

/* Each block examines as many marks as it has threads; then its threads copy numbers, adjacent threads adjacent ones
 * in memory. */
__global__ void __launch_bounds__(STORE) store(const double *from, const unsigned char *marks, unsigned char mark,
                                               int n, double *jp, unsigned long long *total)
{
    __shared__ int record[STORE];
    __shared__ int count;
    const int j = blockIdx.x * STORE + threadIdx.x;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    if (j < n && marks[j] == mark) record[atomicAdd(&count, 1)] = j;
    __syncthreads();
    for (int k = threadIdx.x; k < count * NUMBERS; k += STORE) {
        const size_t at = (size_t)record[k / NUMBERS] * NUMBERS + k % NUMBERS;
        jp[at] = from[at];
    }
    if (threadIdx.x == 0 && count > 0) atomicAdd(total, (unsigned long long)count);
}

__global__ void __launch_bounds__(BLOCK) predict(const struct device_prediction a)
{
    const int k = blockIdx.x * BLOCK + threadIdx.x;
    if (k < a.n) a.sources[k] = gpunb_predicted_source(&a, k);
}

} // namespace

cudaError_t gpunb_cuda_store(const struct gpunb_jp *from, const unsigned char *marks, unsigned char mark, int n,
                             struct gpunb_jp *jp, uint64_t *count, cudaStream_t stream)
{
    store<<<(n + STORE - 1) / STORE, STORE, 0, stream>>>((const double *)from, marks, mark, n, (double *)jp,
                                                         (unsigned long long *)count);
    return cudaGetLastError();
}

cudaError_t gpunb_cuda_predict_share(const struct device_prediction *prediction, cudaStream_t stream)
{
    predict<<<(prediction->n + BLOCK - 1) / BLOCK, BLOCK, 0, stream>>>(*prediction);
    return cudaGetLastError();
}
