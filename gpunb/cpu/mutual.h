/** Forces between targets that are sources as well: each pair is computed once. */
#ifndef GPUNB_CPU_MUTUAL_H
#define GPUNB_CPU_MUTUAL_H

#include "gpunb/cpu/cpu.h"

/** A block of which a large part of the sources are targets, once each and where they are as sources; others are left
 *  as they are.
 *  @param[out] done  whether it was such a block
 *  @return NBC_OK; NBC_NO_MEMORY */
int gpunb_cpu_regf_mutual(struct gpunb_cpu_state *cpu, const struct gpunb_block *block, int *done,
                          struct nbc_error *err);

#endif
