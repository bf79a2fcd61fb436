/* Pulls that leave all bodies while the state is in host memory leave them on the device with the same bits: without
 * fused multiply-add (Makefile). */
#include "nbody6/engine/cuda/part.h"

namespace
{

constexpr int THREADS = 256;

__global__ void __launch_bounds__(THREADS) lose_pulls(const __grid_constant__ struct nb6_dev dev, nb6_time t, int64_t n,
                                                      const struct nb6_pull_source *source, int renews)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= dev.n) return;
    nb6_dev_lose_pulls(&dev, t, n, source, (int32_t)i);
    if (renews) nb6_dev_renew_predictor(&dev, i);
}

} // namespace

cudaError_t nb6_device_lose_pulls(const struct nb6_dev *dev, nb6_time t, int64_t n,
                                  const struct nb6_pull_source *source, int renews, cudaStream_t stream)
{
    lose_pulls<<<(unsigned)((dev->n + THREADS - 1) / THREADS), THREADS, 0, stream>>>(*dev, t, n, source, renews);
    return cudaGetLastError();
}
