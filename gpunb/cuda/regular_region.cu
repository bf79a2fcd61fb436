/* Regions of a regular force by tree (gpunb/device/regular_region.h): a block of threads for each. */
#define TREE_TEAM 128
#include "gpunb/cuda/regular_tree.h"
#include "gpunb/device/regular_region.h"

namespace
{

constexpr int BLOCKS = 8; /* of a multiprocessor, that walk */

/* The number of a region of the levels [level, end), which the GPU alone knows.   @return whether there is one */
__device__ bool find_region(const device_regular_tree &t, int level, int end, int32_t *number)
{
    *number = regular_first_region(&t, level) + (int32_t)blockIdx.x;
    return *number < regular_first_region(&t, end);
}

__global__ void __launch_bounds__(TREE_TEAM, BLOCKS)
    walk_regions(const __grid_constant__ device_regular_tree t, int level)
{
    __shared__ regular_walk_memory memory;
    int32_t number;
    if (find_region(t, level, level + 1, &number)) regular_walk_region(&t, &memory, number);
}

__global__ void __launch_bounds__(TREE_TEAM) expand_regions(const __grid_constant__ device_regular_tree t, int levels)
{
    __shared__ regular_memory memory;
    int32_t number;
    if (find_region(t, 0, levels, &number)) regular_expand(&t, &memory, number);
}

__global__ void __launch_bounds__(TREE_TEAM) add_around(const __grid_constant__ device_regular_tree t, int level)
{
    __shared__ regular_memory memory;
    int32_t number;
    if (find_region(t, level, level + 1, &number)) regular_add_around(&t, &memory, number);
}

} // namespace

int gpunb_cuda_regular_tree_regions(const device_regular_tree *t, int level, int most, nbd_stream *stream)
{
    walk_regions<<<most, TREE_TEAM, 0, (cudaStream_t)stream>>>(*t, level);
    return (int)cudaGetLastError();
}

int gpunb_cuda_regular_tree_expand(const device_regular_tree *t, int levels, int most, nbd_stream *stream)
{
    expand_regions<<<most, TREE_TEAM, 0, (cudaStream_t)stream>>>(*t, levels);
    return (int)cudaGetLastError();
}

int gpunb_cuda_regular_tree_around(const device_regular_tree *t, int level, int most, nbd_stream *stream)
{
    add_around<<<most, TREE_TEAM, 0, (cudaStream_t)stream>>>(*t, level);
    return (int)cudaGetLastError();
}
