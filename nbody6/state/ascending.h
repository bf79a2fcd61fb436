/** Ascending lists of bodies or slots. */
#ifndef NB6_ASCENDING_H
#define NB6_ASCENDING_H

#include <stddef.h>
#include <stdint.h>

/** Where a value is, -1: nowhere. */
int64_t nb6_list_find(const int32_t *list, size_t n, int32_t value);
/** Put a value in its place, if it is not there; the list has room for it.   @return the new length */
int64_t nb6_list_insert(int32_t *list, int64_t n, int32_t value);
/** Take the value at a place out.   @return the new length */
int64_t nb6_list_remove(int32_t *list, int64_t n, int64_t place);
/** Make a list ascending that is short, or nearly so already. */
void nb6_list_sort(int32_t *list, int64_t n);

#endif
