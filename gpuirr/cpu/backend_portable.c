/* Vectors of four floats, which every 64-bit processor has. */
#include "gpuirr/backend.h"

#include "gpuirr/cpu/simd_portable.h"

#include "gpuirr/cpu/kernel.h"

const struct gpuirr_backend gpuirr_backend_portable = {
    .name = "portable",
    .description = "vectors of 4 floats, any processor",
    .ns_per_pair = 7,
    GPUIRR_COMPACT_OPS,
    .predict = predict_range,
    .forces = forces,
};
