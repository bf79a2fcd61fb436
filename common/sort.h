/** Sorting by the team of threads (team.h). */
#ifndef NBC_SORT_H
#define NBC_SORT_H

#include <stddef.h>

/** Comparison as for qsort: below, at or above zero if the first element comes before the second, is equal, comes
 *  after it. */
typedef int nbc_compare(const void *a, const void *b);

/** A parallel qsort, several times as fast for many elements. Elements that compare equal must be identical, or their
 *  order depends on the number of threads. Without memory for a copy, qsort is called.
 *  @param[in,out] base  [n] elements of `size` bytes */
void nbc_sort(void *base, size_t n, size_t size, nbc_compare *compare);

#endif
