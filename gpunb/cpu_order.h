/** The order of sources in space: along a curve that fills it, so that sources with neighbouring places are near to
 * each other. */
#ifndef GPUNB_CPU_ORDER_H
#define GPUNB_CPU_ORDER_H

#include "gpunb/cpu.h"

/** All sources in their order, which depends on their positions alone.
 *  @param[out] keys  [n_j], one for each source; they stay until the next call
 *  @return 0 without memory */
int gpunb_cpu_order(struct gpunb_cpu_state *cpu, const uint64_t **keys);

/** The number of the source of a key. */
static inline size_t gpunb_key_number(uint64_t key)
{
    return (size_t)(key & UINT32_MAX);
}

#endif
