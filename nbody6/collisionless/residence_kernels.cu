/* Compiled so that no multiplication is joined with an addition: the bits are those of the processor. */
#include "nbody6/collisionless/residence_kernels.h"

#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>

namespace
{

constexpr int BLOCK = 256;

__host__ int blocks_for(int32_t n)
{
    return (n + BLOCK - 1) / BLOCK;
}

__device__ __forceinline__ int32_t own_number()
{
    return (int32_t)(blockIdx.x * BLOCK + threadIdx.x);
}

__global__ void __launch_bounds__(BLOCK)
    drift(const struct nb6_part part, const struct nb6_part_block block, const double limit)
{
    const int32_t i = own_number();
    if (i < part.n_own && !nb6_part_drift(&part, i, block.ti_now, block.ti_next, limit)) atomicMin(&part.word->bad, i);
}

struct is_due {
    const int8_t *level;
    nb6_time t;
    __device__ bool operator()(int32_t i) const
    {
        return nb6_step_ends(level[i], t);
    }
};

__global__ void __launch_bounds__(BLOCK) gather(const struct nb6_part part, const int32_t n_due)
{
    const int32_t m = own_number();
    if (m < n_due) nb6_part_gather(&part, m);
}

__global__ void __launch_bounds__(BLOCK) check(const struct nb6_part part, const int32_t n_due, const int by_tree)
{
    const int32_t m = own_number();
    if (m < n_due) nb6_part_add_work(&part, n_due, m, by_tree);
    if (m < n_due && !nb6_part_check(&part, m)) atomicMin(&part.word->bad, nb6_part_due(&part, n_due, m));
}

__global__ void __launch_bounds__(BLOCK) keep(const struct nb6_part part, const nb6_time ti_now)
{
    const int32_t i = own_number();
    if (i < part.n_own) nb6_part_keep(&part, i, ti_now);
}

__global__ void __launch_bounds__(BLOCK) commit(const struct nb6_part part, const int32_t n_due, const nb6_time ti_next)
{
    const int32_t m = own_number();
    if (m < n_due) nb6_part_commit(&part, n_due, m, ti_next);
}

__global__ void __launch_bounds__(BLOCK) count(const struct nb6_part part)
{
    __shared__ int32_t count[NB6_PART_LEVELS];
    const int32_t i = own_number();
    if (threadIdx.x < NB6_PART_LEVELS) count[threadIdx.x] = 0;
    __syncthreads();
    if (i < part.n_own) atomicAdd(&count[part.level[i]], 1);
    __syncthreads();
    if (threadIdx.x < NB6_PART_LEVELS && count[threadIdx.x] > 0)
        atomicAdd(&part.word->count[threadIdx.x], count[threadIdx.x]);
}

__global__ void __launch_bounds__(BLOCK) pack(const struct nb6_part part, struct nb6_source *to)
{
    const int32_t i = own_number();
    if (i < part.n_own) to[i] = nb6_part_source(&part, i);
}

__global__ void __launch_bounds__(BLOCK)
    unpack(const struct nb6_source *from, const int32_t n, double *mass, double (*x)[3])
{
    const int32_t i = own_number();
    if (i >= n) return;
    mass[i] = from[i].mass;
    for (int k = 0; k < 3; k++) x[i][k] = from[i].x[k];
}

__global__ void __launch_bounds__(BLOCK) add(double (*sum)[3], const double (*more)[3], const int32_t n)
{
    const int32_t m = own_number();
    if (m < n) nb6_part_add(sum[m], more[m]);
}

__global__ void __launch_bounds__(BLOCK)
    total(const struct nb6_part part, const int32_t n_due, const int slots, const double (*sum)[3])
{
    const int32_t m = own_number();
    if (m < n_due) nb6_part_total(&part, m, slots, sum);
}

/* A block of threads for each piece: whole numbers are summed in any order. */
__global__ void __launch_bounds__(BLOCK) weigh(const struct nb6_part part, const struct nb6_part_move move)
{
    __shared__ unsigned long long sum;
    const int64_t n = part.n, first = n * blockIdx.x / gridDim.x, end = n * (blockIdx.x + 1) / gridDim.x;
    unsigned long long own = 0;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    for (int64_t p = first + threadIdx.x; p < end; p += BLOCK) own += move.work[part.order[p]];
    atomicAdd(&sum, own);
    __syncthreads();
    if (threadIdx.x == 0) move.sum[blockIdx.x] = sum;
}

__global__ void __launch_bounds__(BLOCK) take(const struct nb6_part part, const struct nb6_part_move move)
{
    const int32_t k = own_number();
    if (k < part.n) nb6_part_take(&part, &move, k);
}

cudaError_t count_levels(const struct nb6_part *part, cudaStream_t stream)
{
    const cudaError_t code = cudaMemsetAsync(part->word->count, 0, sizeof part->word->count, stream);
    if (code != cudaSuccess) return code;
    count<<<blocks_for(part->n_own), BLOCK, 0, stream>>>(*part);
    return cudaGetLastError();
}

/* Scratch for the number of selected bodies, which the host has computed. */
constexpr size_t NUMBER_BYTES = 256;

cudaError_t select(void *scratch, size_t *bytes, const struct nb6_part *part, nb6_time t, int32_t *number,
                   cudaStream_t stream)
{
    const is_due due = {part->level, t};
    return cub::DeviceSelect::If(scratch, *bytes, thrust::counting_iterator<int32_t>(0), part->due, number, part->n_own,
                                 due, stream);
}

} // namespace

