/* Regular force, regular corrector and commit of a large block, by a kernel of its own, which runs after the kernel
 * of small blocks (cuda/block.cu) has made the irregular stages and ended. Pairs of targets are summed once for both
 * (cuda/mutual.cuh), the remaining sums as in other blocks (cuda/left.cuh). */
#include "nbody6/engine/cuda/block.h"
#include "nbody6/engine/cuda/helpers.cuh"
#include "nbody6/engine/cuda/host_service.cuh"
#include "nbody6/engine/cuda/left.cuh"
#include "nbody6/engine/cuda/member.cuh"
#include "nbody6/engine/cuda/mutual.cuh"
#include "nbody6/engine/cuda/regular.cuh"
#include "nbody6/engine/cuda/sort.cuh"
#include "nbody6/engine/cuda/verdict.cuh"

namespace
{

/* Sums of pairs of targets, which are sorted. */
__device__ __forceinline__ void make_mutual(struct nb6_device_control_block *control_block, const large_cut &c,
                                            int64_t n_reg, grid_of_blocks &grid)
{
    const bool is_shared = c.gpus > 1 && grid.rank() == 0;
    prepare_mutual(c, n_reg, &control_block->taken, grid);
    if (is_shared) order_sums(control_block, c, NB6_DEVICE_MUTUAL, 0);
    sum_mutual(c, 0, &control_block->taken);
    if (is_shared) wait_for_sums(control_block);
    grid.sync();
}

/* Regular steps of n targets, repeated for targets whose lists are too long.   @return a reason, or NB6_DEVICE_GO_ON */
__device__ __forceinline__ verdict make_round(struct nb6_device_control_block *control_block, const large_cut &c,
                                              int64_t n, grid_of_blocks &grid)
{
    for (int round = 0;; round ^= 1) {
        const bool is_shared = c.gpus > 1 && grid.rank() == 0;
        if (is_shared) order_sums(control_block, c, NB6_DEVICE_LEFT, n);
        make_left_sums(c, 0, n);
        if (is_shared) wait_for_sums(control_block);
        grid.sync();
        if (grid.rank() == 0) control_block->pending[round ^ 1] = 0;
        for (int64_t m = warp_of_all(); m < n; m += warps_of_all())
            finish_of_many(control_block, &control_block->pending[round], m, c);
        grid.sync();
        const int64_t pending = control_block->pending[round],
                      unsound = control_block->unsound_reg; /* both loads are in flight together */
        const int32_t too_long = control_block->too_long;
        if (pending > 0) continue;
        return verdict_of_round(unsound, too_long);
    }
}

/* All rounds of regular steps.   @return as the last round */
__device__ __forceinline__ verdict make_rounds(struct nb6_device_control_block *control_block, int64_t n_reg,
                                               grid_of_blocks &grid)
{
    large_cut c = cut_large(n_reg);
    verdict next = go(NB6_DEVICE_GO_ON);
    sort_block(n_reg, grid);
    make_mutual(control_block, c, n_reg, grid);
    for (; c.first < n_reg; c.first += c.each) {
        const int64_t n = min(n_reg - c.first, c.each);
        set_sorted_targets(c.first, n, grid);
        grid.sync();
        next = make_round(control_block, c, n, grid);
    }
    return next;
}

__global__ void __launch_bounds__(THREADS, 1) make_large_block(struct nb6_device_control_block *control_block)
{
    grid_of_blocks grid = {&control_block->arrived, 0};
    if (!is_own_run(control_block)) {
        if (grid.rank() == 0) control_block->verdict = NB6_STOP_DEVICE;
        return;
    }
    const int64_t n = dev.control->n_irr, n_reg = control_block->n_reg;
    const verdict next = make_rounds(control_block, n_reg, grid);
    if (stops(next)) {
        for (int64_t member = warp_of_all(); member < n; member += warps_of_all()) withdraw_level(dev.irr[member]);
        if (grid.rank() == 0) control_block->verdict = stored(next);
        return;
    }
    for (int64_t member = warp_of_all(); member < n; member += warps_of_all()) {
        const int32_t i = dev.irr[member];
        commit(control_block, member, i);
        if (lane_of() == 0) dev.level[i] = dev.corrected[member].level_irr;
    }
    grid.sync();
    if (grid.rank() == 0) {
        dev.control->n_reg = n_reg;
        nb6_dev_count_block(&dev);
        control_block->verdict = NB6_DEVICE_GO_ON;
        control_block->blocks++;
    }
    if (control_block->n_look > FEW_LOOKS) look_at_many(control_block);
}

constexpr size_t SHARED_BYTES = WARPS * sizeof(warp_memory);

} // namespace

cudaError_t nb6_device_prepare_large(void)
{
    return cudaFuncSetAttribute(make_large_block, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)SHARED_BYTES);
}

cudaError_t nb6_device_run_large(const struct nb6_dev *now, struct nb6_device_control_block *control_block, int blocks,
                                 cudaStream_t stream)
{
    void *arguments[] = {&control_block};
    cudaError_t code = set_dev(now, stream);
    if (code == cudaSuccess) code = cudaMemsetAsync(&control_block->arrived, 0, sizeof control_block->arrived, stream);
    if (code == cudaSuccess)
        code = cudaLaunchCooperativeKernel((const void *)make_large_block, dim3((unsigned)blocks), dim3(THREADS),
                                           arguments, SHARED_BYTES, stream);
    if (code == cudaSuccess) code = cudaMemsetAsync(&control_block->arrived, 0, sizeof control_block->arrived, stream);
    return code;
}
