/* Expansions of the regions of a regular force by tree (gpunb/device/regular_region.h): a block of threads for each. */
#define TREE_TEAM 128
#include "gpunb/cuda/regular_tree.h"
#include "gpunb/device/regular_region.h"

namespace
{

__global__ void __launch_bounds__(TREE_TEAM) make_regions(const __grid_constant__ device_regular_tree t, int first)
{
    __shared__ regular_memory memory;
    const int32_t c = first + (int32_t)blockIdx.x;
    if (t.region_of[c] != REGULAR_NONE) regular_make_region(&t, &memory, c);
}

} // namespace

int gpunb_cuda_regular_tree_regions(const device_regular_tree *t, int first, int end, nbd_stream *stream)
{
    make_regions<<<end - first, TREE_TEAM, 0, (cudaStream_t)stream>>>(*t, first);
    return (int)cudaGetLastError();
}
