/* Row for CUDA in a library built without it, so that lists of backends show its absence. */
#include "gpuirr/backend.h"
#include "gpuirr/cuda_irregular.h"

static const char *missing(void)
{
    return "not compiled in";
}

const struct gpuirr_backend gpuirr_backend_cuda = {
    .name = "cuda",
    .description = "NVIDIA GPUs",
    .ns_per_pair = 1.5,
    .missing = missing,
};

int gpuirr_forces_device(const struct gpuirr_forces_device *job, void *stream, struct nbc_error *err)
{
    (void)job, (void)stream;
    return nbc_fail(err, NBC_UNAVAILABLE, "gpuirr_forces_device: this library was built without CUDA");
}
