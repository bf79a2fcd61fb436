/* A device: opening and closing, memory, error messages. */
#include "gpunb/cuda/gpu.h"

#include <stdio.h>
#include <string.h>

int gpunb_cuda_fail(struct nbc_error *err, const struct cuda_gpu *gpu, const char *call, cudaError_t code)
{
    return nbc_fail(err, NBC_DEVICE, "gpunb: %s: %s failed: %s (%s)", gpu->name, call, cudaGetErrorString(code),
                    cudaGetErrorName(code));
}

int gpunb_cuda_count(const char **why)
{
    int count = 0;
    cudaError_t code = cudaGetDeviceCount(&count);
    cudaGetLastError(); /* clear the error, or a later call would report it */
    if (code == cudaErrorInsufficientDriver)
        *why = "no NVIDIA driver, or one older than this library wants";
    else if (code != cudaSuccess)
        *why = cudaGetErrorString(code);
    else if (count == 0)
        *why = "no CUDA device";
    else
        *why = "";
    if (code != cudaSuccess) return 0;
    return count < CUDA_MAX_GPUS ? count : CUDA_MAX_GPUS;
}

int gpunb_cuda_use(const struct cuda_gpu *gpu, struct nbc_error *err)
{
    CUDA_TRY(err, gpu, cudaSetDevice(gpu->device));
    return NBC_OK;
}

static void place_buffers_on_host(struct cuda_gpu *gpu)
{
    gpu->host_sources.on_host = gpu->host_pot.on_host = gpu->refused.on_host = gpu->stored.on_host = 1;
    gpu->host_softened.on_host = 1;
    for (int s = 0; s < CUDA_SLOTS; s++) gpu->slots[s].results.on_host = gpu->slots[s].lists.on_host = 1;
}

/* Priorities of streams; the highest has the smallest number. If there are only two, sums and finish share the
 * higher one. */
struct priorities {
    int lowest, middle, highest;
};

static int ask_for_priorities(const struct cuda_gpu *gpu, struct priorities *p, struct nbc_error *err)
{
    CUDA_TRY(err, gpu, cudaDeviceGetStreamPriorityRange(&p->lowest, &p->highest));
    p->middle = p->lowest > p->highest ? p->lowest - 1 : p->lowest;
    return NBC_OK;
}

static int open_slot(const struct cuda_gpu *gpu, const struct priorities *priority, struct cuda_slot *slot,
                     struct nbc_error *err)
{
    CUDA_TRY(err, gpu, cudaStreamCreateWithPriority(&slot->stream, cudaStreamNonBlocking, priority->middle));
    CUDA_TRY(err, gpu, cudaStreamCreateWithPriority(&slot->finish, cudaStreamNonBlocking, priority->highest));
    CUDA_TRY(err, gpu, cudaEventCreateWithFlags(&slot->summed, cudaEventDisableTiming));
    CUDA_TRY(err, gpu, cudaEventCreateWithFlags(&slot->done, cudaEventDisableTiming));
    return NBC_OK;
}

int gpunb_cuda_open(struct cuda_gpu *gpu, int device, struct nbc_error *err)
{
    struct cudaDeviceProp properties;
    struct priorities priority;
    gpu->device = device;
    snprintf(gpu->name, sizeof gpu->name, "device %d", device);
    place_buffers_on_host(gpu);
    CUDA_TRY(err, gpu, cudaGetDeviceProperties(&properties, device));
    snprintf(gpu->name, sizeof gpu->name, "device %d (%.80s)", device, properties.name);
    if (properties.major < 7)
        return nbc_fail(err, NBC_UNAVAILABLE, "gpunb: %s has compute capability %d.%d; 7.0 or later is needed",
                        gpu->name, properties.major, properties.minor);
    gpu->multiprocessors = properties.multiProcessorCount;
    NBC_TRY(gpunb_cuda_use(gpu, err));
    NBC_TRY(ask_for_priorities(gpu, &priority, err));
    CUDA_TRY(err, gpu, cudaStreamCreateWithPriority(&gpu->stream, cudaStreamNonBlocking, priority.middle));
    CUDA_TRY(err, gpu, cudaStreamCreateWithPriority(&gpu->pot_stream, cudaStreamNonBlocking, priority.lowest));
    CUDA_TRY(err, gpu, cudaEventCreateWithFlags(&gpu->sent, cudaEventDisableTiming));
    CUDA_TRY(err, gpu, cudaEventCreateWithFlags(&gpu->prepared, cudaEventDisableTiming));
    for (int s = 0; s < CUDA_SLOTS; s++) NBC_TRY(open_slot(gpu, &priority, &gpu->slots[s], err));
    return NBC_OK;
}

