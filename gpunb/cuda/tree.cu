/* Kernels that build trees (gpunb/device/tree.h): each enqueues, and returns the code of a failure. */
#include "gpunb/cuda/tree.h"
#include "gpunb/device/tree_steps.h"
#include "gpunb/tree/moments.h"

#include <cooperative_groups.h>

namespace
{

constexpr int BLOCK = 256, WARP = TREE_WARP, WARPS = BLOCK / WARP;
constexpr unsigned ALL = 0xffffffffu;

int blocks_for(int n, int each = BLOCK)
{
    return (n + each - 1) / each;
}

int result()
{
    return (int)cudaGetLastError();
}

/* A failure, which is not that of a later call as well. */
int failed(cudaError_t code)
{
    cudaGetLastError();
    return (int)code;
}

__device__ __forceinline__ int thread_of_all()
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ __forceinline__ int lane_of()
{
    return threadIdx.x % WARP;
}

typedef unsigned long long ull;

/* ---- keys */

__global__ void __launch_bounds__(BLOCK) empty(const device_tree tree)
{
    device_tree_shape *shape = tree.shape;
    tree_fill_tables(tree.tables, tree.view.order + 2, threadIdx.x, BLOCK);
    if (threadIdx.x > 0) return;
    for (int k = 0; k < 3; k++) {
        shape->low[k] = ~(uint64_t)0;
        shape->high[k] = 0;
    }
    shape->tied = shape->n_levels = shape->n_cells = shape->is_full = shape->largest = 0;
}

/* A warp's box to that of all: largest and least numbers do not depend on the order. */
__device__ void join_boxes(uint64_t low, uint64_t high, uint64_t *of_all_low, uint64_t *of_all_high)
{
    for (int half = WARP / 2; half > 0; half /= 2) {
        low = min((ull)low, (ull)__shfl_xor_sync(ALL, low, half));
        high = max((ull)high, (ull)__shfl_xor_sync(ALL, high, half));
    }
    if (lane_of() > 0) return;
    atomicMin((ull *)of_all_low, (ull)low);
    atomicMax((ull *)of_all_high, (ull)high);
}

__global__ void __launch_bounds__(BLOCK) bound(const device_tree tree, const softened_sources sources)
{
    uint64_t low[3], high[3];
    for (int k = 0; k < 3; k++) {
        low[k] = ~(uint64_t)0;
        high[k] = 0;
    }
    for (int j = thread_of_all(); j < tree.n; j += gridDim.x * BLOCK) {
        const double *x = softened_position(&sources, j);
        for (int k = 0; k < 3; k++) {
            const uint64_t bits = nbc_ordered_bits(x[k]);
            low[k] = min((ull)low[k], (ull)bits);
            high[k] = max((ull)high[k], (ull)bits);
        }
    }
    __syncwarp();
    for (int k = 0; k < 3; k++) join_boxes(low[k], high[k], &tree.shape->low[k], &tree.shape->high[k]);
}

__global__ void __launch_bounds__(BLOCK) check_masses(const device_tree tree, const softened_sources sources)
{
    const int j = thread_of_all();
    if (j < tree.n && softened_mass(&sources, j) < 0) atomicMin(&tree.shape->negative, j);
}

__global__ void __launch_bounds__(BLOCK)
    make_keys(const device_tree tree, const softened_sources sources, const device_tree_scratch scratch)
{
    const int i = thread_of_all();
    if (i >= tree.n) return;
    const int32_t source = tree_source_of(&tree, i);
    scratch.key[i] = tree_source_key(&tree, softened_position(&sources, source));
    scratch.number[i] = source;
}

__global__ void __launch_bounds__(BLOCK) count_ties(const device_tree tree, const softened_sources sources)
{
    const int p = thread_of_all();
    const int is_tied = p < tree.n && tree_is_to_part(&tree, &sources, p);
    const int tied = __popc(__ballot_sync(ALL, is_tied));
    if (lane_of() == 0 && tied > 0) atomicAdd(&tree.shape->tied, tied);
}

__global__ void __launch_bounds__(BLOCK) find_runs(const device_tree tree, const device_tree_scratch scratch)
{
    const int p = thread_of_all();
    if (p >= tree.n) return;
    int32_t first, end;
    tree_find_run(&tree, p, &first, &end);
    scratch.run[p] = (uint64_t)first;
    scratch.other[p] = p;
    for (int k = 0; k < 3 && first == p; k++) {
        scratch.box[p][k] = ~(uint64_t)0;
        scratch.box[p][3 + k] = 0;
    }
}

__global__ void __launch_bounds__(BLOCK)
    bound_runs(const device_tree tree, const softened_sources sources, const device_tree_scratch scratch)
{
    const int p = thread_of_all(), at = min(p, tree.n - 1);
    const double *x = softened_position(&sources, tree.number[at]);
    uint64_t *box = scratch.box[scratch.run[at]];
    const bool is_one_run = __match_any_sync(ALL, (unsigned)scratch.run[at]) == ALL;
    for (int k = 0; k < 3; k++) {
        const uint64_t bits = nbc_ordered_bits(x[k]);
        if (is_one_run) {
            join_boxes(bits, bits, &box[k], &box[3 + k]);
        } else if (p < tree.n) {
            atomicMin((ull *)&box[k], (ull)bits);
            atomicMax((ull *)&box[3 + k], (ull)bits);
        }
    }
}

__global__ void __launch_bounds__(BLOCK)
    make_next_keys(const device_tree tree, const softened_sources sources, const device_tree_scratch scratch)
{
    const int p = thread_of_all();
    if (p < tree.n) scratch.key[p] = tree_next_key(&tree, &scratch, &sources, p);
}

__global__ void __launch_bounds__(BLOCK) take_runs(const device_tree tree, const device_tree_scratch scratch)
{
    const int p = thread_of_all();
    if (p < tree.n) scratch.sorted_run[p] = scratch.run[scratch.number[p]];
}

__global__ void __launch_bounds__(BLOCK) take_keys(const device_tree tree, const device_tree_scratch scratch)
{
    const int p = thread_of_all();
    if (p >= tree.n) return;
    tree.key[tree.passes][p] = scratch.key[scratch.other[p]];
    scratch.number[p] = tree.number[scratch.other[p]];
}

/* ---- cells */

/* Sum over the threads of a block, and of those before this one. */
__device__ int32_t block_sum(int32_t own, int32_t (&of_warps)[WARPS], int32_t *before)
{
    int32_t up_to = own, all = 0, earlier = 0;
    for (int k = 1; k < WARP; k *= 2) {
        const int32_t other = __shfl_up_sync(ALL, up_to, k);
        if (lane_of() >= k) up_to += other;
    }
    __syncthreads();
    if (lane_of() == WARP - 1) of_warps[threadIdx.x / WARP] = up_to;
    __syncthreads();
    for (int w = 0; w < WARPS; w++) {
        all += of_warps[w];
        if (w < threadIdx.x / WARP) earlier += of_warps[w];
    }
    *before = earlier + up_to - own;
    return all;
}

/* Eight threads for a cell, one for each digit.   @return the parts that the first of them has found */
__device__ int32_t cut_cell(const device_tree &tree, int32_t c, bool is_there)
{
    const int digit = threadIdx.x % TREE_PARTS;
    int32_t begin = 0, end = 0;
    if (is_there) {
        const tree_cell &cell = tree.view.cell[c];
        begin = tree_digit_begin(&tree, c, digit);
        end = cell.first + cell.count;
        tree.cut[c][digit] = begin;
    }
    const int32_t next = __shfl_down_sync(ALL, begin, 1, TREE_PARTS);
    const bool has_bodies = begin < (digit + 1 < TREE_PARTS ? next : end);
    const unsigned of_cell = __ballot_sync(ALL, has_bodies) >> lane_of() / TREE_PARTS * TREE_PARTS & 0xffu;
    if (!is_there || digit > 0) return 0;
    const int32_t parts = __popc(of_cell) > 1 ? __popc(of_cell) : 0;
    tree.cut[c][TREE_PARTS] = parts;
    return parts;
}

struct level_range {
    int32_t begin, end;
};

/* The cells of this block of threads. */
__device__ level_range own_cells(level_range level)
{
    const int64_t n = level.end - level.begin;
    return {(int32_t)(level.begin + n * blockIdx.x / gridDim.x),
            (int32_t)(level.begin + n * (blockIdx.x + 1) / gridDim.x)};
}

__device__ void cut_cells(const device_tree &tree, level_range own, int32_t (&of_warps)[WARPS])
{
    constexpr int CELLS = BLOCK / TREE_PARTS;
    int32_t parts = 0, before;
    for (int32_t from = own.begin; from < own.end; from += CELLS) {
        const int32_t c = from + threadIdx.x / TREE_PARTS;
        parts += cut_cell(tree, c, c < own.end);
    }
    const int32_t all = block_sum(parts, of_warps, &before);
    if (threadIdx.x == 0) tree.totals[blockIdx.x] = all;
}

/* Parts that the blocks before this one have found.   @param[out] all  that all have found */
__device__ int32_t parts_before(const device_tree &tree, int32_t (&of_warps)[WARPS], int32_t *all)
{
    int32_t sum = 0, earlier = 0, before;
    for (int b = threadIdx.x; b < gridDim.x; b += BLOCK) {
        sum += tree.totals[b];
        if (b < blockIdx.x) earlier += tree.totals[b];
    }
    *all = block_sum(sum, of_warps, &before);
    return block_sum(earlier, of_warps, &before);
}

__device__ void add_cells(const device_tree &tree, level_range own, int32_t child, int32_t (&of_warps)[WARPS])
{
    int32_t largest = 0;
    for (int32_t from = own.begin; from < own.end; from += BLOCK) {
        const int32_t c = from + threadIdx.x;
        int32_t before;
        const int32_t all = block_sum(c < own.end ? tree.cut[c][TREE_PARTS] : 0, of_warps, &before);
        if (c < own.end) largest = max(largest, tree_add_parts(&tree, c, child + before));
        child += all;
    }
    for (int half = WARP / 2; half > 0; half /= 2) largest = max(largest, __shfl_xor_sync(ALL, largest, half));
    if (lane_of() == 0 && largest > 0) atomicMax(&tree.shape->largest, largest);
}

/* All levels in one launch, whose blocks wait for each other. */
__global__ void __launch_bounds__(BLOCK) link_cells(const device_tree tree)
{
    __shared__ int32_t of_warps[WARPS];
    const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    const bool is_first = grid.thread_rank() == 0;
    device_tree_shape *shape = tree.shape;
    level_range level = {0, 1};
    int levels = 0, is_full = 0;
    if (is_first) tree_begin_cells(&tree);
    grid.sync();
    while (level.begin < level.end && levels < TREE_LEVELS - 1) {
        const level_range own = own_cells(level);
        int32_t all;
        cut_cells(tree, own, of_warps);
        grid.sync();
        const int32_t before = parts_before(tree, of_warps, &all);
        if (is_first) shape->level[levels] = level.begin;
        levels++;
        is_full = all > tree.room - level.end;
        if (is_full) break;
        add_cells(tree, own, level.end + before, of_warps);
        level = {level.end, level.end + all};
        grid.sync();
    }
    if (!is_first) return;
    shape->is_full = is_full;
    shape->n_levels = levels;
    shape->level[levels] = shape->n_cells = level.end;
}

/* Blocks that the current device holds at a time. */
cudaError_t link_blocks(int *blocks)
{
    int device = 0, multiprocessors = 0, each = 0;
    cudaError_t code = cudaGetDevice(&device);
    if (code == cudaSuccess) code = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    if (code == cudaSuccess) code = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, link_cells, BLOCK, 0);
    *blocks = min(multiprocessors * min(each, 2), (int)DEVICE_TREE_BLOCKS);
    return code;
}

