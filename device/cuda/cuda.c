/* NVIDIA GPUs as devices: calls of the CUDA runtime. */
#include "device/kind.h"

#include <cuda_runtime_api.h>
#include <stdio.h>

/* ---- devices */

static int count(const char **why)
{
    int n = 0;
    const cudaError_t code = cudaGetDeviceCount(&n);
    cudaGetLastError(); /* or a later call would report it */
    if (code == cudaErrorInsufficientDriver)
        *why = "no NVIDIA driver, or one older than this library wants";
    else if (code != cudaSuccess)
        *why = cudaGetErrorString(code);
    else
        *why = n == 0 ? "no CUDA device" : NULL;
    return code == cudaSuccess ? n : 0;
}

static int open_device(struct nbd_device *device, const char **too_old)
{
    struct cudaDeviceProp properties;
    const cudaError_t code = cudaGetDeviceProperties(&properties, device->number);
    if (code != cudaSuccess) return (int)code;
    snprintf(device->name, sizeof device->name, "device %d (%.80s)", device->number, properties.name);
    device->multiprocessors = properties.multiProcessorCount;
    if (properties.major < 7) *too_old = "has a compute capability below 7.0, which is needed";
    return (int)cudaSetDevice(device->number);
}

static int use(const struct nbd_device *device)
{
    return (int)cudaSetDevice(device->number);
}

static int wait_for_all(const struct nbd_device *device)
{
    const cudaError_t code = cudaSetDevice(device->number);
    return (int)(code == cudaSuccess ? cudaDeviceSynchronize() : code);
}

/* ---- memory */

static int alloc(const struct nbd_device *device, enum nbd_where where, size_t bytes, void **memory)
{
    cudaError_t code = cudaSetDevice(device->number);
    if (code == cudaSuccess)
        code = where == NBD_ON_HOST ? cudaHostAlloc(memory, bytes, cudaHostAllocPortable | cudaHostAllocMapped)
                                    : cudaMalloc(memory, bytes);
    cudaGetLastError(); /* or a later call would report it */
    return (int)code;
}

static void release(const struct nbd_device *device, enum nbd_where where, void *memory)
{
    if (where == NBD_ON_HOST) {
        cudaFreeHost(memory);
        return;
    }
    if (cudaSetDevice(device->number) == cudaSuccess) cudaFree(memory);
}

static int pin(const struct nbd_device *device, void *memory, size_t bytes, void **seen_at)
{
    (void)device;
    cudaError_t code = cudaHostRegister(memory, bytes, cudaHostRegisterPortable | cudaHostRegisterMapped);
    if (code == cudaSuccess) {
        code = cudaHostGetDevicePointer(seen_at, memory, 0);
        if (code != cudaSuccess) cudaHostUnregister(memory);
    }
    cudaGetLastError();
    return (int)code;
}

static void unpin(const struct nbd_device *device, void *memory)
{
    (void)device;
    cudaHostUnregister(memory);
}

static int reach(const struct nbd_device *device, const struct nbd_device *other)
{
    int can = 0;
    if (cudaDeviceCanAccessPeer(&can, device->number, other->number) != cudaSuccess) can = 0;
    if (can && cudaSetDevice(device->number) != cudaSuccess) can = 0;
    if (can) {
        const cudaError_t code = cudaDeviceEnablePeerAccess(other->number, 0);
        can = code == cudaSuccess || code == cudaErrorPeerAccessAlreadyEnabled;
    }
    cudaGetLastError();
    return can;
}

/* ---- streams and events */

static cudaStream_t of_stream(struct nbd_stream *stream)
{
    return (cudaStream_t)stream;
}

static cudaEvent_t of_event(struct nbd_event *event)
{
    return (cudaEvent_t)event;
}

/* The highest priority has the smallest number. With two of them, the middle one is the highest. */
static int stream_open(const struct nbd_device *device, enum nbd_priority priority, struct nbd_stream **stream)
{
    int lowest, highest;
    cudaError_t code = cudaSetDevice(device->number);
    if (code == cudaSuccess) code = cudaDeviceGetStreamPriorityRange(&lowest, &highest);
    if (code != cudaSuccess) return (int)code;
    const int middle = lowest > highest ? lowest - 1 : lowest;
    return (int)cudaStreamCreateWithPriority((cudaStream_t *)stream, cudaStreamNonBlocking,
                                             priority == NBD_LOWEST   ? lowest
                                             : priority == NBD_MIDDLE ? middle
                                                                      : highest);
}

static void stream_close(struct nbd_stream *stream)
{
    cudaStreamDestroy(of_stream(stream));
}

static int stream_wait(struct nbd_stream *stream)
{
    return (int)cudaStreamSynchronize(of_stream(stream));
}

static int stream_ask(struct nbd_stream *stream, int *is_done)
{
    const cudaError_t code = cudaStreamQuery(of_stream(stream));
    *is_done = code == cudaSuccess;
    return code == cudaErrorNotReady ? 0 : (int)code;
}

static int event_open(const struct nbd_device *device, struct nbd_event **event)
{
    const cudaError_t code = cudaSetDevice(device->number);
    return (int)(code == cudaSuccess ? cudaEventCreateWithFlags((cudaEvent_t *)event, cudaEventDisableTiming) : code);
}

static void event_close(struct nbd_event *event)
{
    cudaEventDestroy(of_event(event));
}

static int event_record(struct nbd_event *event, struct nbd_stream *stream)
{
    return (int)cudaEventRecord(of_event(event), of_stream(stream));
}

static int event_await(struct nbd_event *event, struct nbd_stream *stream)
{
    return (int)cudaStreamWaitEvent(of_stream(stream), of_event(event), 0);
}

static int event_wait(struct nbd_event *event)
{
    return (int)cudaEventSynchronize(of_event(event));
}

/* ---- copies */

static int copy(struct nbd_stream *stream, void *to, const void *from, size_t bytes)
{
    return (int)cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, of_stream(stream));
}

static int copy_from(const struct nbd_device *device, struct nbd_stream *stream, void *to,
                     const struct nbd_device *other, const void *from, size_t bytes)
{
    return (int)cudaMemcpyPeerAsync(to, device->number, from, other->number, bytes, of_stream(stream));
}

static int fill(struct nbd_stream *stream, void *memory, int byte, size_t bytes)
{
    return (int)cudaMemsetAsync(memory, byte, bytes, of_stream(stream));
}

static const char *text(int code)
{
    return cudaGetErrorString((cudaError_t)code);
}

static int lacks_memory(int code)
{
    return code == (int)cudaErrorMemoryAllocation;
}

static const struct nbd_kind cuda = {
    .name = "cuda",
    .count = count,
    .open = open_device,
    .use = use,
    .wait = wait_for_all,
    .alloc = alloc,
    .free = release,
    .pin = pin,
    .unpin = unpin,
    .reach = reach,
    .stream_open = stream_open,
    .stream_close = stream_close,
    .stream_wait = stream_wait,
    .stream_ask = stream_ask,
    .event_open = event_open,
    .event_close = event_close,
    .event_record = event_record,
    .event_await = event_await,
    .event_wait = event_wait,
    .copy = copy,
    .copy_from = copy_from,
    .fill = fill,
    .text = text,
    .lacks_memory = lacks_memory,
};

const struct nbd_kind *const nbd_cuda = &cuda;
