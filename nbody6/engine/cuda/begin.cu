#include "nbody6/engine/cuda/begin.h"

#include "nbody6/engine/cuda/items.cuh"

namespace
{

__device__ __forceinline__ int own_lane()
{
    return threadIdx.x % WARP;
}

/* ---- which bodies */

__global__ void find_begins(const __grid_constant__ struct nb6_dev dev,
                            const __grid_constant__ struct nb6_dev_beginning b, int32_t *place, int32_t *role)
{
    const int32_t i = (int32_t)own_item();
    if (own_item() == 0) dev.control->t = b.edit.t;
    if (own_item() >= dev.n) return;
    role[i] = NB6_DEV_GOES_ON;
    if (!nb6_dev_is_disturbed(&dev, &b, i)) return;
    if (!nb6_dev_can_begin(&dev, i)) {
        role[i] = NB6_DEV_HURRIES;
        return;
    }
    role[i] = atomicAdd(&b.count->n, 1);
    place[role[i]] = i;
}

__global__ void note_changed(const __grid_constant__ struct nb6_dev_beginning b, int32_t *role)
{
    const int32_t k = (int32_t)own_item();
    if (k < b.edit.n && role[b.edit.changed[k].body] == NB6_DEV_GOES_ON)
        role[b.edit.changed[k].body] = NB6_DEV_GOES_ON - 1 - k;
}

/* A block of threads for each slice; its threads are added by halves. */
__global__ void __launch_bounds__(THREADS)
    sum_velocities(const __grid_constant__ struct nb6_dev dev, nb6_time t, double *slice)
{
    __shared__ double sum[THREADS][4];
    double own[4] = {0, 0, 0, 0};
    const int64_t first = dev.n * blockIdx.x / gridDim.x, end = dev.n * (blockIdx.x + 1) / gridDim.x;
    for (int64_t i = first + threadIdx.x; i < end; i += THREADS) nb6_dev_add_velocity(&dev, i, t, own);
    for (int k = 0; k < 4; k++) sum[threadIdx.x][k] = own[k];
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        for (int k = 0; k < 4 && threadIdx.x < half; k++) sum[threadIdx.x][k] += sum[threadIdx.x + half][k];
    }
    if (threadIdx.x == 0)
        for (int k = 0; k < 4; k++) slice[4 * blockIdx.x + k] = sum[0][k];
}

/* ---- forces */

__global__ void predict_sources(const __grid_constant__ struct nb6_dev dev)
{
    if (own_item() < nb6_dev_chunks(&dev) * NB6_DEV_LANES) nb6_dev_predict_source(&dev, own_item());
}

__global__ void change_sources(const __grid_constant__ struct nb6_dev dev,
                               const __grid_constant__ struct nb6_dev_beginning b)
{
    if (own_item() < b.edit.n) nb6_dev_change_source(&dev, &b, (int32_t)own_item());
}

__global__ void stand(const __grid_constant__ struct nb6_dev dev, const __grid_constant__ struct nb6_dev_beginning b)
{
    if (own_item() < b.n) nb6_dev_stand(&dev, &b, own_item());
}

/* Those who are asked for again are put elsewhere: others still read theirs. */
__global__ void accept(const __grid_constant__ struct nb6_dev dev, const __grid_constant__ struct nb6_dev_beginning b,
                       int64_t n, int is_again, struct gpunb_dev_asked *again, int32_t *asked_by)
{
    const int64_t m = own_item();
    if (m >= n) return;
    const int32_t k = is_again ? b.asked_by[m] : (int32_t)m;
    if (is_again) b.asked[k] = b.again[m];
    if (nb6_dev_accepts_first(&dev, &b, k, &b.asked[k])) {
        atomicMax(&b.count->longest, b.asked[k].count);
        return;
    }
    const int32_t at = atomicAdd(&b.count->n_again, 1);
    atomicAdd((unsigned long long *)&b.count->overflows, 1ull);
    nb6_dev_ask_first(&dev, &b, k, &again[at]);
    asked_by[at] = k;
}

__device__ __forceinline__ double sum_of_lanes(double own)
{
    for (int half = WARP / 2; half > 0; half /= 2) own += __shfl_down_sync(0xffffffff, own, half);
    return own;
}

