/* Row for CUDA in a library built without it, so that lists of backends show its absence. */
#include "gpunb/backend.h"
#include "gpunb/cuda_softened.h"

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

int gpunb_softened_device_bytes(size_t n_i, size_t n_j, size_t *bytes, struct nbc_error *err)
{
    (void)n_i, (void)n_j, (void)bytes;
    return nbc_fail(err, NBC_UNAVAILABLE, "gpunb_softened_device_bytes: this library was built without CUDA");
}

int gpunb_softened_device(const struct gpunb_softened_device *job, void *stream, struct nbc_error *err)
{
    (void)job, (void)stream;
    return nbc_fail(err, NBC_UNAVAILABLE, "gpunb_softened_device: this library was built without CUDA");
}
