// Kernels of the backend `cuda`: bodies that were set to their places, and forces, a warp for each active body.
#include "gpuirr/cuda/kernels.h"
#include "gpuirr/device/lane.h"

namespace
{

constexpr int THREADS = 128, WARP = GPUIRR_LANES, WARPS = THREADS / WARP;
constexpr unsigned ALL = 0xffffffffu;

/* A record is copied by half a warp, a number by each thread, so that memory of the host is read in lines. */
constexpr int NUMBERS = sizeof(struct gpuirr_device_change) / sizeof(double);
constexpr int NUMBER_OF_BODY = offsetof(struct gpuirr_device_change, body) / sizeof(double);
static_assert(NUMBERS == WARP / 2, "two records for a warp");

__global__ void __launch_bounds__(THREADS) store_bodies(const struct gpuirr_device_store_job job)
{
    const size_t k = (size_t)blockIdx.x * THREADS + threadIdx.x, end = job.n * NUMBERS;
    const double *from = (const double *)job.change;
    const double number = from[k < end ? k : end - 1];
    const long long body =
        __shfl_sync(ALL, __double_as_longlong(number), (threadIdx.x & (WARP / 2)) + NUMBER_OF_BODY, WARP);
    if (k < end) ((double *)job.body)[(size_t)body * NUMBERS + k % NUMBERS] = number;
}

__device__ __forceinline__ struct gpuirr_lane_sum of_other_lane(const struct gpuirr_lane_sum &own, int half)
{
    struct gpuirr_lane_sum other;
#pragma unroll
    for (int k = 0; k < 3; k++) {
        other.acc[k] = __shfl_xor_sync(ALL, own.acc[k], half);
        other.jerk[k] = __shfl_xor_sync(ALL, own.jerk[k], half);
    }
    other.noise = __shfl_xor_sync(ALL, own.noise, half);
    other.r2_min = __shfl_xor_sync(ALL, own.r2_min, half);
    other.nearest = __shfl_xor_sync(ALL, own.nearest, half);
    other.coincident = __shfl_xor_sync(ALL, own.coincident, half);
    other.m = __shfl_xor_sync(ALL, own.m, half);
    other.r2 = __shfl_xor_sync(ALL, own.r2, half);
    other.strongest = __shfl_xor_sync(ALL, own.strongest, half);
    return other;
}

/* The same in all lanes. */
__device__ __forceinline__ struct gpuirr_lane_sum sum_lanes(const struct gpuirr_lane_job &job,
                                                            const struct gpuirr_lane_rule &rule)
{
    struct gpuirr_lane_sum sum;
    gpuirr_lane_make(&job, &rule, threadIdx.x % WARP, &sum);
#pragma unroll
    for (int half = WARP / 2; half > 0; half /= 2) {
        const struct gpuirr_lane_sum other = of_other_lane(sum, half);
        gpuirr_lane_join(&sum, &other);
    }
    return sum;
}

/* In one read, since it may lie in memory of the host. */
__device__ __forceinline__ struct gpuirr_device_task task_at(const struct gpuirr_device_task *task)
{
    static_assert(sizeof *task == sizeof(int4), "a task in one read");
    const int4 read = *(const int4 *)task;
    struct gpuirr_device_task t;
    t.body = read.x;
    t.nnb = read.y;
    t.start = (int64_t)((uint64_t)(uint32_t)read.w << 32 | (uint32_t)read.z);
    return t;
}

/* Where the list of a task is, once it is there. */
__device__ __forceinline__ const int32_t *list_of(const struct gpuirr_device_force_job &job,
                                                  const struct gpuirr_device_task &task)
{
    if (task.start >= 0) return job.pool + task.start;
    const int32_t *fresh = job.fresh + ~task.start;
    int32_t *row = job.pool + *(const int64_t *)fresh;
    for (int32_t k = threadIdx.x % WARP; k < task.nnb; k += WARP) row[k] = fresh[GPUIRR_FRESH_HEAD + k];
    __syncwarp();
    return row;
}

/* One number by each of the first lanes: memory of the host is written in lines. */
__device__ __forceinline__ void put_force(const struct gpuirr_force &from, struct gpuirr_force *to)
{
    constexpr int SUMS = 6;
    static_assert(sizeof(struct gpuirr_force) == (SUMS + 1) * sizeof(double), "six sums, and two integers in one");
    const int lane = threadIdx.x % WARP;
    double number = __hiloint2double((int)from.coincident, from.nearest);
#pragma unroll
    for (int k = 0; k < 3; k++) {
        if (lane == k) number = from.acc[k];
        if (lane == 3 + k) number = from.jerk[k];
    }
    if (lane <= SUMS) ((double *)to)[lane] = number;
}

__global__ void __launch_bounds__(THREADS) sum_forces(const struct gpuirr_device_force_job job)
{
    const size_t k = (size_t)blockIdx.x * WARPS + threadIdx.x / WARP;
    if (k >= job.n) return;
    const struct gpuirr_device_task task = task_at(&job.task[k]);
    const int32_t *list = list_of(job, task);
    const struct gpuirr_lane_job lanes = gpuirr_lane_job_of(job.body, task.body, list, task.nnb, job.t);
    struct gpuirr_lane_rule rule = gpuirr_lane_first(task.nnb, job.in_double);
    struct gpuirr_lane_sum total;
    do {
        total = sum_lanes(lanes, rule);
    } while (gpuirr_lane_again(&total, &rule));
    put_force(gpuirr_lane_force(&lanes, &total), &job.force[k]);
    if (job.noise && threadIdx.x % WARP == 0) job.noise[k] = total.noise;
}

unsigned blocks_for(size_t n, int in_block)
{
    return (unsigned)((n + (size_t)in_block - 1) / (size_t)in_block);
}

} // namespace

cudaError_t gpuirr_cuda_store(const struct gpuirr_device_store_job *job, cudaStream_t stream)
{
    store_bodies<<<blocks_for(job->n, THREADS / NUMBERS), THREADS, 0, stream>>>(*job);
    return cudaGetLastError();
}

cudaError_t gpuirr_cuda_forces(const struct gpuirr_device_force_job *job, cudaStream_t stream)
{
    sum_forces<<<blocks_for(job->n, WARPS), THREADS, 0, stream>>>(*job);
    return cudaGetLastError();
}
