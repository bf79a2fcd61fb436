/** Sorting by the team of threads (team.h). */
#ifndef NBC_SORT_H
#define NBC_SORT_H

#include <stddef.h>

/** Below, at or above zero: the first element comes before the second, is like it, comes after it. */
typedef int nbc_compare(const void *a, const void *b);

/** What qsort does, several times as fast for many elements. Elements that compare equal must be alike, or their order
 *  depends on the number of threads. Where memory is short, qsort does it.
 *  @param[in,out] base  [n] elements of `size` bytes */
void nbc_sort(void *base, size_t n, size_t size, nbc_compare *compare);

#endif
