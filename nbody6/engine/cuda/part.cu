#include "nbody6/engine/cuda/part.h"

namespace
{

constexpr int WARP = NB6_DEV_LANES, THREADS = 256, WARPS = THREADS / WARP;

__device__ __forceinline__ int64_t own_item()
{
    return (int64_t)blockIdx.x * THREADS + threadIdx.x;
}

/* Where each warp has an item. */
__device__ __forceinline__ int64_t item_of_warp()
{
    return own_item() / WARP;
}

unsigned blocks_for(int64_t items)
{
    return (unsigned)((items + THREADS - 1) / THREADS);
}

unsigned blocks_for_warps(int64_t items)
{
    return (unsigned)((items + WARPS - 1) / WARPS);
}

__global__ void find_news(const __grid_constant__ struct nb6_dev dev, nb6_time since, int32_t *news)
{
    if (own_item() < dev.n) news[own_item()] = nb6_dev_news(&dev, own_item(), since);
}

__global__ void pack(const __grid_constant__ struct nb6_dev dev, const __grid_constant__ struct nb6_dev_parcel parcel)
{
    const int lane = threadIdx.x % WARP;
    if (item_of_warp() >= parcel.n) return;
    if (lane == 0) nb6_dev_pack_body(&dev, &parcel, item_of_warp());
    nb6_dev_pack_numbers(&dev, &parcel, item_of_warp(), lane, WARP);
}

__global__ void set_stars_aside(const __grid_constant__ struct nb6_dev dev,
                                const __grid_constant__ struct nb6_dev_parcel parcel)
{
    if (own_item() < dev.n) nb6_dev_set_star_aside(&dev, &parcel, (int32_t)own_item());
}

__global__ void take_stars(const __grid_constant__ struct nb6_dev dev,
                           const __grid_constant__ struct nb6_dev_parcel parcel)
{
    if (own_item() < dev.n) nb6_dev_take_star(&dev, &parcel, (int32_t)own_item());
}

__global__ void set_bodies_aside(const __grid_constant__ struct nb6_dev dev,
                                 const __grid_constant__ struct nb6_dev_parcel parcel)
{
    if (own_item() < dev.n) nb6_dev_set_body_aside(&dev, &parcel, (int32_t)own_item());
}

__global__ void take_bodies(const __grid_constant__ struct nb6_dev dev,
                            const __grid_constant__ struct nb6_dev_parcel parcel)
{
    if (own_item() < dev.n || own_item() < parcel.n_before) nb6_dev_take_body(&dev, &parcel, (int32_t)own_item());
}

__global__ void renumber_lists(const __grid_constant__ struct nb6_dev dev,
                               const __grid_constant__ struct nb6_dev_parcel parcel)
{
    const int lane = threadIdx.x % WARP;
    if (item_of_warp() >= dev.n) return;
    nb6_dev_renumber_list(&dev, &parcel, (int32_t)item_of_warp(), lane, WARP);
    if (lane == 0) dev.row_now[item_of_warp()] = 1;
}

__global__ void unpack(const __grid_constant__ struct nb6_dev dev, const __grid_constant__ struct nb6_dev_parcel parcel)
{
    const int lane = threadIdx.x % WARP;
    if (item_of_warp() >= parcel.n) return;
    if (lane == 0) nb6_dev_unpack_body(&dev, &parcel, item_of_warp());
    nb6_dev_unpack_numbers(&dev, &parcel, item_of_warp(), lane, WARP);
}

__global__ void renew_predictors(const __grid_constant__ struct nb6_dev dev)
{
    if (own_item() < dev.n) nb6_dev_renew_predictor(&dev, own_item());
}

} // namespace

cudaError_t nb6_device_find_news(const struct nb6_dev *dev, nb6_time since, int32_t *news, cudaStream_t stream)
{
    find_news<<<blocks_for(dev->n), THREADS, 0, stream>>>(*dev, since, news);
    return cudaGetLastError();
}

cudaError_t nb6_device_pack_parcel(const struct nb6_dev *dev, const struct nb6_dev_parcel *parcel, cudaStream_t stream)
{
    if (parcel->n > 0) pack<<<blocks_for_warps(parcel->n), THREADS, 0, stream>>>(*dev, *parcel);
    return cudaGetLastError();
}

/* Stars and bodies are set aside in the same memory, by turns; lists are the last to be there. */
cudaError_t nb6_device_move_places(const struct nb6_dev *dev, const struct nb6_dev_parcel *parcel, cudaStream_t stream)
{
    const int64_t places = dev->n > parcel->n_before ? dev->n : parcel->n_before;
    set_stars_aside<<<blocks_for(dev->n), THREADS, 0, stream>>>(*dev, *parcel);
    take_stars<<<blocks_for(dev->n), THREADS, 0, stream>>>(*dev, *parcel);
    set_bodies_aside<<<blocks_for(dev->n), THREADS, 0, stream>>>(*dev, *parcel);
    take_bodies<<<blocks_for(places), THREADS, 0, stream>>>(*dev, *parcel);
    renumber_lists<<<blocks_for_warps(dev->n), THREADS, 0, stream>>>(*dev, *parcel);
    return cudaGetLastError();
}

cudaError_t nb6_device_unpack_parcel(const struct nb6_dev *dev, const struct nb6_dev_parcel *parcel,
                                     cudaStream_t stream)
{
    if (parcel->n > 0) unpack<<<blocks_for_warps(parcel->n), THREADS, 0, stream>>>(*dev, *parcel);
    return cudaGetLastError();
}

cudaError_t nb6_device_renew_predictors(const struct nb6_dev *dev, cudaStream_t stream)
{
    renew_predictors<<<blocks_for(dev->n), THREADS, 0, stream>>>(*dev);
    return cudaGetLastError();
}
