/* Legacy dialect of NBODY6 (GPU2): j is a neighbour if min(R^2, Rp^2) < m_j h2, with h2 = RS^2/(mean mass). */
#define GPUNB_WEIGHTED 1
#define GPUNB_LIBRARY "libgpunb_nbody6"
#include "gpunb/fortran/11.h"
