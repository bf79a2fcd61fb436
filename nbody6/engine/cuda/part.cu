#include "nbody6/engine/cuda/part.h"

#include "nbody6/engine/cuda/items.cuh"

namespace
{

constexpr int NEWS_THREADS = NB6_DEVICE_NEWS_THREADS, NEWS_WARPS = NEWS_THREADS / WARP;

/* Sums over the threads of a block that looks for news.   @param[in] own  @param[out] before  over the threads before
 * this one */
__device__ struct nb6_device_news sum_of_block(struct nb6_device_news own, struct nb6_device_news *before)
{
    __shared__ struct nb6_device_news of_warp[NEWS_WARPS];
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    struct nb6_device_news upto = own, all = {0, 0};
    for (int d = 1; d < WARP; d *= 2) {
        const int64_t n = __shfl_up_sync(0xffffffffu, upto.n, d),
                      numbers = __shfl_up_sync(0xffffffffu, upto.numbers, d);
        if (lane < d) continue;
        upto.n += n;
        upto.numbers += numbers;
    }
    __syncthreads(); /* it has been read */
    if (lane == WARP - 1) of_warp[warp] = upto;
    __syncthreads();
    *before = {upto.n - own.n, upto.numbers - own.numbers};
    for (int w = 0; w < NEWS_WARPS; w++) {
        if (w < warp) *before = {before->n + of_warp[w].n, before->numbers + of_warp[w].numbers};
        all = {all.n + of_warp[w].n, all.numbers + of_warp[w].numbers};
    }
    return all;
}

__device__ struct nb6_device_news count_of(int32_t news)
{
    return {news != NB6_DEV_NO_NEWS, news >= NB6_DEV_NEW_LIST ? news - NB6_DEV_NEW_LIST : 0};
}

__device__ __forceinline__ int64_t own_place()
{
    return (int64_t)blockIdx.x * NEWS_THREADS + threadIdx.x;
}

/* News of bodies stay in the scratch `near`. */
__global__ void __launch_bounds__(NEWS_THREADS)
    count_news(const __grid_constant__ struct nb6_dev dev, nb6_time since, struct nb6_device_news *of_block)
{
    const int64_t place = own_place();
    const int32_t news = place < dev.n ? nb6_dev_news(&dev, place, since) : NB6_DEV_NO_NEWS;
    struct nb6_device_news before;
    const struct nb6_device_news all = sum_of_block(count_of(news), &before);
    if (place < dev.n) dev.near[place] = news;
    if (threadIdx.x == 0) of_block[blockIdx.x] = all;
}

/* Each block adds what those before it have, the last one all. */
__global__ void __launch_bounds__(NEWS_THREADS)
    name_news(const __grid_constant__ struct nb6_dev dev, const struct nb6_device_news *of_block,
              struct nb6_device_report *report)
{
    const int64_t place = own_place();
    const int32_t news = place < dev.n ? dev.near[place] : NB6_DEV_NO_NEWS;
    struct nb6_device_news own = {0, 0}, before;
    for (unsigned b = threadIdx.x; b < blockIdx.x; b += NEWS_THREADS)
        own = {own.n + of_block[b].n, own.numbers + of_block[b].numbers};
    const struct nb6_device_news first = sum_of_block(own, &before);
    const struct nb6_device_news here = sum_of_block(count_of(news), &before);
    if (news != NB6_DEV_NO_NEWS) {
        dev.member[first.n + before.n] = (int32_t)place;
        dev.list_at[first.n + before.n] = news >= NB6_DEV_NEW_LIST ? first.numbers + before.numbers : -1;
    }
    if (threadIdx.x != 0 || blockIdx.x != gridDim.x - 1) return;
    report->news = {first.n + here.n, first.numbers + here.numbers};
    report->control = *dev.control;
}

__global__ void pack(const __grid_constant__ struct nb6_dev dev, const __grid_constant__ struct nb6_dev_parcel parcel)
{
    const int lane = threadIdx.x % WARP;
    const int64_t k = item_of_warp();
    if (k >= parcel.n) return;
    if (lane == 0) {
        parcel.place[k] = dev.member[k];
        parcel.list_at[k] = dev.list_at[k];
    }
    __syncwarp();
    nb6_dev_pack_body(&dev, &parcel, k, lane, WARP);
    nb6_dev_pack_numbers(&dev, &parcel, k, lane, WARP);
}

/* Lanes that move what has fewer words than a warp has lanes. */
constexpr int HALF = WARP / 2, HALVES = THREADS / HALF;

/* Where each so many threads have a place that may have another body than before. */
__device__ __forceinline__ int64_t moved_place(const struct nb6_dev_parcel *parcel, int threads)
{
    return parcel->first + own_item() / threads;
}

__global__ void set_stars_aside(const __grid_constant__ struct nb6_dev dev,
                                const __grid_constant__ struct nb6_dev_parcel parcel,
                                const __grid_constant__ struct nb6_dev_aside aside)
{
    const int64_t place = moved_place(&parcel, WARP);
    if (place < dev.n) nb6_dev_set_star_aside(&dev, &parcel, &aside, (int32_t)place, threadIdx.x % WARP, WARP);
}

__global__ void take_stars(const __grid_constant__ struct nb6_dev dev,
                           const __grid_constant__ struct nb6_dev_parcel parcel,
                           const __grid_constant__ struct nb6_dev_aside aside)
{
    const int64_t place = moved_place(&parcel, WARP);
    if (place < dev.n) nb6_dev_take_star(&dev, &parcel, &aside, (int32_t)place, threadIdx.x % WARP, WARP);
}

__global__ void set_others_aside(const __grid_constant__ struct nb6_dev dev,
                                 const __grid_constant__ struct nb6_dev_parcel parcel,
                                 const __grid_constant__ struct nb6_dev_aside aside)
{
    const int64_t place = moved_place(&parcel, HALF);
    if (place >= dev.n) return;
    nb6_dev_set_body_aside(&dev, &parcel, &aside, (int32_t)place, threadIdx.x % HALF, HALF);
    nb6_dev_set_system_aside(&dev, &parcel, &aside, (int32_t)place, threadIdx.x % HALF, HALF);
}

__global__ void take_others(const __grid_constant__ struct nb6_dev dev,
                            const __grid_constant__ struct nb6_dev_parcel parcel,
                            const __grid_constant__ struct nb6_dev_aside aside)
{
    const int64_t place = moved_place(&parcel, HALF);
    if (place >= dev.n) return;
    nb6_dev_take_body(&dev, &parcel, &aside, (int32_t)place, threadIdx.x % HALF, HALF);
    nb6_dev_take_system(&dev, &parcel, &aside, (int32_t)place, threadIdx.x % HALF, HALF);
}

__global__ void renumber(const __grid_constant__ struct nb6_dev dev,
                         const __grid_constant__ struct nb6_dev_parcel parcel)
{
    const int lane = threadIdx.x % WARP;
    const int64_t place = item_of_warp();
    if (place >= dev.n) return;
    nb6_dev_renumber_list(&dev, &parcel, (int32_t)place, lane, WARP);
    if (lane != 0) return;
    dev.row_now[place] = !dev.settled;
    if (place >= dev.first_centre) nb6_dev_renumber_system(&dev, &parcel, (int32_t)place);
}

/* Bodies first, systems behind them. */
__global__ void unpack(const __grid_constant__ struct nb6_dev dev, const __grid_constant__ struct nb6_dev_parcel parcel,
                       const __grid_constant__ struct nb6_dev_control control)
{
    const int lane = threadIdx.x % WARP;
    const int64_t k = item_of_warp();
    if (own_item() == 0) *dev.control = control;
    if (k < parcel.n) {
        nb6_dev_unpack_body(&dev, &parcel, k, lane, WARP);
        nb6_dev_unpack_numbers(&dev, &parcel, k, lane, WARP);
    } else if (k < parcel.n + parcel.n_system) {
        nb6_dev_unpack_system(&dev, &parcel, k - parcel.n, lane, WARP);
    }
}

__global__ void set_control(const __grid_constant__ struct nb6_dev dev,
                            const __grid_constant__ struct nb6_dev_control control)
{
    *dev.control = control;
}

__global__ void renew_predictors(const __grid_constant__ struct nb6_dev dev)
{
    if (own_item() < dev.n) nb6_dev_renew_predictor(&dev, own_item());
}

__global__ void renew(const __grid_constant__ struct nb6_dev dev)
{
    if (own_item() >= dev.n) return;
    nb6_dev_renew_predictor(&dev, own_item());
    dev.shown[own_item()] = NB6_DEV_HIDDEN;
    dev.watch[own_item()] = nb6_dev_watch_alone(&dev, own_item());
}

__global__ void watch(const __grid_constant__ struct nb6_dev dev, const __grid_constant__ struct nb6_dev_parcel parcel)
{
    if (own_item() < parcel.n_watched) nb6_dev_unpack_watched(&dev, &parcel, own_item());
}

} // namespace

