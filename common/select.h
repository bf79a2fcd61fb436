/** Selection of items by all threads of the team. */
#ifndef NBC_SELECT_H
#define NBC_SELECT_H

#include <stdint.h>

/** Whether item k is wanted; called by several threads at once. */
typedef int nbc_wanted(const void *context, int64_t k);

/** Numbers of the wanted ones of n items, ascending, whatever the number of threads.
 *  @param[in] least  fewest items for a thread
 *  @param[out] found [n]   @return their number */
int64_t nbc_select(int64_t n, int64_t least, nbc_wanted *wanted, const void *context, int32_t *found);

#endif
