/* Kernels of essential trees (gpunb/device/tree_export_steps.h): each enqueues, and returns the code of a failure. */
#include "gpunb/cuda/tree.h"
#include "gpunb/device/tree_export_steps.h"

namespace
{

constexpr int THREADS = TREE_TEAM, MOST_BLOCKS = 1024;

int blocks_for(int64_t n)
{
    const int64_t blocks = (n + THREADS - 1) / THREADS;
    return (int)(blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS);
}

__global__ void __launch_bounds__(THREADS)
    measure_groups(const __grid_constant__ device_tree_walk walk, essential_measure *measure)
{
    __shared__ tree_walk_memory memory;
    tree_measure_group(&walk, &memory, (int)blockIdx.x, &measure[blockIdx.x]);
}

__global__ void begin_export(const __grid_constant__ device_tree_export job)
{
    tree_begin_export(&job);
}

/* The cells of a level, whose number the device alone knows. */
__global__ void __launch_bounds__(THREADS) judge_cells(const __grid_constant__ device_tree_export job)
{
    const int32_t begin = job.state->begin, end = job.state->end;
    uint64_t tested = 0;
    for (int64_t k = begin + (int64_t)blockIdx.x * THREADS + threadIdx.x; k < end; k += (int64_t)gridDim.x * THREADS) {
        essential_shape shape;
        shape.n_child = tree_judge_cell(&job, (int32_t)k, &tested);
        shape.count = job.tree.view.cell[job.queue[k]].count;
        job.shape[k] = shape;
    }
    if (tested > 0) atomicAdd(&job.state->tested, (unsigned long long)tested);
}

__global__ void __launch_bounds__(THREADS) open_level(const __grid_constant__ device_tree_export job)
{
    tree_open_level(&job);
}

__global__ void __launch_bounds__(THREADS) write_cells(const __grid_constant__ device_tree_export job)
{
    const int64_t cells = job.state->heading.cells;
    for (int64_t k = (int64_t)blockIdx.x * THREADS + threadIdx.x; k < cells; k += (int64_t)gridDim.x * THREADS)
        tree_write_exported(&job, (int32_t)k);
}

} // namespace

int gpunb_cuda_tree_measure(const device_tree_walk *walk, essential_measure *measure, nbd_stream *stream)
{
    const unsigned groups = (unsigned)((walk->n_i + walk->group - 1) / walk->group);
    measure_groups<<<groups, THREADS, 0, (cudaStream_t)stream>>>(*walk, measure);
    return (int)cudaGetLastError();
}

int gpunb_cuda_tree_choose(const device_tree_export *job, int levels, nbd_stream *stream)
{
    begin_export<<<1, 1, 0, (cudaStream_t)stream>>>(*job);
    for (int l = 0; l < levels; l++) {
        judge_cells<<<MOST_BLOCKS, THREADS, 0, (cudaStream_t)stream>>>(*job);
        open_level<<<1, THREADS, 0, (cudaStream_t)stream>>>(*job);
    }
    return (int)cudaGetLastError();
}

int gpunb_cuda_tree_write(const device_tree_export *job, int64_t cells, nbd_stream *stream)
{
    write_cells<<<blocks_for(cells), THREADS, 0, (cudaStream_t)stream>>>(*job);
    return (int)cudaGetLastError();
}
