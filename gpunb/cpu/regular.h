/** SIMD backends: pairs of regular forces by tree. */
#ifndef GPUNB_CPU_REGULAR_H
#define GPUNB_CPU_REGULAR_H

#include "gpunb/tree/method.h"

extern const struct gpunb_regular_method gpunb_cpu_regular;

#endif
