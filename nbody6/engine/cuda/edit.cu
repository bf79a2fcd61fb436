#include "nbody6/engine/cuda/edit.h"

#include "nbody6/engine/cuda/items.cuh"

namespace
{

__global__ void find_places(const __grid_constant__ struct nb6_dev dev, nb6_time t, struct nb6_dev_mass *at)
{
    if (own_item() < dev.n) at[own_item()] = nb6_dev_mass_at(&dev, own_item(), t);
}

/* With `at`: those that are asked for act on none of them. */
__global__ void fetch(const __grid_constant__ struct nb6_dev dev, int64_t n, const int32_t *place,
                      struct nb6_gathered *gathered, struct nb6_dev_mass *at)
{
    if (own_item() >= n) return;
    const int32_t i = place[own_item()];
    gathered[own_item()].body = dev.body[i];
    gathered[own_item()].star = dev.star[i];
    if (at) at[i].m = 0;
}

/* A block of threads for each slice of each place; its threads are added by halves. */
__global__ void __launch_bounds__(THREADS) sum_slice(const __grid_constant__ struct nb6_dev dev, const int32_t *place,
                                                     const struct nb6_dev_mass *at, double *potential)
{
    __shared__ double sum[THREADS];
    const double *x = at[place[blockIdx.x]].x;
    int64_t first, end;
    double own = 0;
    nb6_dev_potential_slice(&dev, blockIdx.y, &first, &end);
    for (int64_t j = first + threadIdx.x; j < end; j += THREADS) own += nb6_dev_potential_term(&at[j], x);
    sum[threadIdx.x] = own;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) sum[threadIdx.x] += sum[threadIdx.x + half];
    }
    if (threadIdx.x == 0) potential[(int64_t)blockIdx.x * NB6_DEV_POTENTIAL_SLICES + blockIdx.y] = sum[0];
}

__global__ void __launch_bounds__(THREADS)
    change(const __grid_constant__ struct nb6_dev dev, const __grid_constant__ struct nb6_dev_edit edit)
{
    if (own_item() < dev.n) nb6_dev_edit_body(&dev, &edit, (int32_t)own_item());
}

} // namespace

cudaError_t nb6_device_fetch_bodies(const struct nb6_dev *dev, int64_t n, const int32_t *place,
                                    struct nb6_gathered *gathered, cudaStream_t stream)
{
    fetch<<<blocks_for(n), THREADS, 0, stream>>>(*dev, n, place, gathered, nullptr);
    return cudaGetLastError();
}

cudaError_t nb6_device_find_potentials(const struct nb6_dev *dev, nb6_time t, int64_t n, const int32_t *place,
                                       struct nb6_dev_mass *at, struct nb6_gathered *gathered, double *potential,
                                       cudaStream_t stream)
{
    const dim3 slices((unsigned)n, NB6_DEV_POTENTIAL_SLICES);
    find_places<<<blocks_for(dev->n), THREADS, 0, stream>>>(*dev, t, at);
    fetch<<<blocks_for(n), THREADS, 0, stream>>>(*dev, n, place, gathered, at);
    sum_slice<<<slices, THREADS, 0, stream>>>(*dev, place, at, potential);
    return cudaGetLastError();
}

cudaError_t nb6_device_change_bodies(const struct nb6_dev *dev, const struct nb6_dev_edit *edit, cudaStream_t stream)
{
    change<<<blocks_for(dev->n), THREADS, 0, stream>>>(*dev, *edit);
    return cudaGetLastError();
}
