/** Tables of direct sums on many ranks: MTM13, Sec. 6, and virtual networks, beside nb6_rank_seconds. */
#ifndef BENCH_RANK_TABLES_H
#define BENCH_RANK_TABLES_H

#include "common/nbc.h"

/** On standard output.   @return NBC_OK; NBC_NO_MEMORY */
int rank_tables_print(struct nbc_error *err);

#endif
