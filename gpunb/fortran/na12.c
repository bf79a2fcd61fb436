/* Legacy dialect of Nitadori & Aarseth 2012 and of the AVX build: j is a neighbour if min(R^2, Rp^2) < h2. */
#define GPUNB_WEIGHTED 0
#define GPUNB_LIBRARY "libgpunb"
#include "gpunb/fortran/11.h"
