/** Places of cells along a Hilbert curve, which fills a cube of 2^bits cells an axis, up to 21 bits: cells that follow
 *  each other on it touch, and cells with near places are near to each other.
 *
 *  J. Skilling, "Programming the Hilbert curve", AIP Conf. Proc. 707, 381 (2004). The octants of a cube are passed in
 *  the order of a Gray code of their bits (x, y, z), and the curve in each of them is that of the cube, turned: from
 * the first bit to the last, axis by axis, where the bit of the axis is set the first axis is reversed below this bit,
 * and elsewhere the first axis and this one change places below it. Then the bits of all levels, x before y before z,
 * are one Gray code, which is decoded: each bit becomes the parity of the bits up to it.
 *
 *  No step has a branch: loops over many cells around each step become vectors (gpunb/cpu/kernel_curve.h). */
#ifndef NBC_CURVE_H
#define NBC_CURVE_H

#include "common/hd.h"

/** Most bits an axis of keys that fit 32 and 64 bits: a key has three times as many. */
enum { NBC_HILBERT_BITS_32 = 10, NBC_HILBERT_BITS_64 = 21 };

/** All bits below this one if the cell has it, none otherwise. */
NBC_HD uint32_t nbc_hilbert_below(uint32_t cell, int bit)
{
    return (0u - (cell >> bit & 1u)) & ((1u << bit) - 1);
}

/** Turn the octants of one level, all bits below `bit`. For bits - 1, ..., 1, in this order. */
NBC_HD void nbc_hilbert_turn(uint32_t *x, uint32_t *y, uint32_t *z, int bit)
{
    const uint32_t below = (1u << bit) - 1;
    uint32_t a = *x ^ nbc_hilbert_below(*x, bit);
    const uint32_t in_y = nbc_hilbert_below(*y, bit), swap_y = (a ^ *y) & (below ^ in_y);
    a ^= swap_y | in_y;
    *y ^= swap_y;
    const uint32_t in_z = nbc_hilbert_below(*z, bit), swap_z = (a ^ *z) & (below ^ in_z);
    *x = a ^ (swap_z | in_z);
    *z ^= swap_z;
}

/** Decode the Gray code of the turned levels, whose bits are those of the key then. */
NBC_HD void nbc_hilbert_decode(uint32_t *x, uint32_t *y, uint32_t *z)
{
    *y ^= *x;
    *z ^= *y;
    uint32_t before = *z >> 1; /* parity of the levels before */
    before ^= before >> 1;
    before ^= before >> 2;
    before ^= before >> 4;
    before ^= before >> 8;
    before ^= before >> 16;
    *x ^= before;
    *y ^= before;
    *z ^= before;
}

/** Ten bits, three places apart. */
NBC_HD uint32_t nbc_hilbert_spread32(uint32_t bits)
{
    bits = (bits | bits << 16) & 0x030000ffu;
    bits = (bits | bits << 8) & 0x0300f00fu;
    bits = (bits | bits << 4) & 0x030c30c3u;
    return (bits | bits << 2) & 0x09249249u;
}

/** 21 bits, three places apart. */
NBC_HD uint64_t nbc_hilbert_spread64(uint32_t cell)
{
    uint64_t bits = cell;
    bits = (bits | bits << 32) & 0x001f00000000ffffu;
    bits = (bits | bits << 16) & 0x001f0000ff0000ffu;
    bits = (bits | bits << 8) & 0x100f00f00f00f00fu;
    bits = (bits | bits << 4) & 0x10c30c30c30c30c3u;
    return (bits | bits << 2) & 0x1249249249249249u;
}

/** The key of decoded bits: x, y, z of the first level, then those of the next one. */
NBC_HD uint32_t nbc_hilbert_join32(uint32_t x, uint32_t y, uint32_t z)
{
    return nbc_hilbert_spread32(x) << 2 | nbc_hilbert_spread32(y) << 1 | nbc_hilbert_spread32(z);
}

/** Place of a cell on the curve. With a constant number of up to NBC_HILBERT_BITS_32 bits the key is made in numbers of
 *  32 bits, whatever it is assigned to. Without its last three bits a key is that of the cell of twice the size.
 *  @param[in] x, y, z  0 .. 2^bits - 1
 *  @param[in] bits     1 .. NBC_HILBERT_BITS_64
 *  @return 0 .. 2^(3 bits) - 1 */
NBC_HD uint64_t nbc_hilbert_key64(uint32_t x, uint32_t y, uint32_t z, int bits)
{
    for (int bit = bits - 1; bit > 0; bit--) nbc_hilbert_turn(&x, &y, &z, bit);
    nbc_hilbert_decode(&x, &y, &z);
    if (bits <= NBC_HILBERT_BITS_32) return nbc_hilbert_join32(x, y, z);
    return nbc_hilbert_spread64(x) << 2 | nbc_hilbert_spread64(y) << 1 | nbc_hilbert_spread64(z);
}

#endif
