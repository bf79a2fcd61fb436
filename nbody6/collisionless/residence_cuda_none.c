/* Without CUDA. */
#include "nbody6/collisionless/residence.h"

#include <stddef.h>

const struct nb6_residence *const nb6_residence_cuda = NULL;