cudaError_t nb6_kernel_drift(const struct nb6_part *part, const struct nb6_part_block *block, double limit,
                             cudaStream_t stream)
{
    const cudaError_t code = cudaMemsetAsync(&part->word->bad, NB6_NOBODY_BYTE, sizeof part->word->bad, stream);
    if (code != cudaSuccess) return code;
    drift<<<blocks_for(part->n_own), BLOCK, 0, stream>>>(*part, *block, limit);
    return cudaGetLastError();
}

cudaError_t nb6_kernel_select_bytes(int32_t n_own, size_t *bytes)
{
    struct nb6_part part = {};
    part.n_own = n_own;
    const cudaError_t code = select(NULL, bytes, &part, 0, NULL, NULL);
    *bytes += NUMBER_BYTES;
    return code;
}

cudaError_t nb6_kernel_select(const struct nb6_part *part, const struct nb6_part_block *block, void *scratch,
                              size_t bytes, cudaStream_t stream)
{
    size_t left = bytes - NUMBER_BYTES;
    const cudaError_t code = select(static_cast<char *>(scratch) + NUMBER_BYTES, &left, part, block->ti_next,
                                    static_cast<int32_t *>(scratch), stream);
    if (code != cudaSuccess || block->n_due == 0) return code;
    gather<<<blocks_for(block->n_due), BLOCK, 0, stream>>>(*part, block->n_due);
    return cudaGetLastError();
}

cudaError_t nb6_kernel_check(const struct nb6_part *part, const struct nb6_part_block *block, cudaStream_t stream)
{
    if (block->n_due == 0) return cudaSuccess;
    check<<<blocks_for(block->n_due), BLOCK, 0, stream>>>(*part, block->n_due, block->by_tree);
    return cudaGetLastError();
}

cudaError_t nb6_kernel_commit(const struct nb6_part *part, const struct nb6_part_block *block, cudaStream_t stream)
{
    keep<<<blocks_for(part->n_own), BLOCK, 0, stream>>>(*part, block->ti_now);
    if (block->n_due > 0) commit<<<blocks_for(block->n_due), BLOCK, 0, stream>>>(*part, block->n_due, block->ti_next);
    const cudaError_t code = cudaGetLastError();
    return code != cudaSuccess || !part->rules.block ? code : count_levels(part, stream);
}

cudaError_t nb6_kernel_pack(const struct nb6_part *part, struct nb6_source *to, cudaStream_t stream)
{
    pack<<<blocks_for(part->n_own), BLOCK, 0, stream>>>(*part, to);
    return cudaGetLastError();
}

cudaError_t nb6_kernel_unpack(const struct nb6_source *from, int64_t n, double *mass, double (*x)[3],
                              cudaStream_t stream)
{
    unpack<<<blocks_for((int32_t)n), BLOCK, 0, stream>>>(from, (int32_t)n, mass, x);
    return cudaGetLastError();
}

cudaError_t nb6_kernel_add(double (*sum)[3], const double (*more)[3], int32_t n, cudaStream_t stream)
{
    add<<<blocks_for(n), BLOCK, 0, stream>>>(sum, more, n);
    return cudaGetLastError();
}

cudaError_t nb6_kernel_total(const struct nb6_part *part, int32_t n_due, int slots, const double (*sum)[3],
                             cudaStream_t stream)
{
    total<<<blocks_for(n_due), BLOCK, 0, stream>>>(*part, n_due, slots, sum);
    return cudaGetLastError();
}

cudaError_t nb6_kernel_weigh(const struct nb6_part *part, const struct nb6_part_move *move, int sums,
                             cudaStream_t stream)
{
    weigh<<<sums, BLOCK, 0, stream>>>(*part, *move);
    return cudaGetLastError();
}

cudaError_t nb6_kernel_take(const struct nb6_part *part, const struct nb6_part_move *move, cudaStream_t stream)
{
    take<<<blocks_for(part->n), BLOCK, 0, stream>>>(*part, *move);
    const cudaError_t code = cudaGetLastError();
    return code != cudaSuccess ? code : count_levels(part, stream);
}
