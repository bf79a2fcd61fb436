#include "nbody6/engine/cuda/synchronise.h"

namespace
{

constexpr int WARP = NB6_DEV_LANES, THREADS = 256, WARPS = THREADS / WARP;
constexpr unsigned ALL = 0xffffffffu;

/* Each warp searches the list of a body; the first one also handles the two bodies. */
__global__ void find(const __grid_constant__ struct nb6_dev dev, struct nb6_dev_synchronisation *sync)
{
    const int64_t k = ((int64_t)blockIdx.x * THREADS + threadIdx.x) / WARP;
    const int lane = threadIdx.x % WARP;
    if (k == 0 && lane == 0) sync->level = nb6_dev_synchronise_level(&dev, sync->place);
    if (k == 0 && lane < 2 && !nb6_dev_is_synchronised(&dev, sync->place[lane])) atomicAdd(&sync->behind, 1);
    if (k >= dev.n) return;
    const int own = nb6_dev_synchronise_sees(&dev, sync, (int32_t)k, lane, WARP);
    const int seen = (__any_sync(ALL, own & 1) ? 1 : 0) | (__any_sync(ALL, own & 2) ? 2 : 0);
    if (lane != 0 || !nb6_dev_synchronise_includes(sync, (int32_t)k, seen)) return;
    dev.irr[atomicAdd(&sync->n, 1)] = (int32_t)k;
    if (!nb6_dev_is_synchronised(&dev, (int32_t)k)) atomicAdd(&sync->behind, 1);
}

__global__ void synchronise_all(const __grid_constant__ struct nb6_dev dev, const struct nb6_dev_synchronisation *sync)
{
    if (sync->behind == 0) return;
    for (int32_t m = (int32_t)threadIdx.x; m < sync->n + 2; m += THREADS)
        nb6_dev_synchronise_body(&dev, m < 2 ? sync->place[m] : dev.irr[m - 2], sync->level);
}

} // namespace

cudaError_t nb6_device_synchronise(const struct nb6_dev *dev, struct nb6_dev_synchronisation *sync, cudaStream_t stream)
{
    find<<<(unsigned)((dev->n + WARPS - 1) / WARPS), THREADS, 0, stream>>>(*dev, sync);
    synchronise_all<<<1, THREADS, 0, stream>>>(*dev, sync);
    return cudaGetLastError();
}
