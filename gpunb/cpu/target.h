/** A target of a block: packed, and its sums and neighbours as results. */
#ifndef GPUNB_CPU_TARGET_H
#define GPUNB_CPU_TARGET_H

#include "gpunb/cpu/cpu.h"

/** Target i of the block, its place among tiles apart. */
void gpunb_cpu_pack_target(const struct gpunb_cpu_state *cpu, const struct gpunb_block *block, size_t i,
                           struct gpunb_target *target);
void gpunb_cpu_add(struct gpunb_sum *total, const struct gpunb_sum *part);

/** Room for the marks of so many threads, all 0, by which lists are put into order.   @return 0 without memory */
int gpunb_cpu_grow_marks(struct gpunb_cpu_state *cpu, int threads);
/** The results of target i. Its list is in its row of the block; `thread`: the list may be in any order, and the
 *  marks of this thread sort it; -1: it is in order of the numbers. */
void gpunb_cpu_finish_target(const struct gpunb_cpu_state *cpu, const struct gpunb_block *block, size_t i,
                             const struct gpunb_target *target, const struct gpunb_sum *total, size_t found,
                             int thread);

#endif
