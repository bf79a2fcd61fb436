/* Preparations of the walks of a regular force by tree (gpunb/device/regular_tree.h): sources, targets, rates of cells.
 */
#include "gpunb/cuda/regular_tree.h"
#include "gpunb/device/regular_field.h"

namespace
{

constexpr int BLOCK = 256, RATE_WARPS = 2;
constexpr int TARGETS_OF_A_BLOCK = 8; /* groups have more on average */

typedef void step(const device_regular_tree *t, int32_t item);

template <step *ONE>
__global__ void __launch_bounds__(BLOCK) run(const __grid_constant__ device_regular_tree t, int first, int end)
{
    const int item = first + blockIdx.x * BLOCK + threadIdx.x;
    if (item < end) ONE(&t, item);
}

template <step *ONE> int launch(const device_regular_tree *t, int first, int end, nbd_stream *stream)
{
    run<ONE><<<(end - first + BLOCK - 1) / BLOCK, BLOCK, 0, (cudaStream_t)stream>>>(*t, first, end);
    return (int)cudaGetLastError();
}

/* A warp for each of the cells [first, end) that are leaves, or that are none. */
__global__ void __launch_bounds__(RATE_WARPS *TREE_WARP)
    make_rates(const __grid_constant__ device_regular_tree t, int first, int end, bool are_leaves)
{
    __shared__ tree_rates_memory memory[RATE_WARPS];
    const int warp = threadIdx.x / TREE_WARP, c = first + blockIdx.x * RATE_WARPS + warp;
    if (c >= end || (t.tree.view.cell[c].n_child == 0) != are_leaves) return;
    const tree_rates_view view = regular_rates_view(&t);
    tree_make_rates(&view, (size_t)c, &memory[warp]);
}

int launch_rates(const device_regular_tree *t, int first, int end, bool are_leaves, nbd_stream *stream)
{
    make_rates<<<(end - first + RATE_WARPS - 1) / RATE_WARPS, RATE_WARPS * TREE_WARP, 0, (cudaStream_t)stream>>>(
        *t, first, end, are_leaves);
    return (int)cudaGetLastError();
}

/* A warp for each group, by turns. */
__global__ void __launch_bounds__(TREE_WARP) make_fields(const __grid_constant__ device_regular_tree t)
{
    const int32_t end = t.counters->end[0];
    for (int32_t g = (int32_t)blockIdx.x; g < end; g += (int32_t)gridDim.x) regular_make_fields(&t, &t.group[g]);
}

} // namespace

int gpunb_cuda_regular_tree_sources(const device_regular_tree *t, nbd_stream *stream)
{
    return launch<regular_take_source>(t, 0, t->tree.n, stream);
}

int gpunb_cuda_regular_tree_sort(const device_regular_tree *t, nbd_stream *stream)
{
    return launch<regular_sort_source>(t, 0, t->tree.n, stream);
}

int gpunb_cuda_regular_tree_leaves(const device_regular_tree *t, int n_cells, nbd_stream *stream)
{
    return launch_rates(t, 0, n_cells, true, stream);
}

int gpunb_cuda_regular_tree_wholes(const device_regular_tree *t, int first, int end, nbd_stream *stream)
{
    return launch_rates(t, first, end, false, stream);
}

int gpunb_cuda_regular_tree_places(const device_regular_tree *t, nbd_stream *stream)
{
    return launch<regular_place_target>(t, 0, t->n_i, stream);
}

int gpunb_cuda_regular_tree_targets(const device_regular_tree *t, nbd_stream *stream)
{
    return launch<regular_make_target>(t, 0, t->n_i, stream);
}

int gpunb_cuda_regular_tree_sizes(const device_regular_tree *t, nbd_stream *stream)
{
    return launch<regular_take_size>(t, 0, t->n_i, stream);
}

int gpunb_cuda_regular_tree_plan(const device_regular_tree *t, int first, int end, nbd_stream *stream)
{
    return launch<regular_plan_cell>(t, first, end, stream);
}

int gpunb_cuda_regular_tree_fields(const device_regular_tree *t, nbd_stream *stream)
{
    make_fields<<<t->n_i / TARGETS_OF_A_BLOCK + 1, TREE_WARP, 0, (cudaStream_t)stream>>>(*t);
    return (int)cudaGetLastError();
}