/* ---- bodies and multipoles */

__global__ void __launch_bounds__(BLOCK) renumber(const device_tree tree, int first)
{
    const int p = thread_of_all();
    if (p < tree.n) tree.number[p] = tree_number_from(&tree, first, p);
}

__global__ void __launch_bounds__(BLOCK) gather(const device_tree tree, const softened_sources sources, int to_float)
{
    const int p = thread_of_all();
    if (p < tree.n) tree_gather_source(&tree, &sources, to_float, p);
}

constexpr int MOMENT_WARPS = 4;

/* Leaves of all levels, a warp for each. */
__global__ void __launch_bounds__(MOMENT_WARPS *WARP) make_leaves(const device_tree tree, int n)
{
    __shared__ tree_moments_memory memory[MOMENT_WARPS];
    const int warp = threadIdx.x / WARP, c = blockIdx.x * MOMENT_WARPS + warp;
    if (c < n && tree.view.cell[c].n_child == 0) tree_make_cell(&tree.view, c, &memory[warp]);
}

/* The other cells of one level, a block for each, whose warps have some parts each. */
__global__ void __launch_bounds__(MOMENT_WARPS *WARP) make_wholes(const device_tree tree, int first)
{
    __shared__ tree_moments_memory memory[MOMENT_WARPS];
    const int warp = threadIdx.x / WARP, c = first + blockIdx.x, top = tree.view.order + 2;
    tree_moments_memory *own = &memory[warp];
    if (tree.view.cell[c].n_child == 0) return;
    tree_cell cell = tree_bound_cell(&tree.view, c);
    tree_clear_moments(&tree.view, own);
    for (int p = warp; p < cell.n_child && cell.mass > 0 && cell.radius > 0; p += MOMENT_WARPS)
        tree_add_part(&tree.view, &cell, cell.child + p, top, own);
    __syncthreads();
    if (warp > 0) return;
    TREE_EACH(at, tree_components_below(top + 1))
    for (int w = 1; w < MOMENT_WARPS; w++) own->sum[at] += memory[w].sum[at];
    tree_sync();
    tree_store_cell(&tree.view, c, &cell, own);
}

