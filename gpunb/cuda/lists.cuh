/** Lists of many targets from the neighbours that were noted in each slice of the sources: ascending, by a warp for
 *  each target. */
#ifndef GPUNB_CUDA_LISTS_CUH
#define GPUNB_CUDA_LISTS_CUH

#include "gpunb/cuda/warp.cuh"
#include "gpunb/device/sums.h"

namespace
{

constexpr int LIST_ROOM = 512; /* of a list in shared memory */

/* Slices of the sources on a target, whose sums are consecutive. */
struct slices_of {
    int64_t at; /* in sums.partial and sums.n_found */
    int64_t number;
};

/* Output of a list: row, its capacity, and a copy of the first part in shared memory, NULL: none. */
struct list_writer {
    int32_t *list;
    int64_t room;
    int32_t *copy;
};

/* Append the neighbours in some bits of a chunk, at `at` and after, as far as there is room.
 * @return the position after the last of them */
__device__ __forceinline__ int64_t write_bits(uint32_t bits, int64_t chunk, int64_t at, const list_writer &to)
{
    for (; bits; bits &= bits - 1, at++) {
        const int32_t place = (int32_t)(chunk * WARP + __ffs((int)bits) - 1);
        if (at < to.room) to.list[at] = place;
        if (to.copy && at < LIST_ROOM) to.copy[at] = place;
    }
    return at;
}

/* Compare and exchange so that a list becomes ascending: the bitonic network in which all comparators move the
 * smaller number forward, so that missing numbers stay at the end (Batcher 1968). */
__device__ __forceinline__ void compare_at(int32_t *list, int low, int high, int n)
{
    if (high >= n) return;
    const int32_t a = list[low], b = list[high];
    if (a <= b) return;
    list[low] = b;
    list[high] = a;
}

/* Sort a list in any memory, by a warp. */
__device__ void sort_list(int32_t *list, int n)
{
    for (int size = 1; size < n; size *= 2) {
        for (int step = size; step > 0; step /= 2) {
            __syncwarp();
            for (int k = lane_of(); 2 * k - (k & (step - 1)) < n; k += WARP) {
                const int low = 2 * k - (k & (step - 1));
                compare_at(list, low, step == size ? low ^ (2 * size - 1) : low + step, n);
            }
        }
    }
    __syncwarp();
}

/* The n indices along the curve that a warp has noted become sources in ascending order in their row. */
__device__ __forceinline__ void sort_row(const int32_t *order, int32_t *noted, int32_t *row, int n)
{
    __syncwarp();
    for (int k = lane_of(); k < n; k += WARP) noted[k] = order[noted[k]];
    sort_list(noted, n);
    if (noted == row) return;
    for (int k = lane_of(); k < n; k += WARP) row[k] = noted[k];
    __syncwarp();
}

/* Decide in double which of the sources that are noted in the entries of a slice are neighbours: the others leave the
 * list, and act on the target.   @return their force
 * @param[in] source_at  functor of a place: the source there   @param[in] target  as it sees them */
template <typename sources>
__device__ __forceinline__ struct gpunb_dev_sum settle_entries(struct gpunb_dev_found *found, int32_t entries,
                                                               const sources &source_at,
                                                               const struct gpunb_dev_viewer &target, bool weighted)
{
    struct gpunb_dev_sum sum;
    gpunb_dev_clear(&sum);
#pragma unroll 1
    for (int32_t k = 0; k < entries; k++) {
        uint32_t stay = found[k].bits;
#pragma unroll 1
        for (uint32_t left = stay; left; left &= left - 1) {
            const int j = __ffs((int)left) - 1;
            const struct gpunb_dev_source &source = source_at((int64_t)found[k].chunk * WARP + j);
            if (!gpunb_dev_settle(&target.at, &source, target.r_nb2, target.dt_reg, weighted, &sum)) stay &= ~(1u << j);
        }
        found[k].bits = stay;
    }
    return sum;
}

/* Sums of the slices of this lane on a target, and its neighbours in double where they have to be.
 * @param[in] settle  functor of a slice and the number of its entries, which decides these (settle_entries)
 * @return that sum, and the force that `settle` returns */
template <typename settler>
__device__ __forceinline__ struct gpunb_dev_sum sum_slices(const struct gpunb_dev_sums &sums, const slices_of &slices,
                                                           const settler &settle)
{
    struct gpunb_dev_sum sum;
    gpunb_dev_clear(&sum);
    for (int64_t slice = lane_of(); slice < slices.number; slice += WARP) {
        const int32_t entries = sums.n_found[slices.at + slice];
        gpunb_dev_add(&sum, &sums.partial[slices.at + slice]);
        if (__builtin_expect(!(entries & GPUNB_DEV_HAS_EDGE), 1)) continue;
        const struct gpunb_dev_sum settled = settle(slice, entries & ~GPUNB_DEV_HAS_EDGE);
        gpunb_dev_add(&sum, &settled);
        sums.n_found[slices.at + slice] = entries & ~GPUNB_DEV_HAS_EDGE;
    }
    __syncwarp();
    return sum;
}

/* Neighbours of a target in a slice. */
struct noted_slice {
    const struct gpunb_dev_found *found;
    int32_t entries, number;
};

/* @param[in] found_of  functor of a slice: where its neighbours are noted */
template <typename locator>
__device__ __forceinline__ noted_slice read_slice(const struct gpunb_dev_sums &sums, const slices_of &slices,
                                                  int64_t slice, const locator &found_of)
{
    noted_slice s = {};
    if (slice >= slices.number) return s;
    s.entries = sums.n_found[slices.at + slice];
    s.found = found_of(slice);
    for (int32_t k = 0; k < s.entries; k++) s.number += __popc(s.found[k].bits);
    return s;
}

__device__ __forceinline__ void write_slice(const noted_slice &s, int64_t at, const list_writer &to)
{
    for (int32_t k = 0; k < s.entries; k++) at = write_bits(s.found[k].bits, s.found[k].chunk, at, to);
}

/* Make the list of a target, by a warp, with a lane for each slice.
 * @param[in] is_sorted  places are along the curve   @param[in,out] list  [LIST_ROOM] in shared memory, where a sorted
 * list that fits stays   @param[out] row  [room]   @return number of neighbours */
template <typename locator>
__device__ __forceinline__ int64_t make_list(const struct gpunb_dev_sums &sums, const slices_of &slices,
                                             const locator &found_of, bool is_sorted, int32_t *list, int32_t *row,
                                             int64_t row_room)
{
    int32_t *noted = is_sorted ? list : row;
    int64_t n = 0, room = is_sorted ? min((int64_t)LIST_ROOM, row_room) : row_room;
    for (;;) {
        n = 0;
        for (int64_t begin = 0; begin < slices.number; begin += WARP) {
            const noted_slice s = read_slice(sums, slices, begin + lane_of(), found_of);
            int32_t total;
            const int32_t up_to = count_up_to(s.number, &total);
            write_slice(s, n + up_to - s.number, {noted, room, nullptr});
            n += total;
        }
        if (n <= room || room == row_room) break;
        noted = row; /* because it does not fit shared memory */
        room = row_room;
    }
    if (is_sorted && n <= room) sort_row(sums.order, noted, row, (int)n);
    __syncwarp();
    return n;
}

} // namespace

#endif