cudaError_t nb6_device_name_news(const struct nb6_dev *dev, nb6_time since, struct nb6_device_report *report,
                                 struct nb6_device_news *of_block, cudaStream_t stream)
{
    const unsigned blocks = (unsigned)nb6_device_news_blocks(dev->n);
    count_news<<<blocks, NEWS_THREADS, 0, stream>>>(*dev, since, of_block);
    name_news<<<blocks, NEWS_THREADS, 0, stream>>>(*dev, of_block, report);
    return cudaGetLastError();
}

cudaError_t nb6_device_pack_parcel(const struct nb6_dev *dev, const struct nb6_dev_parcel *parcel, cudaStream_t stream)
{
    if (parcel->n > 0) pack<<<blocks_for_warps(parcel->n), THREADS, 0, stream>>>(*dev, *parcel);
    return cudaGetLastError();
}

/* Stars and all else are set aside in the same memory, by turns; lists are the last to be there. */
cudaError_t nb6_device_move_places(const struct nb6_dev *dev, const struct nb6_dev_parcel *parcel, cudaStream_t stream)
{
    const struct nb6_dev_aside aside = nb6_dev_aside_in(nb6_dev_row(dev, 0, !dev->settled), dev);
    const int64_t moved = (parcel->end < dev->n ? parcel->end : dev->n) - parcel->first;
    const unsigned blocks = blocks_for_warps(moved), halves = (unsigned)((moved + HALVES - 1) / HALVES);
    if (moved > 0) {
        set_stars_aside<<<blocks, THREADS, 0, stream>>>(*dev, *parcel, aside);
        take_stars<<<blocks, THREADS, 0, stream>>>(*dev, *parcel, aside);
        set_others_aside<<<halves, THREADS, 0, stream>>>(*dev, *parcel, aside);
        take_others<<<halves, THREADS, 0, stream>>>(*dev, *parcel, aside);
    }
    renumber<<<blocks_for_warps(dev->n), THREADS, 0, stream>>>(*dev, *parcel);
    return cudaGetLastError();
}

