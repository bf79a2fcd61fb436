/** Sums over many things by all threads of the team, with the same bits whatever their number. */
#ifndef NBC_SUM_H
#define NBC_SUM_H

#include <stdint.h>

/** So many sums are made at a time; who wants fewer leaves the others alone. */
enum { NBC_SUMS = 32 };

/** Add thing k to each of NBC_SUMS sums; several threads ask at once. */
typedef void nbc_add(const void *context, int64_t k, double sum[NBC_SUMS]);

/** One more term of a compensated sum (Neumaier 1974, ZAMM 54, 39), *high + *low. */
void nbc_add_exactly(double *high, double *low, double term);

/** Things are added up in pieces, at most 64 of some thousand or more, and these in order, compensated: what it gives
 *  depends on n alone.   @param[out] sum  of n things */
void nbc_sum(int64_t n, nbc_add *add, const void *context, double sum[NBC_SUMS]);

#endif
