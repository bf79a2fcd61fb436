/** Expansions of terms in float, by lanes of a device or of its emulation: the numbers that gpunb/tree/term.h asks for.
 */
#ifndef GPUNB_DEVICE_FLOAT_TERM_H
#define GPUNB_DEVICE_FLOAT_TERM_H

#define TERM_REAL float
#define TERM_SET(number) (number)
#define TERM_NUMBER float
#define TERM_FUNCTION TREE_FN
#ifdef __CUDACC__
#define TERM_FMA(a, b, c) fmaf(a, b, c)
#else
#define TERM_FMA(a, b, c) ((a) * (b) + (c))
#endif
#include "gpunb/tree/term.h"

#endif
