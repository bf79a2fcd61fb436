/* NVIDIA GPUs: the kernels that a store (device/store.h) launches, and the descriptor. */
#include "gpuirr/cuda/kernels.h"
#include "gpuirr/device/store.h"

#include <stdlib.h>

static const char *missing(void)
{
    const char *why;
    nbd_count(nbd_cuda, &why);
    return why;
}

/* The first GPU in GPU_LIST, which gpunb has checked as a whole if it uses GPUs. */
static int choose_device(int *device, struct nbc_error *err)
{
    const char *listed = getenv("GPU_LIST"), *why;
    const int count = nbd_count(nbd_cuda, &why);
    char *end;
    *device = 0;
    if (count == 0) return nbc_fail(err, NBC_UNAVAILABLE, "%s", why);
    if (!listed || !listed[0]) return NBC_OK;
    const long number = strtol(listed, &end, 10);
    if (end == listed || number < 0 || number >= count)
        return nbc_fail(err, NBC_UNAVAILABLE,
                        "GPU_LIST is '%s': it must begin with the number of a CUDA device, 0 to %d", listed, count - 1);
    *device = (int)number;
    return NBC_OK;
}

static int open_gpu(struct nbd_device *device, struct nbc_error *err)
{
    int number;
    const int status = choose_device(&number, err);
    return status ? status : nbd_open(device, nbd_cuda, number, "gpuirr", err);
}

static int enqueue_bodies(const struct gpuirr_device_store_job *job, struct nbd_stream *stream)
{
    return (int)gpuirr_cuda_store(job, (cudaStream_t)stream);
}

static int enqueue_forces(const struct gpuirr_device_force_job *job, struct nbd_stream *stream)
{
    return (int)gpuirr_cuda_forces(job, (cudaStream_t)stream);
}

static const struct gpuirr_device cuda = {.open = open_gpu, .store = enqueue_bodies, .forces = enqueue_forces};

static void *open_store(size_t n_max, struct nbc_error *err)
{
    return gpuirr_device_open(&cuda, n_max, err);
}

const struct gpuirr_backend gpuirr_backend_cuda = {
    .name = "cuda",
    .description = "NVIDIA GPUs",
    .ns_per_pair = 1.5, /* of an H200, blocks of 256 */
    .missing = missing,
    .open = open_store,
    GPUIRR_DEVICE_OPS,
};