__global__ void __launch_bounds__(BLOCK) make_nodes(const device_tree tree, int n)
{
    const int c = thread_of_all();
    if (c < n) tree_make_node(&tree.view, c);
}

/* ---- targets */

__global__ void __launch_bounds__(BLOCK) place_targets(const device_tree_walk walk, uint64_t *keys, int32_t *numbers)
{
    const int i = thread_of_all();
    if (i >= walk.n_i) return;
    keys[i] = tree_target_place(&walk.tree, walk.x[i], walk.self ? walk.self[i] : -1);
    numbers[i] = i;
}

} // namespace

/* ---- launches */

/* No source has the number of four equal bytes, 0x7f7f7f7f, or a larger one. */
int gpunb_cuda_tree_check(const device_tree *tree, const softened_sources *sources, nbd_stream *stream)
{
    int32_t *negative = &tree->shape->negative;
    const cudaError_t code =
        cudaMemsetAsync(negative, DEVICE_TREE_NO_SOURCE & 0xff, sizeof *negative, (cudaStream_t)stream);
    if (code != cudaSuccess) return failed(code);
    check_masses<<<blocks_for(tree->n), BLOCK, 0, (cudaStream_t)stream>>>(*tree, *sources);
    return result();
}

int gpunb_cuda_tree_begin(const device_tree *tree, const softened_sources *sources, nbd_stream *stream)
{
    empty<<<1, BLOCK, 0, (cudaStream_t)stream>>>(*tree);
    bound<<<min(blocks_for(tree->n), (int)DEVICE_TREE_BLOCKS), BLOCK, 0, (cudaStream_t)stream>>>(*tree, *sources);
    return result();
}

