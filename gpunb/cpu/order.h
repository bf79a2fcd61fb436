/** The order of sources in space: along a curve that fills it, so that sources with neighbouring places are near to
 * each other. */
#ifndef GPUNB_CPU_ORDER_H
#define GPUNB_CPU_ORDER_H

#include "gpunb/cpu/cpu.h"

/** All sources in their order, which depends on their positions alone. Cells end with padding.
 *  @param[in] row    [n_j], sources for which it is not negative come first, then, from the next chunk on, the others;
 *                    NULL: there is no difference
 *  @param[out] keys  [tiles.n_cells * CPU_CELL], one for each place; they stay until the next call. Those between
 *                    the first sources and the others are not set.
 *  @return 0 without memory */
int gpunb_cpu_order(struct gpunb_cpu_state *cpu, const int32_t *row, const uint64_t **keys);

/** The number of the source of a key, which is that of the last source if it is padding. */
static inline size_t gpunb_key_number(uint64_t key)
{
    return (size_t)(key & UINT32_MAX);
}

#define GPUNB_KEY_PADDING ((uint64_t)1 << 63)

#endif
