/** Devices that compute beside the processor: their memory, streams, events and failures. GPUNB, GPUIRR, the device
 *  engine and collisionless systems ask for all of that here, so that each of them runs on any kind of device.
 *
 *  Kinds: NVIDIA GPUs (`nbd_cuda`), and devices that are emulated in memory of the host (`nbd_emulated`), by which all
 *  host code of devices is tested where there is no GPU.
 *
 *  What is enqueued on a stream happens in order, at any time up to the return of a call that waits for it. Until then
 *  its memory is left alone. Functions that return a status fill err when it is not NBC_OK. A message begins with the
 *  user of the device and its name: "gpunb: device 0 (NVIDIA H200): ...". */
#ifndef NBD_DEVICE_H
#define NBD_DEVICE_H

#include "common/nbc.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct nbd_kind;
/** Of CUDA a cudaStream_t and a cudaEvent_t: kernels are launched on it by files of CUDA. */
struct nbd_stream;
struct nbd_event;

/** NVIDIA GPUs; NULL: this library was built without CUDA. */
extern const struct nbd_kind *const nbd_cuda;
/** Devices in memory of the host (device/emulated/emulated.h). */
extern const struct nbd_kind *const nbd_emulated;

enum { NBD_NAME = 128 };

struct nbd_device {
    const struct nbd_kind *kind;
    int number;          /**< among those of its kind */
    int multiprocessors; /**< thread blocks that work at the same time, at least */
    const char *user;    /**< library or engine that has opened it */
    char name[NBD_NAME]; /**< "device 0 (NVIDIA H200)" */
};

/** Number of devices of a kind, NULL included, that there are on this machine.
 *  @param[out] why  set to NULL, or, if there is none, to the reason in a few words */
int nbd_count(const struct nbd_kind *kind, const char **why);
/** A device is known by its name and number, and current for the calls that follow. There is nothing to close.
 *  @param[in] user  a constant   @return NBC_OK; NBC_UNAVAILABLE (too old, no such kind); NBC_DEVICE */
int nbd_open(struct nbd_device *device, const struct nbd_kind *kind, int number, const char *user,
             struct nbc_error *err);
/** Launches and allocations of this thread are for this device from now on.   @return NBC_OK; NBC_DEVICE */
int nbd_use(const struct nbd_device *device, struct nbc_error *err);
/** All streams of the device are done.   @return NBC_OK; NBC_DEVICE */
int nbd_wait(const struct nbd_device *device, struct nbc_error *err);

/* ---- memory */

/** Memory of the device, or of the host where every device sees it at the same address. */
enum nbd_where { NBD_ON_DEVICE, NBD_ON_HOST };

/** @param[out] memory  not set to anything, aligned to 256 bytes; NULL after a failure
 *  @return NBC_OK; NBC_NO_MEMORY (how much of what is not there, and what to do); NBC_DEVICE */
int nbd_alloc(const struct nbd_device *device, enum nbd_where where, size_t bytes, void **memory,
              struct nbc_error *err);
/** Accepts NULL. No device has work then that needs it. */
void nbd_free(const struct nbd_device *device, enum nbd_where where, void *memory);

/** Memory that only grows, by an eighth more than is asked for. Zero-initialise but for `where`. */
struct nbd_buffer {
    void *data;
    size_t bytes;
    enum nbd_where where;
};

/** At least so many bytes; what was in it is lost when it grows.   @return as nbd_alloc: it has none then */
int nbd_buffer_reserve(const struct nbd_device *device, struct nbd_buffer *buffer, size_t bytes, struct nbc_error *err);
/** At least so many bytes; it keeps what it holds, and new bytes of memory of the host are 0xff. The device has no work
 *  that needs it.   @return as nbd_alloc, nbd_copy: it is what it was */
int nbd_buffer_extend(const struct nbd_device *device, struct nbd_buffer *buffer, size_t bytes, struct nbc_error *err);
void nbd_buffer_release(const struct nbd_device *device, struct nbd_buffer *buffer);

/** Ordinary memory of the host becomes memory that the device reads and writes itself.
 *  @param[out] seen_at  its address there   @return whether it has; if not, all is as before */
