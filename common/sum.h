/** Sums over many things by all threads of the team, with the same bits whatever their number. */
#ifndef NBC_SUM_H
#define NBC_SUM_H

#include <stdint.h>

/** Sums made at a time; a caller with fewer sums ignores the others. */
enum { NBC_SUMS = 32 };

/** Add item k to each of NBC_SUMS sums; called by several threads at once. */
typedef void nbc_add(const void *context, int64_t k, double sum[NBC_SUMS]);

/** One more term of a compensated sum (Neumaier 1974, ZAMM 54, 39), *high + *low. */
void nbc_add_exactly(double *high, double *low, double term);

/** Add items in pieces, at most 64 of some thousand or more, and the pieces in order, compensated: the result depends
 *  on n, not on the number of threads.   @param[out] sum  of n items */
void nbc_sum(int64_t n, nbc_add *add, const void *context, double sum[NBC_SUMS]);

#endif