/* A warp has a body. Without a list that fits there is nothing to sum. */
__global__ void find_irregular(const __grid_constant__ struct nb6_dev dev,
                               const __grid_constant__ struct nb6_dev_beginning b)
{
    const int64_t k = item_of_warp();
    struct gpunb_dev_sum sum;
    if (k >= b.n || b.count->n_again > 0 || b.count->longest > dev.row_room) return;
    nb6_dev_first_force_lane(&dev, &b, k, own_lane(), &sum);
    for (int d = 0; d < 3; d++) {
        sum.acc[d] = sum_of_lanes(sum.acc[d]);
        sum.jerk[d] = sum_of_lanes(sum.jerk[d]);
    }
    /* other warps read the place of this body, which stays */
    if (own_lane() == 0 && !nb6_dev_set_first_force(&dev, &b, k, &sum)) atomicMax(&b.count->unsound, 1 + b.place[k]);
}

/* ---- what cannot fail */

__global__ void hurry(const __grid_constant__ struct nb6_dev dev, const __grid_constant__ struct nb6_dev_beginning b)
{
    if (own_item() < dev.n) nb6_dev_hurry(&dev, &b, (int32_t)own_item());
}

__global__ void take_begun(const __grid_constant__ struct nb6_dev dev,
                           const __grid_constant__ struct nb6_dev_beginning b)
{
    if (own_item() < b.n) nb6_dev_take_begun(&dev, &b, own_item());
    if (own_item() < b.edit.n) nb6_dev_take_mass(&dev, &b, (int32_t)own_item());
}

__global__ void find_derivatives(const __grid_constant__ struct nb6_dev dev,
                                 const __grid_constant__ struct nb6_dev_beginning b)
{
    const int64_t k = item_of_warp();
    struct nb6_dev_derivatives sum;
    if (k >= b.n) return;
    nb6_dev_first_derivatives_lane(&dev, &b, k, own_lane(), &sum);
    for (int d = 0; d < 3; d++) {
        sum.snap[d] = sum_of_lanes(sum.snap[d]);
        sum.crackle[d] = sum_of_lanes(sum.crackle[d]);
    }
    if (own_lane() == 0) nb6_dev_set_first_steps(&dev, &b, k, &sum);
}

} // namespace

cudaError_t nb6_device_find_begins(const struct nb6_dev *dev, const struct nb6_dev_beginning *b, int32_t *place,
                                   int32_t *role, double *sum, cudaStream_t stream)
{
    find_begins<<<blocks_for(dev->n), THREADS, 0, stream>>>(*dev, *b, place, role);
    note_changed<<<blocks_for(b->edit.n), THREADS, 0, stream>>>(*b, role);
    sum_velocities<<<NB6_DEVICE_VELOCITY_SLICES, THREADS, 0, stream>>>(*dev, b->edit.t, sum);
    return cudaGetLastError();
}

cudaError_t nb6_device_stand(const struct nb6_dev *dev, const struct nb6_dev_beginning *b, cudaStream_t stream)
{
    predict_sources<<<blocks_for(nb6_dev_chunks(dev) * NB6_DEV_LANES), THREADS, 0, stream>>>(*dev);
    change_sources<<<blocks_for(b->edit.n), THREADS, 0, stream>>>(*dev, *b);
    if (b->n > 0) stand<<<blocks_for(b->n), THREADS, 0, stream>>>(*dev, *b);
    return cudaGetLastError();
}

cudaError_t nb6_device_find_first_forces(const struct nb6_dev *dev, const struct nb6_dev_beginning *b, int64_t n,
                                         int is_again, struct gpunb_dev_asked *again, int32_t *asked_by,
                                         cudaStream_t stream)
{
    accept<<<blocks_for(n), THREADS, 0, stream>>>(*dev, *b, n, is_again, again, asked_by);
    find_irregular<<<blocks_for_warps(b->n), THREADS, 0, stream>>>(*dev, *b);
    return cudaGetLastError();
}

cudaError_t nb6_device_take_begun(const struct nb6_dev *dev, const struct nb6_dev_beginning *b, cudaStream_t stream)
{
    hurry<<<blocks_for(dev->n), THREADS, 0, stream>>>(*dev, *b);
    take_begun<<<blocks_for(b->n > b->edit.n ? b->n : b->edit.n), THREADS, 0, stream>>>(*dev, *b);
    if (b->n > 0) find_derivatives<<<blocks_for_warps(b->n), THREADS, 0, stream>>>(*dev, *b);
    return cudaGetLastError();
}