int gpunb_cuda_tree_keys(const device_tree *tree, const softened_sources *sources, const device_tree_scratch *scratch,
                         nbd_stream *stream)
{
    make_keys<<<blocks_for(tree->n), BLOCK, 0, (cudaStream_t)stream>>>(*tree, *sources, *scratch);
    return result();
}

int gpunb_cuda_tree_ties(const device_tree *tree, const softened_sources *sources, nbd_stream *stream)
{
    const cudaError_t code = cudaMemsetAsync(&tree->shape->tied, 0, sizeof tree->shape->tied, (cudaStream_t)stream);
    if (code != cudaSuccess) return failed(code);
    count_ties<<<blocks_for(tree->n), BLOCK, 0, (cudaStream_t)stream>>>(*tree, *sources);
    return result();
}

int gpunb_cuda_tree_next_keys(const device_tree *tree, const softened_sources *sources,
                              const device_tree_scratch *scratch, nbd_stream *stream)
{
    const int blocks = blocks_for(tree->n);
    find_runs<<<blocks, BLOCK, 0, (cudaStream_t)stream>>>(*tree, *scratch);
    bound_runs<<<blocks, BLOCK, 0, (cudaStream_t)stream>>>(*tree, *sources, *scratch);
    make_next_keys<<<blocks, BLOCK, 0, (cudaStream_t)stream>>>(*tree, *sources, *scratch);
    return result();
}

