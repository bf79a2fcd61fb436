#include "nbody6/engine/cuda/field.h"

#include "nbody6/engine/cuda/items.cuh"

namespace
{

__global__ void find_masses(const __grid_constant__ struct nb6_dev dev, nb6_time t, struct nb6_dev_mass *at,
                            double (*centre)[3])
{
    const int64_t i = own_item();
    if (i >= dev.n) return;
    const struct nb6_dev_mass own = nb6_dev_mass_at(&dev, i, t);
    at[i] = own;
    for (int k = 0; k < 3 && i >= dev.first_centre; k++) centre[i - dev.first_centre][k] = own.x[k];
}

/* A block of threads for each slice of each point; its threads are added by halves. */
__global__ void __launch_bounds__(THREADS)
    sum_slice(const __grid_constant__ struct nb6_dev dev, const struct nb6_dev_mass *at, const double (*x)[3],
              double *slices)
{
    __shared__ double sum[NB6_DEV_FIELD_SUMS][THREADS];
    double own[NB6_DEV_FIELD_SUMS] = {0, 0, 0, 0};
    int64_t first, end;
    nb6_dev_field_slice(&dev, blockIdx.y, &first, &end);
    for (int64_t j = first + threadIdx.x; j < end; j += THREADS) nb6_dev_add_to_field(&at[j], x[blockIdx.x], own);
    for (int d = 0; d < NB6_DEV_FIELD_SUMS; d++) sum[d][threadIdx.x] = own[d];
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        for (int d = 0; d < NB6_DEV_FIELD_SUMS && threadIdx.x < half; d++)
            sum[d][threadIdx.x] += sum[d][threadIdx.x + half];
    }
    __syncthreads();
    if (threadIdx.x < NB6_DEV_FIELD_SUMS)
        slices[((int64_t)blockIdx.x * NB6_DEV_FIELD_SLICES + blockIdx.y) * NB6_DEV_FIELD_SUMS + threadIdx.x] =
            sum[threadIdx.x][0];
}

__global__ void add_slices(int64_t n, const double *slices, double (*sum)[NB6_DEV_FIELD_SUMS])
{
    const int64_t k = own_item();
    if (k >= n) return;
    for (int d = 0; d < NB6_DEV_FIELD_SUMS; d++) {
        double total = 0;
        for (int s = 0; s < NB6_DEV_FIELD_SLICES; s++)
            total += slices[(k * NB6_DEV_FIELD_SLICES + s) * NB6_DEV_FIELD_SUMS + d];
        sum[k][d] = total;
    }
}

} // namespace

cudaError_t nb6_device_find_masses(const struct nb6_dev *dev, nb6_time t, struct nb6_dev_mass *at, double (*centre)[3],
                                   cudaStream_t stream)
{
    find_masses<<<blocks_for(dev->n), THREADS, 0, stream>>>(*dev, t, at, centre);
    return cudaGetLastError();
}

cudaError_t nb6_device_sum_field(const struct nb6_dev *dev, const struct nb6_dev_mass *at, int64_t n,
                                 const double (*x)[3], double *slices, double (*sum)[NB6_DEV_FIELD_SUMS],
                                 cudaStream_t stream)
{
    const dim3 grid((unsigned)n, NB6_DEV_FIELD_SLICES);
    sum_slice<<<grid, THREADS, 0, stream>>>(*dev, at, x, slices);
    add_slices<<<blocks_for(n), THREADS, 0, stream>>>(n, slices, sum);
    return cudaGetLastError();
}
