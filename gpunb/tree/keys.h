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

/** The cube that is divided, in widths of the least one that holds all bodies. Cells have their places by it. If each
 *  build of a tree has another one, errors of cells do not add up from build to build. */
struct tree_root {
    double below[3]; /**< how far it begins below the least cube */
    double width;
};

/** The root of a build. 0: the least cube. Any other number: a cube of twice the width, so that the least one can be
 *  anywhere in it and the boundaries of cells of every size, which are at most as wide as all bodies, can be anywhere
 *  among them; where it is follows from the number alone (a hash: Steele, Lea & Flood 2014, OOPSLA, Fig. 16). */
NBC_HD struct tree_root tree_root_of(uint64_t build)
{
    struct tree_root root = {{0, 0, 0}, build > 0 ? 2.0 : 1.0};
    for (int k = 0; k < 3 && build > 0; k++) {
        uint64_t z = (3 * build + (uint64_t)k) * 0x9e3779b97f4a7c15u;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        root.below[k] = (double)((z ^ z >> 31) >> 11) * 0x1p-53;
    }
    return root;
}

/** The key of a position, which is that of the nearest cell if it is outside the box.
 *  @param[in] low       of the root   @param[in] per_cell  TREE_KEY_CELLS over its width */
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
