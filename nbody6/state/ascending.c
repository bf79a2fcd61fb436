#include "nbody6/state/ascending.h"

#include <string.h>

/* Halves without a branch, which no processor could predict. */
int64_t nb6_list_find(const int32_t *list, size_t n, int32_t value)
{
    const int32_t *at = list;
    if (n == 0) return -1;
    for (size_t left = n; left > 1;) {
        const size_t half = left / 2;
        at += half & -(size_t)(at[half - 1] < value);
        left -= half;
    }
    return *at == value ? at - list : -1;
}

int64_t nb6_list_insert(int32_t *list, int64_t n, int32_t value)
{
    int64_t at = n;
    while (at > 0 && list[at - 1] > value) at--;
    if (at > 0 && list[at - 1] == value) return n;
    memmove(list + at + 1, list + at, (size_t)(n - at) * sizeof *list);
    list[at] = value;
    return n + 1;
}

int64_t nb6_list_remove(int32_t *list, int64_t n, int64_t place)
{
    memmove(list + place, list + place + 1, (size_t)(n - 1 - place) * sizeof *list);
    return n - 1;
}

void nb6_list_sort(int32_t *list, int64_t n)
{
    for (int64_t k = 1; k < n; k++) {
        const int32_t value = list[k];
        int64_t m = k;
        for (; m > 0 && list[m - 1] > value; m--) list[m] = list[m - 1];
        list[m] = value;
    }
}
