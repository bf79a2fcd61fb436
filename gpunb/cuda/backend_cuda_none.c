/* Row for CUDA in a library built without it, so that lists of backends show its absence. */
#include "gpunb/backend.h"

static const char *cuda_why_unavailable(void)
{
    return "not compiled in";
}

const struct gpunb_backend gpunb_backend_cuda = {
    .name = "cuda",
    .description = "NVIDIA GPUs",
    .ns_per_pair = 0.03,
    .precisions = 1u << GPUNB_FLOAT | 1u << GPUNB_TWOFLOAT,
    .precision = GPUNB_TWOFLOAT,
    .why_unavailable = cuda_why_unavailable,
};
