#include "nbody6/state/ascending.h"

#include "common/ascending.h"

#include <string.h>

/* Sorted by insertion alone. */
enum { SHORT = 32 };

int64_t nb6_list_find(const int32_t *list, size_t n, int32_t value)
{
    const int64_t at = nbc_first_from(list, (int64_t)n, value);
    return at < (int64_t)n && list[at] == value ? at : -1;
}

int64_t nb6_list_insert(int32_t *list, int64_t n, int32_t value)
{
    return nb6_list_insert_some(list, n, 1, &value);
}

/* From the end on, each entry to where it stays. */
int64_t nb6_list_insert_some(int32_t *list, int64_t n, int64_t m, const int32_t *value)
{
    int64_t come = 0, end = n;
    for (int64_t k = 0; k < m; k++) come += nb6_list_find(list, (size_t)n, value[k]) < 0;
    for (int64_t k = m - 1, left = come; left > 0; k--) {
        const int64_t at = nbc_first_from(list, end, value[k]);
        if (at < end && list[at] == value[k]) continue;
        memmove(list + at + left, list + at, (size_t)(end - at) * sizeof *list);
        list[at + --left] = value[k];
        end = at;
    }
    return n + come;
}

int64_t nb6_list_remove_some(int32_t *list, int64_t n, int64_t m, const int32_t *value)
{
    int64_t from = 0, to = 0;
    for (int64_t k = 0; k <= m; k++) {
        const int64_t at = k < m ? from + nbc_first_from(list + from, n - from, value[k]) : n;
        if (k < m && (at == n || list[at] != value[k])) continue;
        if (to < from) memmove(list + to, list + from, (size_t)(at - from) * sizeof *list);
        to += at - from;
        from = at + 1;
    }
    return to;
}

int64_t nb6_list_remove(int32_t *list, int64_t n, int64_t place)
{
    memmove(list + place, list + place + 1, (size_t)(n - 1 - place) * sizeof *list);
    return n - 1;
}

/* By insertion, of long lists after sorting every step-th number (Shell 1959; steps of Knuth). */
void nb6_list_sort(int32_t *list, int64_t n)
{
    int64_t step = 1;
    while (step < n / SHORT) step = 3 * step + 1;
    for (; step > 0; step /= 3)
        for (int64_t k = step; k < n; k++) {
            const int32_t value = list[k];
            int64_t m = k;
            for (; m >= step && list[m - step] > value; m -= step) list[m] = list[m - step];
            list[m] = value;
        }
}
