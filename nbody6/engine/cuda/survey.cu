#include "nbody6/engine/cuda/survey.h"

#include "nbody6/engine/cuda/items.cuh"

namespace
{

constexpr unsigned ALL = 0xffffffffu;

struct two_places {
    int32_t place[2];
};

/* Each thread searches the list of a body for both. */
__global__ void search(const __grid_constant__ struct nb6_dev dev, const two_places of,
                       struct nb6_device_holders *found)
{
    const int64_t k = own_item();
    if (k >= dev.n) return;
    for (int m = 0; m < 2; m++)
        if (nb6_dev_holds(&dev, (int32_t)k, of.place[m]))
            found->entry[atomicAdd(&found->n, 1)] = nb6_dev_holder((int32_t)k, m);
}

__global__ void note(const __grid_constant__ struct nb6_dev_revision revision)
{
    if (own_item() < revision.n) nb6_dev_note_revised(&revision, own_item());
}

/* The sum over the threads of a block, whose thread 0 has it. */
__device__ __forceinline__ double sum_of_block(double own, double *of_warp)
{
    for (int half = WARP / 2; half > 0; half /= 2) own += __shfl_down_sync(ALL, own, half);
    __syncthreads();
    if (threadIdx.x % WARP == 0) of_warp[threadIdx.x / WARP] = own;
    __syncthreads();
    double sum = 0;
    for (int w = 0; w < WARPS; w++) sum += of_warp[w];
    return sum;
}

/* A block of threads has a slice. */
__global__ void __launch_bounds__(THREADS)
    sum_slice(const __grid_constant__ struct nb6_dev dev, const __grid_constant__ struct nb6_dev_revision revision,
              const __grid_constant__ struct nb6_dev_apart apart, double (*sum)[NB6_DEV_SURVEY_SUMS])
{
    __shared__ double of_warp[WARPS];
    double own[NB6_DEV_SURVEY_SUMS] = {0, 0, 0, 0};
    int64_t first, end;
    nb6_dev_survey_slice(&dev, &revision, blockIdx.x, &first, &end);
    for (int64_t j = first + threadIdx.x; j < end; j += THREADS) {
        const struct nb6_body *body = nb6_dev_revised(&dev, &revision, j);
        if (body) nb6_dev_add_to_survey(body, revision.t, &apart, own);
    }
    for (int k = 0; k < NB6_DEV_SURVEY_SUMS; k++) {
        const double all = sum_of_block(own[k], of_warp);
        if (threadIdx.x == 0) sum[blockIdx.x][k] = all;
    }
}

constexpr int TARGETS = NB6_DEV_SURVEY_TARGETS;

__device__ __forceinline__ void add_to_list(const struct nb6_device_survey_job &job, int64_t k, int64_t j)
{
    const int32_t at = atomicAdd(&job.nnb[k], 1);
    if (at < job.row) job.list[k * job.row + at] = (int32_t)j;
}

/* A block of threads has a slice on some targets. */
__global__ void __launch_bounds__(THREADS)
    sum_forces(const __grid_constant__ struct nb6_dev dev, const __grid_constant__ struct nb6_dev_revision revision,
               const __grid_constant__ struct nb6_device_survey_job job)
{
    __shared__ double of_warp[WARPS];
    __shared__ struct nb6_dev_survey_target target[TARGETS];
    const int64_t first_target = (int64_t)blockIdx.x * TARGETS, left = job.n - first_target;
    const int targets = left < TARGETS ? (int)left : TARGETS;
    double own[TARGETS][6] = {};
    int64_t first, end;
    if (threadIdx.x < targets) target[threadIdx.x] = job.target[first_target + threadIdx.x];
    __syncthreads();
    nb6_dev_survey_slice(&dev, &revision, blockIdx.y, &first, &end);
    for (int64_t j = first + threadIdx.x; j < end; j += THREADS) {
        const struct nb6_body *body = nb6_dev_revised(&dev, &revision, j);
        double x[3], v[3];
        if (!body) continue;
        nb6_dev_survey_predict(body, revision.t, x, v);
#pragma unroll
        for (int m = 0; m < TARGETS; m++) {
            if (m >= targets || target[m].self == j) continue;
            if (nb6_dev_survey_force_by(&target[m], body->mass, x, v, job.weighted, own[m]))
                add_to_list(job, first_target + m, j);
        }
    }
#pragma unroll
    for (int m = 0; m < TARGETS; m++)
        for (int k = 0; k < 6; k++) {
            const double all = sum_of_block(own[m][k], of_warp);
            if (threadIdx.x == 0 && m < targets)
                job.force[(first_target + m) * NB6_DEV_SURVEY_SLICES + blockIdx.y].sum[k] = all;
        }
}

} // namespace

cudaError_t nb6_device_search_lists(const struct nb6_dev *dev, const int32_t place[2], struct nb6_device_holders *found,
                                    cudaStream_t stream)
{
    const two_places of = {{place[0], place[1]}};
    search<<<blocks_for(dev->n), THREADS, 0, stream>>>(*dev, of, found);
    return cudaGetLastError();
}

cudaError_t nb6_device_note_revised(const struct nb6_dev_revision *revision, cudaStream_t stream)
{
    if (revision->n == 0) return cudaSuccess;
    note<<<blocks_for(revision->n), THREADS, 0, stream>>>(*revision);
    return cudaGetLastError();
}

cudaError_t nb6_device_survey_sums(const struct nb6_dev *dev, const struct nb6_dev_revision *revision,
                                   const struct nb6_dev_apart *apart, double (*sum)[NB6_DEV_SURVEY_SUMS],
                                   cudaStream_t stream)
{
    sum_slice<<<NB6_DEV_SURVEY_SLICES, THREADS, 0, stream>>>(*dev, *revision, *apart, sum);
    return cudaGetLastError();
}

cudaError_t nb6_device_survey_forces(const struct nb6_dev *dev, const struct nb6_dev_revision *revision,
                                     const struct nb6_device_survey_job *job, cudaStream_t stream)
{
    const dim3 blocks((unsigned)((job->n + TARGETS - 1) / TARGETS), NB6_DEV_SURVEY_SLICES);
    sum_forces<<<blocks, THREADS, 0, stream>>>(*dev, *revision, *job);
    return cudaGetLastError();
}
