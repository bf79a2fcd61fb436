/* NVIDIA GPUs: the device that a store (device/store.h) is on, and the descriptor. */
#include "gpuirr/cuda/kernels.h"
#include "gpuirr/device/store.h"

#include <stdio.h>
#include <stdlib.h>

struct gpu {
    int device;
    cudaStream_t stream;
    char name[128]; /* "device 0 (NVIDIA H200)" */
};

static int fail(struct nbc_error *err, const struct gpu *gpu, const char *call, cudaError_t code)
{
    return nbc_fail(err, NBC_DEVICE, "%s: %s failed: %s (%s)", gpu->name, call, cudaGetErrorString(code),
                    cudaGetErrorName(code));
}

/* Return from the calling function if a call of the CUDA runtime fails. */
#define CUDA_TRY(err, gpu, call)                                                                                       \
    do {                                                                                                               \
        cudaError_t code_ = (call);                                                                                    \
        if (code_ != cudaSuccess) return fail(err, gpu, #call, code_);                                                 \
    } while (0)

/* Number of devices; if 0, *why has the reason. */
static int count_devices(const char **why)
{
    int count = 0;
    const cudaError_t code = cudaGetDeviceCount(&count);
    cudaGetLastError(); /* clear the error, or a later call would report it */
    if (code == cudaErrorInsufficientDriver)
        *why = "no NVIDIA driver, or one older than this library wants";
    else if (code != cudaSuccess)
        *why = cudaGetErrorString(code);
    else
        *why = count == 0 ? "no CUDA device" : NULL;
    return code == cudaSuccess ? count : 0;
}

static const char *missing(void)
{
    const char *why;
    count_devices(&why);
    return why;
}

/* ---- the device */

/* The first GPU in GPU_LIST, which gpunb has checked as a whole if it uses GPUs. */
static int choose_device(int *device, struct nbc_error *err)
{
    const char *listed = getenv("GPU_LIST"), *why;
    const int count = count_devices(&why);
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

static int make_ready(struct gpu *gpu, struct nbc_error *err)
{
    struct cudaDeviceProp properties;
    snprintf(gpu->name, sizeof gpu->name, "device %d", gpu->device);
    CUDA_TRY(err, gpu, cudaGetDeviceProperties(&properties, gpu->device));
    snprintf(gpu->name, sizeof gpu->name, "device %d (%.80s)", gpu->device, properties.name);
    if (properties.major < 7)
        return nbc_fail(err, NBC_UNAVAILABLE, "%s has compute capability %d.%d; 7.0 or later is needed", gpu->name,
                        properties.major, properties.minor);
    CUDA_TRY(err, gpu, cudaSetDevice(gpu->device));
    CUDA_TRY(err, gpu, cudaStreamCreateWithFlags(&gpu->stream, cudaStreamNonBlocking));
    return NBC_OK;
}

static int open_gpu(void **context, struct nbc_error *err)
{
    int device;
    const int status = choose_device(&device, err);
    if (status) return status;
    struct gpu *gpu = nbc_alloc(1, sizeof *gpu);
    if (!gpu) return nbc_fail(err, NBC_NO_MEMORY, "no memory for the CUDA backend");
    gpu->device = device;
    *context = gpu;
    return make_ready(gpu, err);
}

static void close_gpu(void *context)
{
    struct gpu *gpu = context;
    if (gpu->stream) cudaStreamDestroy(gpu->stream);
    nbc_free(gpu);
}

static const char *name_of(const void *context)
{
    const struct gpu *gpu = context;
    return gpu->name;
}

static int reserve(void *context, int on_host, size_t bytes, void **memory, struct nbc_error *err)
{
    const struct gpu *gpu = context;
    CUDA_TRY(err, gpu, cudaSetDevice(gpu->device));
    const cudaError_t code =
        on_host ? cudaHostAlloc(memory, bytes, cudaHostAllocPortable | cudaHostAllocMapped) : cudaMalloc(memory, bytes);
    if (code == cudaSuccess) return NBC_OK;
    cudaGetLastError();
    return nbc_fail(err, NBC_DEVICE, "%s: cannot allocate %.1f MB of %s: %s (%s); use fewer stars or another backend",
                    gpu->name, (double)bytes * 1e-6, on_host ? "pinned host memory" : "device memory",
                    cudaGetErrorString(code), cudaGetErrorName(code));
}

static void release(void *context, int on_host, void *memory)
{
    (void)context;
    if (on_host)
        cudaFreeHost(memory);
    else
        cudaFree(memory);
}

static int unset(void *context, void *memory, size_t bytes, struct nbc_error *err)
{
    const struct gpu *gpu = context;
    CUDA_TRY(err, gpu, cudaMemsetAsync(memory, 0xff, bytes, gpu->stream));
    return NBC_OK;
}

static int copy(void *context, void *to, const void *from, size_t bytes, struct nbc_error *err)
{
    const struct gpu *gpu = context;
    CUDA_TRY(err, gpu, cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, gpu->stream));
    return NBC_OK;
}

static int store_bodies(void *context, const struct gpuirr_device_store_job *job, struct nbc_error *err)
{
    const struct gpu *gpu = context;
    CUDA_TRY(err, gpu, cudaSetDevice(gpu->device));
    CUDA_TRY(err, gpu, gpuirr_cuda_store(job, gpu->stream));
    return NBC_OK;
}

static int forces(void *context, const struct gpuirr_device_force_job *job, struct nbc_error *err)
{
    const struct gpu *gpu = context;
    CUDA_TRY(err, gpu, cudaSetDevice(gpu->device));
    CUDA_TRY(err, gpu, gpuirr_cuda_forces(job, gpu->stream));
    return NBC_OK;
}

static int wait_for(void *context, struct nbc_error *err)
{
    const struct gpu *gpu = context;
    CUDA_TRY(err, gpu, cudaStreamSynchronize(gpu->stream));
    return NBC_OK;
}

static const struct gpuirr_device cuda = {
    .open = open_gpu,
    .close = close_gpu,
    .name = name_of,
    .reserve = reserve,
    .release = release,
    .unset = unset,
    .copy = copy,
    .store = store_bodies,
    .forces = forces,
    .wait = wait_for,
};

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
