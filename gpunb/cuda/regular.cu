/* Kernels of the regular force in device memory (gpunb/device/regular.h). All but one need no barrier between blocks of
 * threads; each has a block of threads for each multiprocessor, since slices are cut for so many warps. */
#include "gpunb/cuda/kernels.h"
#include "gpunb/cuda/left.cuh"
#include "gpunb/cuda/mutual.cuh"
#include "gpunb/cuda/sort.cuh"

namespace
{

/* Shared memory of a warp, one of these. */
union sums_memory {
    tile_memory tile;
    mutual_memory mutual;
    int32_t list[LIST_ROOM];
};

constexpr size_t SHARED_BYTES = WARPS * sizeof(sums_memory);
static_assert(WARPS == GPUNB_DEV_WARPS, "slices are cut for so many");
static_assert(sizeof(sort_memory) <= SHARED_BYTES, "they sort in the same memory");

__device__ __forceinline__ sums_memory &own_memory()
{
    extern __shared__ float4 dynamic[];
    return reinterpret_cast<sums_memory *>(dynamic)[warp_of()];
}

__device__ __forceinline__ grid_of_blocks own_grid(const struct gpunb_dev_job &job)
{
    return {&job.sums.counter[GPUNB_DEV_ARRIVED], 0};
}

/* ---- the order of sources and targets */

/* The record of a target says which source it is. */
struct asked_source {
    const struct gpunb_dev_job &job;
    __device__ __forceinline__ int32_t operator()(int64_t m) const
    {
        const int32_t j = job.asked[m].source;
        job.sums.owner[j] = (int32_t)m;
        return j;
    }
};

__global__ void __launch_bounds__(THREADS, 1) prepare(const __grid_constant__ struct gpunb_dev_job job)
{
    const struct gpunb_dev_sums &sums = job.sums;
    grid_of_blocks grid = own_grid(job);
    sort_sources(sums, job.n, asked_source{job}, grid);
    for (int64_t place = grid.rank(); place < sums.n; place += grid.size()) {
        const int32_t j = sums.order[place];
        job.place_of[j] = (int32_t)place;
        if (place < job.n) job.ask_at[place] = sums.owner[j];
    }
    make_tiles(sums);
    prepare_mutual(job, grid);
}

/* Targets in the order of the curve, for sources that are sorted already: `owner` is their number plus one at each
 * place of a source, 0: it is none. */
__global__ void __launch_bounds__(THREADS, 1) prepare_again(const __grid_constant__ struct gpunb_dev_job job)
{
    __shared__ int32_t of_warps[WARPS];
    const struct gpunb_dev_sums &sums = job.sums;
    grid_of_blocks grid = own_grid(job);
    const int64_t first = sums.n * blockIdx.x / gridDim.x, end = sums.n * (blockIdx.x + 1) / gridDim.x;
    int32_t at = 0, total;
    for (int64_t place = grid.rank(); place < sums.n; place += grid.size()) sums.owner[place] = 0;
    grid.sync();
    for (int64_t m = grid.rank(); m < job.n; m += grid.size())
        sums.owner[job.place_of[job.asked[m].source]] = (int32_t)m + 1;
    grid.sync();
    int32_t own = 0;
    for (int64_t place = first + threadIdx.x; place < end; place += THREADS) own += sums.owner[place] > 0;
    (void)count_before(own, of_warps, &total);
    if (threadIdx.x == 0) sums.digits[blockIdx.x] = total;
    grid.sync();
    for (int block = 0; block < (int)blockIdx.x; block++) at += sums.digits[block];
    for (int64_t begin = first; begin < end; begin += THREADS, at += total) {
        const int64_t place = begin + threadIdx.x;
        const int32_t owner = place < end ? sums.owner[place] : 0;
        const int32_t before = count_before(owner > 0, of_warps, &total);
        if (owner > 0) job.ask_at[at + before] = owner - 1;
    }
    prepare_mutual(job, grid);
}

/* ---- sums */

__global__ void __launch_bounds__(THREADS, 1) sum_pairs(const __grid_constant__ struct gpunb_dev_job job, int64_t share)
{
    sum_mutual(job, share, own_memory().mutual);
}

__global__ void set_viewers(const __grid_constant__ struct gpunb_dev_job job, int64_t first, int64_t n)
{
    const int64_t m = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (m < n) job.sums.viewer[m] = gpunb_dev_viewer_at(&job, first + m);
}

template <bool WEIGHTED>
__global__ void __launch_bounds__(THREADS, 1)
    sum_left_of(const __grid_constant__ struct gpunb_dev_job job, int64_t first, int64_t n, int64_t share)
{
    sum_left<WEIGHTED>(job, first, n, share, own_memory().tile);
}

/* ---- results */

__global__ void __launch_bounds__(THREADS, 1)
    finish_round(const __grid_constant__ struct gpunb_dev_job job, int64_t first, int64_t n)
{
    const struct gpunb_dev_sums &sums = job.sums;
    for (int64_t m = warp_of_all(); m < n; m += warps_of_all()) {
        struct gpunb_dev_asked &asked = job.asked[job.ask_at[first + m]];
        const slices_of slices = slices_on(job, first, m);
        const auto found_of = [&](int64_t slice) { return found_in_slice(sums, m, slices.number, slice); };
        const auto source_at = [&](int64_t place) -> const struct gpunb_dev_source &
        {
            return sums.source[sums.order[place]];
        };
        const auto settle = [&](int64_t slice, int32_t entries) {
            return settle_entries(found_of(slice), entries, source_at, sums.viewer[m], sums.weighted);
        };
        struct gpunb_dev_sum sum = sum_slices(sums, slices, settle);
        if (lane_of() == 0) gpunb_dev_add_mutual(&job, first + m, &sum);
        const component own = add_lanes(sum);
        if (lane_of() < 3) {
            asked.sum.acc[lane_of()] = own.acc;
            asked.sum.jerk[lane_of()] = own.jerk;
        }
        const int64_t count = make_list(sums, slices, found_of, true, own_memory().list,
                                        job.lists + asked.row * job.row_room, job.row_room);
        if (lane_of() == 0) asked.count = (int32_t)count;
    }
}

template <typename... parameters>
cudaError_t launch(void (*kernel)(parameters...), int blocks, cudaStream_t stream, parameters... arguments)
{
    kernel<<<blocks, THREADS, SHARED_BYTES, stream>>>(arguments...);
    return cudaGetLastError();
}

/* A kernel with barriers, whose counter is zero at its start. */
cudaError_t launch_together(void (*kernel)(struct gpunb_dev_job), const struct gpunb_dev_job *job, int blocks,
                            cudaStream_t stream)
{
    struct gpunb_dev_job own = *job;
    void *arguments[] = {&own};
    const cudaError_t code =
        cudaMemsetAsync(job->sums.counter, 0, GPUNB_DEV_COUNTERS * sizeof *job->sums.counter, stream);
    if (code != cudaSuccess) return code;
    return cudaLaunchCooperativeKernel((const void *)kernel, dim3((unsigned)blocks), dim3(THREADS), arguments,
                                       SHARED_BYTES, stream);
}

} // namespace

