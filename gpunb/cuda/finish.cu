/* Finish of a piece: one block for each target adds the partial sums in order, repeats in double the sums that
 * floats could not hold, sorts the neighbour list, and writes to memory of the host. */
#include "gpunb/cuda/kernels.h"
#include "gpunb/cuda/send.cuh"
#include "gpunb/cuda/warp.cuh"
#include "gpunb/device/exact.h"

namespace
{

constexpr int BLOCK = SENDERS, FINISHERS = BLOCK / WARP; /* threads and warps */
/* Lists are sorted by a bit for each source, so many sources at a time. */
constexpr int SEGMENT = 1 << 18;

/* Tiles of a thread whose masks are loaded together; close pairs that are examined together. */
constexpr int WINDOW = 16, ROOM = 1024;

struct block_sums {
    double sum[FINISHERS][DEVICE_SUMS], total[DEVICE_SUMS];
    int32_t words[FINISHERS];
    int found;
    int close[ROOM];
};

/* A target, as all of the block know it. */
struct one_target {
    const struct device_finish &a;
    int place;
    int32_t *row;
    block_sums &shared;
    struct device_exact exact;
};

/* Sum over the block in a fixed order, to shared.total. */
__device__ void add_up(const struct gpunb_sum &mine, block_sums &shared)
{
    double sum[DEVICE_SUMS] = {mine.acc[0],  mine.acc[1],  mine.acc[2], mine.jerk[0],
                               mine.jerk[1], mine.jerk[2], mine.pot};
#pragma unroll
    for (int q = 0; q < DEVICE_SUMS; q++) sum[q] = sum_of_lanes(sum[q]);
    __syncthreads();
    if (lane_of() == 0)
        for (int q = 0; q < DEVICE_SUMS; q++) shared.sum[warp_of()][q] = sum[q];
    __syncthreads();
    if (threadIdx.x < DEVICE_SUMS) {
        double total = shared.sum[0][threadIdx.x];
        for (int w = 1; w < FINISHERS; w++) total += shared.sum[w][threadIdx.x];
        shared.total[threadIdx.x] = total;
    }
    __syncthreads();
}

/* Source j on the target: into the row or to the sum. */
__device__ void take_pair(const one_target &t, int j, struct gpunb_sum &sum)
{
    if (!gpunb_exact_pair(&t.a, &t.exact, j, &sum)) return;
    const int at = atomicAdd(&t.shared.found, 1);
    if (at < t.a.cap) t.row[at] = j;
}

/* Sum all sources in double, where float sums are not good enough. */
__device__ void take_all(const one_target &t)
{
    struct gpunb_sum mine = {};
    __syncthreads();
    if (threadIdx.x == 0) t.shared.found = 0;
    __syncthreads();
    for (int j = threadIdx.x; j < t.a.force.n_j; j += BLOCK) take_pair(t, j, mine);
    add_up(mine, t.shared);
}

/* Examine the gathered pairs. They are assigned to threads by their order alone, so the sum always has the same
 * bits. */
__device__ void take_gathered(const one_target &t, int count, struct gpunb_sum &sum)
{
    const struct device_force &f = t.a.force;
    __syncthreads();
    for (int c = threadIdx.x; c < count; c += BLOCK) {
        const int place = t.shared.close[c];
        if (place < f.n_j) take_pair(t, f.layout.index[place], sum); /* beyond it the last is repeated */
    }
    __syncthreads();
}

/* The pairs that the force kernel left out. A window of tiles at a time, their masks are turned into a list of
 * places, which is examined when it is full. */
__device__ void take_close(const one_target &t, struct gpunb_sum &sum)
{
    const struct device_force &f = t.a.force;
    const size_t tiles = (size_t)(t.place / f.in_block) * f.close.stride;
    const unsigned long long *mask = f.close.mask + tiles * f.in_block + t.place % f.in_block;
    int gathered = 0;
    for (int first = 0; first < f.n_tiles; first += WINDOW * BLOCK) {
        const int own = first + threadIdx.x; /* and every BLOCK-th tile after it, because near tiles are in clusters */
        unsigned long long masks[WINDOW];
        bool near[WINDOW];
        int count = 0, total;
#pragma unroll
        for (int k = 0; k < WINDOW; k++) near[k] = own + k * BLOCK < f.n_tiles && f.close.near[tiles + own + k * BLOCK];
#pragma unroll
        for (int k = 0; k < WINDOW; k++) {
            masks[k] = near[k] ? mask[(size_t)(own + k * BLOCK) * f.in_block] : 0;
            count += __popcll(masks[k]);
        }
        const int before = count_before(count, t.shared.words, &total);
        if (gathered + total > ROOM) {
            take_gathered(t, gathered, sum);
            gathered = 0;
        }
        for (int begin = 0; begin < total; begin += ROOM) {
            int at = gathered + before - begin;
#pragma unroll
            for (int k = 0; k < WINDOW; k++)
                for (unsigned long long rest = masks[k]; rest; rest &= rest - 1, at++)
                    if (at >= 0 && at < ROOM)
                        t.shared.close[at] = (own + k * BLOCK) * DEVICE_TILE + __ffsll((long long)rest) - 1;
            gathered += min(ROOM, total - begin);
            if (begin + ROOM < total) {
                take_gathered(t, gathered, sum);
                gathered = 0;
            }
        }
    }
    take_gathered(t, gathered, sum);
}

/* The row in ascending order: the neighbours are marked in a bitmap, and the bitmap is read from its beginning. Each
 * thread reads an odd number of consecutive words, so that no two threads of a warp meet in a bank. */
__device__ void sort_row(const struct device_finish &a, const int32_t *row, int32_t *sorted, int found, uint32_t *bits,
                         int words_each, block_sums &shared)
{
    int done = 0;
    for (int begin = 0; begin < a.force.n_j && done < found; begin += SEGMENT) {
        for (int w = threadIdx.x; w < BLOCK * words_each; w += BLOCK) bits[w] = 0;
        __syncthreads();
        for (int k = threadIdx.x; k < found; k += BLOCK) {
            const int j = row[k] - begin;
            if (j >= 0 && j < SEGMENT) atomicOr(&bits[j / 32], 1u << (j % 32));
        }
        __syncthreads();
        const uint32_t *own = bits + threadIdx.x * words_each;
        int count = 0, total;
        for (int w = 0; w < words_each; w++) count += __popc(own[w]);
        int at = done + count_before(count, shared.words, &total);
        const int base = begin + threadIdx.x * words_each * 32;
        for (int w = 0; count > 0; w++)
            for (uint32_t rest = own[w]; rest; rest &= rest - 1, count--)
                sorted[at++] = base + w * 32 + __ffs((int)rest) - 1;
        done += total;
        __syncthreads();
    }
}

__global__ void __launch_bounds__(BLOCK, 5) finish_target(const struct device_finish a, int words_each)
{
    extern __shared__ uint32_t bits[];
    __shared__ block_sums shared;
    const struct device_force &f = a.force;
    const int place = blockIdx.x;
    const one_target t = {a, place, a.rows + (size_t)place * a.cap, shared, gpunb_exact_target(&f, place)};
    struct gpunb_sum mine = {};
    if (threadIdx.x == 0) shared.found = 0;
    __syncthreads();
    const double *partial = f.partial + (size_t)t.place * f.splits * DEVICE_SUMS;
    for (int s = threadIdx.x; s < f.splits; s += BLOCK, partial += BLOCK * DEVICE_SUMS)
        gpunb_add_partial(partial + threadIdx.x * DEVICE_SUMS, &mine);
    if (f.close.near) take_close(t, mine);
    add_up(mine, shared);
    double all = 0.0;
    for (int q = 0; q < DEVICE_SUMS; q++) all += shared.total[q];
    if (f.targets.in_doubt[f.first + t.place] || !isfinite(all)) take_all(t);
    const int found = shared.found;
    bool wide = false;
    if (found <= a.cap) {
        const size_t row = (size_t)t.place * a.cap;
        sort_row(a, t.row, a.sorted + row, found, bits, words_each, shared);
        wide = send_row(a.sorted + row, found, a.lists + row);
    }
    if (threadIdx.x != 0) return;
    struct device_result r;
    for (int q = 0; q < DEVICE_SUMS; q++) r.sum[q] = shared.total[q];
    r.found = found;
    r.target = wide ? ~t.exact.i : t.exact.i;
    a.results[t.place] = r;
}

} // namespace

cudaError_t gpunb_cuda_finish(const struct device_finish *finish, cudaStream_t stream)
{
    const int span = finish->force.n_j < SEGMENT ? finish->force.n_j : SEGMENT;
    const int words_each = (span + 32 * BLOCK - 1) / (32 * BLOCK) | 1;
    finish_target<<<finish->force.n, BLOCK, sizeof(uint32_t) * BLOCK * words_each, stream>>>(*finish, words_each);
    return cudaGetLastError();
}
