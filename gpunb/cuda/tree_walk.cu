/* Walks of groups through a tree (gpunb/device/tree_walk.h): a block of threads for DEVICE_TREE_MOST_TARGETS targets,
 * all groups in a launch. */
#include "gpunb/cuda/tree.h"
#include "gpunb/device/tree_walk.h"

namespace
{

constexpr int THREADS = TREE_TEAM;
constexpr unsigned BLOCKS_FOR_LEFT = 1024;

/* Blocks of a multiprocessor: with more of them low orders lack registers. */
constexpr int blocks_of_order(int order)
{
    return order <= TREE_LOW_ORDER ? 5 : 1;
}

template <int ORDER, bool POT>
__global__ void __launch_bounds__(THREADS, blocks_of_order(ORDER))
    walk_groups(const __grid_constant__ device_tree_walk job)
{
    __shared__ tree_walk_memory memory;
    constexpr int strides[] = DEVICE_TREE_STRIDES, STRIDE = strides[ORDER];
    const int64_t items = tree_items(&job);
    for (int64_t item = blockIdx.x; item < items; item += gridDim.x)
        tree_walk_item(&job, &memory, item, ORDER, STRIDE, POT);
}

template <int ORDER>
__global__ void __launch_bounds__(THREADS) make_regions(const __grid_constant__ device_tree_walk job)
{
    __shared__ tree_walk_memory memory;
    tree_make_region(&job, &memory, (int)blockIdx.x, ORDER);
}

__global__ void __launch_bounds__(THREADS) add_shares(const __grid_constant__ device_tree_walk job, int n)
{
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) tree_add_shares(&job, i);
}

/* Blocks of a launch: one for each of its items; of those that were left, whose number the device alone knows, as
 * many as are worth it. */
unsigned blocks_of(const device_tree_walk &job)
{
    const int64_t of_group = (job.group + DEVICE_TREE_MOST_TARGETS - 1) / DEVICE_TREE_MOST_TARGETS * job.shares;
    if (job.sample) return DEVICE_TREE_SAMPLE;
    return job.again ? BLOCKS_FOR_LEFT : (unsigned)(job.n_groups * of_group);
}

template <int ORDER> int launch(const device_tree_walk &job, cudaStream_t stream)
{
    if (job.pot)
        walk_groups<ORDER, true><<<blocks_of(job), THREADS, 0, stream>>>(job);
    else
        walk_groups<ORDER, false><<<blocks_of(job), THREADS, 0, stream>>>(job);
    return (int)cudaGetLastError();
}

template <int ORDER> int launch_regions(const device_tree_walk &job, unsigned regions, cudaStream_t stream)
{
    make_regions<ORDER><<<regions, THREADS, 0, stream>>>(job);
    return (int)cudaGetLastError();
}

} // namespace

int gpunb_cuda_tree_regions(const device_tree_walk *walk, nbd_stream *stream)
{
    static int (*const of_order[])(const device_tree_walk &, unsigned, cudaStream_t) = {
        launch_regions<1>, launch_regions<2>, launch_regions<3>, launch_regions<4>,
        launch_regions<5>, launch_regions<6>, launch_regions<7>, launch_regions<8>};
    const unsigned regions = (unsigned)((walk->n_i + walk->region_targets - 1) / walk->region_targets);
    return of_order[walk->rule.order - 1](*walk, regions, (cudaStream_t)stream);
}

int gpunb_cuda_tree_walk(const device_tree_walk *walk, nbd_stream *stream)
{
    static int (*const of_order[])(const device_tree_walk &, cudaStream_t) = {
        launch<1>, launch<2>, launch<3>, launch<4>, launch<5>, launch<6>, launch<7>, launch<8>};
    return of_order[walk->rule.order - 1](*walk, (cudaStream_t)stream);
}

int gpunb_cuda_tree_add_shares(const device_tree_walk *walk, nbd_stream *stream)
{
    const int left = walk->n_i - walk->first_group * walk->group, n = left < walk->group ? left : walk->group;
    add_shares<<<(n + THREADS - 1) / THREADS, THREADS, 0, (cudaStream_t)stream>>>(*walk, n);
    return (int)cudaGetLastError();
}
