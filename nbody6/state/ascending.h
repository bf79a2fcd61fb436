/** Ascending lists of bodies or slots. */
#ifndef NB6_ASCENDING_H
#define NB6_ASCENDING_H

#include "common/hd.h"

#include <stddef.h>
#include <stdint.h>

/** Where a value is, -1: nowhere. */
int64_t nb6_list_find(const int32_t *list, size_t n, int32_t value);
/** Put a value in its place, if it is not there; the list has room for it.   @return the new length */
int64_t nb6_list_insert(int32_t *list, int64_t n, int32_t value);
/** The same of several values: one shift of what is behind the first.   @param[in] value [m] ascending */
int64_t nb6_list_insert_some(int32_t *list, int64_t n, int64_t m, const int32_t *value);
/** Take values out, those that are there, by one shift of what is behind the first.   @param[in] value [m] ascending
 *  @return the new length */
int64_t nb6_list_remove_some(int32_t *list, int64_t n, int64_t m, const int32_t *value);
/** Take the value at a place out.   @return the new length */
int64_t nb6_list_remove(int32_t *list, int64_t n, int64_t place);
/** Make a list ascending; the fastest way if it is short, or nearly so already. */
void nb6_list_sort(int32_t *list, int64_t n);

/** A walk through an old and a new list, and its position in each. */
struct nb6_list_walk {
    const int32_t *old, *list;
    int64_t n_old, n, at_old, at;
};

/** The next value that is in one of the two alone, in ascending order; -1: there is none any more.
 *  @param[out] sign  1: it has come, -1: it has gone */
NBC_HD int32_t nb6_list_next_change(struct nb6_list_walk *w, double *sign)
{
    while (w->at_old < w->n_old && w->at < w->n && w->old[w->at_old] == w->list[w->at]) {
        w->at_old++;
        w->at++;
    }
    if (w->at_old == w->n_old && w->at == w->n) return -1;
    const int has_gone = w->at == w->n || (w->at_old < w->n_old && w->old[w->at_old] < w->list[w->at]);
    *sign = has_gone ? -1 : 1;
    return has_gone ? w->old[w->at_old++] : w->list[w->at++];
}

#endif