cudaError_t gpunb_cuda_regular_blocks(int device, int *blocks)
{
    int cooperative = 0;
    const void *kernels[] = {(const void *)prepare,           (const void *)prepare_again,
                             (const void *)sum_pairs,         (const void *)sum_left_of<false>,
                             (const void *)sum_left_of<true>, (const void *)finish_round};
    cudaError_t code = cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, device);
    if (code == cudaSuccess) code = cudaDeviceGetAttribute(blocks, cudaDevAttrMultiProcessorCount, device);
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels && code == cudaSuccess; k++)
        code = cudaFuncSetAttribute(kernels[k], cudaFuncAttributeMaxDynamicSharedMemorySize, (int)SHARED_BYTES);
    if (!cooperative) *blocks = 0;
    return code;
}

cudaError_t gpunb_cuda_regular_prepare(const struct gpunb_dev_job *job, int is_again, int blocks, cudaStream_t stream)
{
    return launch_together(is_again ? prepare_again : prepare, job, blocks, stream);
}

cudaError_t gpunb_cuda_regular_pairs(const struct gpunb_dev_job *job, int64_t share, int blocks, cudaStream_t stream)
{
    return launch(sum_pairs, blocks, stream, *job, share);
}

cudaError_t gpunb_cuda_regular_viewers(const struct gpunb_dev_job *job, int64_t first, int64_t n, cudaStream_t stream)
{
    constexpr int OF_BLOCK = 128;
    set_viewers<<<(unsigned)((n + OF_BLOCK - 1) / OF_BLOCK), OF_BLOCK, 0, stream>>>(*job, first, n);
    return cudaGetLastError();
}

cudaError_t gpunb_cuda_regular_left(const struct gpunb_dev_job *job, int64_t first, int64_t n, int64_t share,
                                    int blocks, cudaStream_t stream)
{
    return launch(job->sums.weighted ? sum_left_of<true> : sum_left_of<false>, blocks, stream, *job, first, n, share);
}

cudaError_t gpunb_cuda_regular_finish(const struct gpunb_dev_job *job, int64_t first, int64_t n, int blocks,
                                      cudaStream_t stream)
{
    return launch(finish_round, blocks, stream, *job, first, n);
}
