/* Cells that act on groups of targets of a regular force by tree (gpunb/device/regular_cells.h), and their rows: a warp
 * for each. Only the GPU knows how many groups there are; as many blocks as are worth it take them by turns. */
#define TREE_TEAM 32
#include "gpunb/cuda/regular_tree.h"
#include "gpunb/device/regular_cells.h"

namespace
{

constexpr int TARGETS_OF_A_BLOCK = 8; /* groups have more on average */
constexpr int BLOCKS = 12;            /* of a multiprocessor */

__global__ void __launch_bounds__(TREE_TEAM) make_rows(const __grid_constant__ device_regular_tree t)
{
    __shared__ regular_terms_memory memory;
    regular_make_terms(&t, (int32_t)blockIdx.x, &memory);
}

__global__ void __launch_bounds__(TREE_TEAM, BLOCKS)
    make_cells(const __grid_constant__ device_regular_tree t, int stage)
{
    __shared__ regular_cells_memory memory;
    const int32_t first = stage > 0 ? t.counters->end[stage - 1] : 0, end = t.counters->end[stage];
    for (int32_t g = first + (int32_t)blockIdx.x; g < end; g += (int32_t)gridDim.x)
        regular_make_cells(&t, &memory, &t.group[g], stage + 1 < REGULAR_STAGES);
}

} // namespace

int gpunb_cuda_regular_tree_rows(const device_regular_tree *t, int n_cells, nbd_stream *stream)
{
    make_rows<<<n_cells, TREE_TEAM, 0, (cudaStream_t)stream>>>(*t);
    return (int)cudaGetLastError();
}

int gpunb_cuda_regular_tree_cells(const device_regular_tree *t, int stage, nbd_stream *stream)
{
    const unsigned blocks = (unsigned)(t->n_i / TARGETS_OF_A_BLOCK + 1);
    make_cells<<<blocks, TREE_TEAM, 0, (cudaStream_t)stream>>>(*t, stage);
    return (int)cudaGetLastError();
}
