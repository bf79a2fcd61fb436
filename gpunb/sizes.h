/** Arithmetic of sizes. */
#ifndef GPUNB_SIZES_H
#define GPUNB_SIZES_H

#include <stddef.h>

static inline size_t gpunb_ceil_div(size_t a, size_t b)
{
    return (a + b - 1) / b;
}

static inline size_t gpunb_min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

#endif
