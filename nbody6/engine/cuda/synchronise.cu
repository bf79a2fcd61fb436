#include "nbody6/engine/cuda/synchronise.h"

namespace
{

constexpr int WARP = NB6_DEV_LANES, THREADS = 256, WARPS = THREADS / WARP;
constexpr unsigned ALL = 0xffffffffu;

/* Each warp searches the list of a body; the first one also handles the two bodies. */
__global__ void find(const __grid_constant__ struct nb6_dev dev, struct nb6_dev_synchronisation *call)
{
    const int64_t k = ((int64_t)blockIdx.x * THREADS + threadIdx.x) / WARP;
    const int lane = threadIdx.x % WARP;
    if (k == 0 && lane == 0) call->level = nb6_dev_synchronise_level(&dev, call->place);
    if (k == 0 && lane < 2 && !nb6_dev_is_synchronised(&dev, call->place[lane])) atomicAdd(&call->behind, 1);
    if (k >= dev.n) return;
    const int own = nb6_dev_synchronise_sees(&dev, call, (int32_t)k, lane, WARP);
    const int seen = (__any_sync(ALL, own & 1) ? 1 : 0) | (__any_sync(ALL, own & 2) ? 2 : 0);
    if (lane != 0 || !nb6_dev_synchronise_includes(call, (int32_t)k, seen)) return;
    dev.irr[atomicAdd(&call->n, 1)] = (int32_t)k;
    if (!nb6_dev_is_synchronised(&dev, (int32_t)k)) atomicAdd(&call->behind, 1);
}

__global__ void call_all(const __grid_constant__ struct nb6_dev dev, const struct nb6_dev_synchronisation *call)
{
    if (call->behind == 0) return;
    for (int32_t m = (int32_t)threadIdx.x; m < call->n + 2; m += THREADS)
        nb6_dev_synchronise_body(&dev, m < 2 ? call->place[m] : dev.irr[m - 2], call->level);
}

} // namespace

cudaError_t nb6_device_synchronise(const struct nb6_dev *dev, struct nb6_dev_synchronisation *call, cudaStream_t stream)
{
    find<<<(unsigned)((dev->n + WARPS - 1) / WARPS), THREADS, 0, stream>>>(*dev, call);
    call_all<<<1, THREADS, 0, stream>>>(*dev, call);
    return cudaGetLastError();
}
