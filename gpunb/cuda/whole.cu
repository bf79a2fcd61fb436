/* Calls of the host whose targets are most of the sources: they become jobs in device memory, and their results go back
 * (device/whole.c). */
#include "gpunb/cuda/kernels.h"
#include "gpunb/cuda/send.cuh"
#include "gpunb/device/sums.h"

namespace
{

constexpr int BLOCK = 128;

__global__ void make_records(const struct device_source *sources, int n, int weighted, struct gpunb_dev_source *to)
{
    const int j = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (j >= n) return;
    const struct device_source &s = sources[j];
    const double v[3] = {(double)s.v[0], (double)s.v[1], (double)s.v[2]};
    to[j] = gpunb_dev_source_at(s.x, v, s.m, weighted);
}

__global__ void ask(const struct device_asking a)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= a.targets.n) return;
    const int32_t j = a.targets.self[i];
    a.asked[i] = {a.targets.r_nb2[i], a.targets.dt[i], j, i, 0, a.size_last ? a.size_last[i] : 0, {}};
    if (j < 0 || !gpunb_dev_is_at(&a.sources[j], a.targets.x[i], a.targets.v[i]) || atomicExch(&a.marks[j], i) >= 0)
        *a.differ = 1;
}

__global__ void __launch_bounds__(SENDERS) send(const struct device_sending a)
{
    const size_t row = (size_t)blockIdx.x;
    const int i = a.target[a.first + (int)blockIdx.x];
    const struct gpunb_dev_asked &asked = a.asked[i];
    const bool is_wide =
        asked.count <= a.cap && send_row(a.rows + (size_t)i * a.cap, asked.count, a.lists + row * a.cap);
    if (threadIdx.x != 0) return;
    struct device_result r = {};
    for (int k = 0; k < 3; k++) {
        r.sum[k] = asked.sum.acc[k];
        r.sum[3 + k] = asked.sum.jerk[k];
    }
    r.found = asked.count;
    r.target = is_wide ? ~i : i;
    a.results[row] = r;
}

unsigned blocks_for(int n)
{
    return (unsigned)(n + BLOCK - 1) / BLOCK;
}

} // namespace

cudaError_t gpunb_cuda_regular_sources(const struct device_source *sources, int n, int weighted,
                                       struct gpunb_dev_source *to, cudaStream_t stream)
{
    if (n == 0) return cudaSuccess;
    make_records<<<blocks_for(n), BLOCK, 0, stream>>>(sources, n, weighted, to);
    return cudaGetLastError();
}

cudaError_t gpunb_cuda_regular_ask(const struct device_asking *asking, cudaStream_t stream)
{
    ask<<<blocks_for(asking->targets.n), BLOCK, 0, stream>>>(*asking);
    return cudaGetLastError();
}

cudaError_t gpunb_cuda_regular_send(const struct device_sending *sending, cudaStream_t stream)
{
    send<<<(unsigned)sending->n, SENDERS, 0, stream>>>(*sending);
    return cudaGetLastError();
}
