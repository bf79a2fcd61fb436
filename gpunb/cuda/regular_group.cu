/* Pairs of groups of targets of a regular force by tree (gpunb/device/regular_group.h): a warp for each. Only the GPU
 * knows how many there are; as many blocks as are worth it take them by turns. */
#define TREE_TEAM 32
#include "gpunb/cuda/regular_tree.h"
#include "gpunb/device/regular_group.h"

namespace
{

constexpr int TARGETS_OF_A_BLOCK = 8; /* groups have more on average */

__global__ void __launch_bounds__(TREE_TEAM) make_pairs(const __grid_constant__ device_regular_tree t)
{
    __shared__ regular_pair_memory memory;
    const int32_t end = t.counters->groups;
    for (int32_t g = (int32_t)blockIdx.x; g < end; g += (int32_t)gridDim.x)
        regular_make_pairs(&t, &memory, &t.group[g]);
}

unsigned blocks_for(const device_regular_tree *t)
{
    return (unsigned)(t->n_i / TARGETS_OF_A_BLOCK + 1);
}

} // namespace

int gpunb_cuda_regular_tree_pairs(const device_regular_tree *t, nbd_stream *stream)
{
    make_pairs<<<blocks_for(t), TREE_TEAM, 0, (cudaStream_t)stream>>>(*t);
    return (int)cudaGetLastError();
}
