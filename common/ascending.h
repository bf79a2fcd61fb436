/** Ascending lists of numbers. */
#ifndef NBC_ASCENDING_H
#define NBC_ASCENDING_H

#include <stdint.h>

/** Where the first number is that is not below a value; n: there is none. Halves without a branch, which no processor
 *  could predict; for GPUs see nb6_dev_first_from. */
static inline int64_t nbc_first_from(const int32_t *list, int64_t n, int32_t value)
{
    const int32_t *at = list;
    for (int64_t left = n; left > 1;) {
        const int64_t half = left / 2;
        at += half & -(int64_t)(at[half - 1] < value);
        left -= half;
    }
    return n > 0 ? at - list + (*at < value) : 0;
}

#endif
