/** The order of sources in space: along a curve that fills it (Morton 1966), so that sources with neighbouring places
 *  are near to each other. */
#ifndef GPUNB_CPU_ORDER_H
#define GPUNB_CPU_ORDER_H

#include "gpunb/cpu.h"

/** Numbers of all sources in their order, which depends on their positions alone.
 *  @param[out] number  [n_j]; part of the scratch memory of the tiles
 *  @return 0 without memory */
int gpunb_cpu_order(struct gpunb_cpu_state *cpu, const uint64_t **keys);

/** The number of a source in an element of the sorted keys. */
static inline size_t gpunb_key_number(uint64_t key)
{
    return (size_t)(key & UINT32_MAX);
}

#endif