int gpunb_cuda_finish_blocks(const struct cuda_gpu *gpu, struct nbc_error *err)
{
    CUDA_TRY(err, gpu, cudaStreamSynchronize(gpu->stream));
    for (int s = 0; s < CUDA_SLOTS; s++) {
        CUDA_TRY(err, gpu, cudaStreamSynchronize(gpu->slots[s].stream));
        CUDA_TRY(err, gpu, cudaStreamSynchronize(gpu->slots[s].finish));
    }
    return NBC_OK;
}

void gpunb_cuda_release(struct cuda_buffer *buffer)
{
    if (buffer->on_host)
        cudaFreeHost(buffer->data);
    else
        cudaFree(buffer->data);
    buffer->data = NULL;
    buffer->bytes = 0;
}

static void close_slot(struct cuda_slot *slot)
{
    struct cuda_buffer *buffers[] = {&slot->partial, &slot->near,    &slot->mask, &slot->rows,
                                     &slot->sorted,  &slot->results, &slot->lists};
    for (size_t k = 0; k < sizeof buffers / sizeof buffers[0]; k++) gpunb_cuda_release(buffers[k]);
    if (slot->summed) cudaEventDestroy(slot->summed);
    if (slot->done) cudaEventDestroy(slot->done);
    if (slot->finish) cudaStreamDestroy(slot->finish);
    if (slot->stream) cudaStreamDestroy(slot->stream);
}

void gpunb_cuda_close(struct cuda_gpu *gpu)
{
    struct cuda_buffer *buffers[] = {&gpu->host_sources, &gpu->sources,      &gpu->plain.tiles,   &gpu->plain.index,
                                     &gpu->curved.tiles, &gpu->curved.index, &gpu->keys,          &gpu->places,
                                     &gpu->sort_scratch, &gpu->targets,      &gpu->order,         &gpu->bodies,
                                     &gpu->pot_keys,     &gpu->pot_scratch,  &gpu->pot_order,     &gpu->pot_tiles,
                                     &gpu->pot_sorted,   &gpu->pot_partial,  &gpu->pot,           &gpu->host_pot,
                                     &gpu->jp,           &gpu->numbers,      &gpu->refused,       &gpu->stored,
                                     &gpu->softened_in,  &gpu->softened_out, &gpu->softened_work, &gpu->host_softened};
    if (cudaSetDevice(gpu->device) != cudaSuccess) return;
    cudaDeviceSynchronize();
    for (size_t k = 0; k < sizeof buffers / sizeof buffers[0]; k++) gpunb_cuda_release(buffers[k]);
    for (int s = 0; s < CUDA_SLOTS; s++) close_slot(&gpu->slots[s]);
    if (gpu->sent) cudaEventDestroy(gpu->sent);
    if (gpu->prepared) cudaEventDestroy(gpu->prepared);
    if (gpu->pot_stream) cudaStreamDestroy(gpu->pot_stream);
    if (gpu->stream) cudaStreamDestroy(gpu->stream);
}

int gpunb_cuda_reserve(const struct cuda_gpu *gpu, struct cuda_buffer *buffer, size_t bytes, struct nbc_error *err)
{
    if (bytes <= buffer->bytes) return NBC_OK;
    size_t wanted = bytes + bytes / 8; /* so that a slowly growing need does not allocate each time */
    gpunb_cuda_release(buffer);
    cudaError_t code = buffer->on_host ? cudaHostAlloc(&buffer->data, wanted, cudaHostAllocPortable)
                                       : cudaMalloc(&buffer->data, wanted);
    if (code == cudaSuccess) {
        buffer->bytes = wanted;
        return NBC_OK;
    }
    buffer->data = NULL;
    cudaGetLastError();
    return nbc_fail(err, NBC_DEVICE,
                    "gpunb: %s: cannot allocate %.1f MB of %s: %s (%s); use fewer stars, more devices, or another "
                    "backend",
                    gpu->name, (double)wanted * 1e-6, buffer->on_host ? "pinned host memory" : "device memory",
                    cudaGetErrorString(code), cudaGetErrorName(code));
}