int gpunb_cuda_tree_take_runs(const device_tree *tree, const device_tree_scratch *scratch, nbd_stream *stream)
{
    take_runs<<<blocks_for(tree->n), BLOCK, 0, (cudaStream_t)stream>>>(*tree, *scratch);
    return result();
}

int gpunb_cuda_tree_take_keys(const device_tree *tree, const device_tree_scratch *scratch, nbd_stream *stream)
{
    take_keys<<<blocks_for(tree->n), BLOCK, 0, (cudaStream_t)stream>>>(*tree, *scratch);
    return result();
}

int gpunb_cuda_tree_link(const device_tree *tree, nbd_stream *stream)
{
    int blocks;
    cudaError_t code = link_blocks(&blocks);
    if (code == cudaSuccess)
        code = cudaMemsetAsync(&tree->shape->largest, 0, sizeof tree->shape->largest, (cudaStream_t)stream);
    void *arguments[] = {const_cast<device_tree *>(tree)};
    if (code == cudaSuccess)
        code = cudaLaunchCooperativeKernel((const void *)link_cells, blocks, BLOCK, arguments, 0, (cudaStream_t)stream);
    return code == cudaSuccess ? 0 : failed(code);
}

int gpunb_cuda_tree_renumber(const device_tree *tree, int first, nbd_stream *stream)
{
    renumber<<<blocks_for(tree->n), BLOCK, 0, (cudaStream_t)stream>>>(*tree, first);
    return result();
}

int gpunb_cuda_tree_gather(const device_tree *tree, const softened_sources *sources, int to_float, nbd_stream *stream)
{
    gather<<<blocks_for(tree->n), BLOCK, 0, (cudaStream_t)stream>>>(*tree, *sources, to_float);
    return result();
}

int gpunb_cuda_tree_leaves(const device_tree *tree, int n_cells, nbd_stream *stream)
{
    make_leaves<<<blocks_for(n_cells, MOMENT_WARPS), MOMENT_WARPS * WARP, 0, (cudaStream_t)stream>>>(*tree, n_cells);
    return result();
}

int gpunb_cuda_tree_wholes(const device_tree *tree, int first, int end, nbd_stream *stream)
{
    make_wholes<<<end - first, MOMENT_WARPS * WARP, 0, (cudaStream_t)stream>>>(*tree, first);
    return result();
}

int gpunb_cuda_tree_nodes(const device_tree *tree, int n_cells, nbd_stream *stream)
{
    make_nodes<<<blocks_for(n_cells), BLOCK, 0, (cudaStream_t)stream>>>(*tree, n_cells);
    return result();
}

int gpunb_cuda_tree_targets(const device_tree_walk *walk, uint64_t *keys, int32_t *numbers, nbd_stream *stream)
{
    place_targets<<<blocks_for(walk->n_i), BLOCK, 0, (cudaStream_t)stream>>>(*walk, keys, numbers);
    return result();
}
