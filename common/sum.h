/** Sums over many things by all threads of the team, with the same bits whatever their number. */
#ifndef NBC_SUM_H
#define NBC_SUM_H

#include "common/nbc.h"

#include <stdint.h>

enum { NBC_SUMS = 8 };

/** Add thing k to each of NBC_SUMS sums; several threads ask at once. */
typedef void nbc_add(const void *context, int64_t k, double sum[NBC_SUMS]);

/** Pieces of some thousand things are added up in order, and these in order: what it gives depends on n alone.
 *  @param[out] sum  of n things; set on success   @return NBC_OK; NBC_NO_MEMORY */
int nbc_sum(int64_t n, nbc_add *add, const void *context, double sum[NBC_SUMS], struct nbc_error *err);

#endif
