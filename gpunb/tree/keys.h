/** Keys of bodies along a Hilbert curve through their box, and where a cell is cut, for hosts and GPUs. */
#ifndef GPUNB_TREE_KEYS_H
#define GPUNB_TREE_KEYS_H

#include "common/curve.h"

#include <stddef.h>

enum { TREE_KEY_BITS = 3 * NBC_HILBERT_BITS_64, TREE_PARTS = 8 /* of a cell */ };

/** Cells of the curve along an axis. */
#define TREE_KEY_CELLS ((double)(1 << NBC_HILBERT_BITS_64))

/** A box of this width is a point: there is no number of cells in it. */
#define TREE_POINT 1e-280

/** The key of a position, which is that of the nearest cell if it is outside the box.
 *  @param[in] per_cell  TREE_KEY_CELLS over the width of the box */
NBC_HD uint64_t tree_key(const double x[3], const double low[3], double per_cell)
{
    const double last = TREE_KEY_CELLS - 1;
    uint32_t at[3];
    for (int k = 0; k < 3; k++) {
        const double cell = (x[k] - low[k]) * per_cell;
        at[k] = (uint32_t)(cell > 0 ? cell < last ? cell : last : 0);
    }
    return nbc_hilbert_key64(at[0], at[1], at[2], NBC_HILBERT_BITS_64);
}

/** The first of the places [low, high) whose key is not below this one; high: all are.   @param[in] key  ascending */
NBC_HD int32_t tree_lower_bound(const uint64_t *key, size_t step, int32_t low, int32_t high, uint64_t least)
{
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (key[(size_t)middle * step] < least)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/** Cuts a cell at the first digit in which the keys of its bodies differ.
 *  @param[in] key   [places][step] ascending; the first number of each row
 *  @param[out] cut  where the parts begin   @return how many there are; 0: all keys are equal */
NBC_HD int32_t tree_cut(const uint64_t *key, size_t step, int32_t first, int32_t count, int32_t cut[TREE_PARTS])
{
    const int32_t end = first + count;
    const uint64_t differ = key[(size_t)first * step] ^ key[(size_t)(end - 1) * step];
    int32_t parts = 0;
    if (differ == 0) return 0;
    const int shift = (63 - nbc_leading_zeros(differ)) / 3 * 3;
    for (int32_t at = first; at < end;) {
        const uint64_t next = (key[(size_t)at * step] >> shift) + 1;
        cut[parts++] = at;
        at = tree_lower_bound(key, step, at, end, next << shift);
    }
    return parts;
}

#endif
