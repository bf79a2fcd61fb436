/* The end of a block whose regular forces GPUNB makes (cuda/leave.h): what is asked for, and, after the forces, the
 * regular corrector and the commit. The kernel of small blocks (cuda/block.cuh) has made the irregular stages and
 * ended. */
#include "nbody6/engine/cuda/leave.h"

#include "nbody6/engine/cuda/block.h"
#include "nbody6/engine/cuda/host_service.cuh"
#include "nbody6/engine/cuda/member.cuh"
#include "nbody6/engine/cuda/regular.cuh"
#include "nbody6/engine/cuda/verdict.cuh"

namespace
{

/* Fails if the constants of the kernel are those of another run. */
__device__ __forceinline__ bool is_refused(struct nb6_device_control_block *control_block)
{
    if (is_own_run(control_block)) return false;
    if (blockIdx.x == 0 && threadIdx.x == 0) control_block->verdict = NB6_STOP_DEVICE;
    return true;
}

/* dev.corrected of a member has the radius of its sphere, which shrinks if its list is too long. */
__global__ void __launch_bounds__(THREADS)
    ask(struct nb6_device_control_block *control_block, const __grid_constant__ struct nb6_device_asking asking)
{
    const int64_t m = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (is_refused(control_block)) return;
    if (m == 0) control_block->n_again = 0;
    if (m == 0) dev.control->by_tree_block = dev.pairs_by_tree > 0;
    if (m >= asking.n) return;
    const int32_t member = asking.member[m], i = dev.irr[member];
    if (!asking.is_again) dev.corrected[member].r_nb = dev.star[i].r_nb;
    asking.asked[m] = nb6_dev_asked_for(&dev, i, dev.corrected[member].r_nb);
}

/* Correct a target, by a warp. */
__device__ __forceinline__ void correct_target(struct nb6_device_control_block *control_block,
                                               const struct nb6_device_asking &asking, int64_t m)
{
    const struct gpunb_dev_asked &asked = asking.asked[m];
    const int32_t i = asked.source, member = asking.member[m], axis = axis_of();
    struct nb6_dev_target target = {member, i, -1, dev.star[i].level_reg, i, dev.corrected[member].r_nb};
    if (accept_target(control_block, &control_block->pending[0], &target, asked.count))
        return correct_of_many(control_block, target, nb6_dev_staged_list(&dev, i), asked.count,
                               {asked.sum.acc[axis], asked.sum.jerk[axis]});
    if (lane_of() != 0 || target.nnb >= 0) return;
    dev.corrected[member].r_nb = target.r_nb;
    asking.again[atomicAdd(&control_block->n_again, 1)] = member;
}

__global__ void __launch_bounds__(THREADS, 1)
    correct(struct nb6_device_control_block *control_block, const __grid_constant__ struct nb6_device_asking asking)
{
    if (is_refused(control_block)) return;
    for (int64_t m = warp_of_all(); m < asking.n; m += warps_of_all()) correct_target(control_block, asking, m);
}

__device__ __forceinline__ verdict verdict_of_block(const struct nb6_device_control_block *control_block)
{
    return verdict_of_round(control_block->unsound_reg, control_block->too_long);
}

/* Commit the members, or, with a reason to stop, give the block up. */
__global__ void __launch_bounds__(THREADS, 1) commit_members(struct nb6_device_control_block *control_block)
{
    if (is_refused(control_block)) return;
    const int64_t n = dev.control->n_irr;
    const bool is_given_up = stops(verdict_of_block(control_block));
    for (int64_t member = warp_of_all(); member < n; member += warps_of_all()) {
        const int32_t i = dev.irr[member];
        if (is_given_up) {
            withdraw_level(i);
            continue;
        }
        commit(control_block, member, i);
        if (lane_of() == 0) dev.level[i] = dev.corrected[member].level_irr;
    }
}

/* The end of the block, once its members are committed. */
__global__ void __launch_bounds__(THREADS, 1) end_block(struct nb6_device_control_block *control_block)
{
    if (is_refused(control_block)) return;
    const verdict next = verdict_of_block(control_block);
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        control_block->verdict = stored(next);
        control_block->arrived = 0;
        if (!stops(next)) {
            dev.control->n_reg = control_block->n_reg;
            nb6_dev_count_block(&dev);
            control_block->blocks++;
        }
    }
    if (!stops(next) && control_block->n_look > FEW_LOOKS) look_at_many(control_block);
}

constexpr size_t SHARED_BYTES = WARPS * sizeof(warp_memory);

} // namespace

cudaError_t nb6_device_prepare_leave(void)
{
    return cudaFuncSetAttribute(correct, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)SHARED_BYTES);
}

cudaError_t nb6_device_ask(const struct nb6_dev *now, struct nb6_device_control_block *control_block,
                           const struct nb6_device_asking *asking, cudaStream_t stream)
{
    const cudaError_t code = set_dev(now, stream);
    if (code != cudaSuccess) return code;
    ask<<<(unsigned)((asking->n + THREADS - 1) / THREADS), THREADS, 0, stream>>>(control_block, *asking);
    return cudaGetLastError();
}

cudaError_t nb6_device_correct(struct nb6_device_control_block *control_block, const struct nb6_device_asking *asking,
                               int blocks, cudaStream_t stream)
{
    correct<<<(unsigned)blocks, THREADS, SHARED_BYTES, stream>>>(control_block, *asking);
    return cudaGetLastError();
}

cudaError_t nb6_device_end_block(struct nb6_device_control_block *control_block, int blocks, cudaStream_t stream)
{
    commit_members<<<(unsigned)blocks, THREADS, 0, stream>>>(control_block);
    end_block<<<(unsigned)blocks, THREADS, 0, stream>>>(control_block);
    return cudaGetLastError();
}
