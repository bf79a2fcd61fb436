/** Those of many things that are wanted, found by all threads of the team. */
#ifndef NBC_SELECT_H
#define NBC_SELECT_H

#include <stdint.h>

/** Whether thing k is wanted; several threads ask at once. */
typedef int nbc_wanted(const void *context, int64_t k);

/** Numbers of the wanted of n things, ascending, whatever the number of threads.
 *  @param[in] least  things of which each thread should have so many at least
 *  @param[out] found [n]   @return how many there are */
int64_t nbc_select(int64_t n, int64_t least, nbc_wanted *wanted, const void *context, int32_t *found);

#endif