/* Without a body or a system control still has to go there. */
cudaError_t nb6_device_unpack_parcel(const struct nb6_dev *dev, const struct nb6_dev_parcel *parcel,
                                     const struct nb6_dev_control *control, cudaStream_t stream)
{
    const int64_t items = parcel->n + (parcel->n_system > 0 ? parcel->n_system : 0);
    unpack<<<blocks_for_warps(items > 0 ? items : 1), THREADS, 0, stream>>>(*dev, *parcel, *control);
    renew<<<blocks_for(dev->n), THREADS, 0, stream>>>(*dev);
    if (parcel->n_system >= 0 && parcel->n_watched > 0)
        watch<<<blocks_for(parcel->n_watched), THREADS, 0, stream>>>(*dev, *parcel);
    return cudaGetLastError();
}

cudaError_t nb6_device_set_control(const struct nb6_dev *dev, const struct nb6_dev_control *control,
                                   cudaStream_t stream)
{
    set_control<<<1, 1, 0, stream>>>(*dev, *control);
    return cudaGetLastError();
}

cudaError_t nb6_device_renew_predictors(const struct nb6_dev *dev, cudaStream_t stream)
{
    renew_predictors<<<blocks_for(dev->n), THREADS, 0, stream>>>(*dev);
    return cudaGetLastError();
}