int nbd_pin(const struct nbd_device *device, void *memory, size_t bytes, void **seen_at);
/** To be called before the memory is freed. */
void nbd_unpin(const struct nbd_device *device, void *memory);

/** From now on kernels and copies of a device reach the memory of another one.   @return whether they can */
int nbd_reach(const struct nbd_device *device, const struct nbd_device *other);

/* ---- streams and events */

/** A stream overtakes those of lower priority, as far as the device has several. */
enum nbd_priority { NBD_LOWEST, NBD_MIDDLE, NBD_HIGHEST };

/** @param[out] stream  NULL after a failure   @return NBC_OK; NBC_NO_MEMORY; NBC_DEVICE */
int nbd_stream_open(const struct nbd_device *device, enum nbd_priority priority, struct nbd_stream **stream,
                    struct nbc_error *err);
/** Accepts NULL. What is on it is still done, by a kind that works by itself. */
void nbd_stream_close(const struct nbd_device *device, struct nbd_stream *stream);
/** Wait until all enqueued work is done.   @return NBC_OK; NBC_DEVICE */
int nbd_stream_wait(const struct nbd_device *device, struct nbd_stream *stream, struct nbc_error *err);
/** @param[out] is_done  whether it is; nobody waits   @return NBC_OK; NBC_DEVICE */
int nbd_stream_ask(const struct nbd_device *device, struct nbd_stream *stream, int *is_done, struct nbc_error *err);

int nbd_event_open(const struct nbd_device *device, struct nbd_event **event, struct nbc_error *err);
/** Accepts NULL. */
void nbd_event_close(const struct nbd_device *device, struct nbd_event *event);
/** The event is when all is done that the stream holds now. */
int nbd_event_record(const struct nbd_device *device, struct nbd_event *event, struct nbd_stream *stream,
                     struct nbc_error *err);
/** Work that is enqueued on the stream from now on comes after the event, be it one of another device. One that was
 * never recorded is past. */
int nbd_event_await(const struct nbd_device *device, struct nbd_event *event, struct nbd_stream *stream,
                    struct nbc_error *err);
/** The caller waits for it. */
int nbd_event_wait(const struct nbd_device *device, struct nbd_event *event, struct nbc_error *err);

/** Enqueue a copy between memory of the device, memory of the host, and memory that the device reaches. Ordinary memory
 *  of the host, which is neither NBD_ON_HOST nor pinned, is read or written before the call returns. */
int nbd_copy(const struct nbd_device *device, struct nbd_stream *stream, void *to, const void *from, size_t bytes,
             struct nbc_error *err);
/** Enqueue a copy from another device, through the host where they do not reach each other. */
int nbd_copy_from(const struct nbd_device *device, struct nbd_stream *stream, void *to, const struct nbd_device *other,
                  const void *from, size_t bytes, struct nbc_error *err);
/** Enqueue: every byte becomes this one. */
int nbd_fill(const struct nbd_device *device, struct nbd_stream *stream, void *memory, int byte, size_t bytes,
             struct nbc_error *err);

/* ---- launches and failures */

/** The code of a failure that a test has asked for in place of a launch; 0: none. */
int nbd_launch_fault(void);
/** A message for a call that has failed.   @param[in] call  in words   @param[in] code  of this kind of device
 *  @return NBC_DEVICE */
int nbd_failed(const struct nbd_device *device, const char *call, int code, struct nbc_error *err);

/** Return from the calling function if a launch, which returns the code of this kind of device, fails. */
#define NBD_LAUNCH(err, device, call)                                                                                  \
    do {                                                                                                               \
        int code_ = nbd_launch_fault();                                                                                \
        if (code_ == 0) code_ = (int)(call);                                                                           \
        if (code_ != 0) return nbd_failed(device, #call, code_, err);                                                  \
    } while (0)

/** Return from the calling function if a call returns a status that is not NBC_OK. */
#define NBD_TRY(call)                                                                                                  \
    do {                                                                                                               \
        const int status_ = (call);                                                                                    \
        if (status_ != NBC_OK) return status_;                                                                         \
    } while (0)

#ifdef __cplusplus
}
#endif
#endif
