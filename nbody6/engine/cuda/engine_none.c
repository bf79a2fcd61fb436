/* Where there is no nvcc there is no device engine. */
#include "nbody6/engine/engine.h"

#include <stddef.h>

const struct nb6_engine *const nb6_device_engine = NULL;
