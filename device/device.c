#include "device/device.h"

#include "device/faults.h"
#include "device/kind.h"

#include <stdio.h>
#include <string.h>

/* Call an operation of the kind, unless a test wants a failure in its place. */
#define CALL(device, operation, ...)                                                                                   \
    (code = nbd_fault_due(0), code ? code : (code = (device)->kind->operation(__VA_ARGS__)))

#define RETURN(device, what, code, err) return (code) == 0 ? NBC_OK : nbd_failed(device, what, code, err)

int nbd_failed(const struct nbd_device *device, const char *call, int code, struct nbc_error *err)
{
    const char *asked = nbd_fault_text(code);
    return nbc_fail(err, NBC_DEVICE, "%s: %s: %s failed: %s", device->user, device->name, call,
                    asked ? asked : device->kind->text(code));
}

int nbd_launch_fault(void)
{
    return nbd_fault_due(0);
}

int nbd_count(const struct nbd_kind *kind, const char **why)
{
    *why = "this library was built without CUDA";
    return kind ? kind->count(why) : 0;
}

int nbd_open(struct nbd_device *device, const struct nbd_kind *kind, int number, const char *user,
             struct nbc_error *err)
{
    int code;
    const char *too_old = NULL;
    *device = (struct nbd_device){.kind = kind, .number = number, .user = user};
    snprintf(device->name, sizeof device->name, "device %d", number);
    if (!kind) return nbc_fail(err, NBC_UNAVAILABLE, "%s: this library was built without CUDA", user);
    if (CALL(device, open, device, &too_old)) return nbd_failed(device, "to open it", code, err);
    if (too_old) return nbc_fail(err, NBC_UNAVAILABLE, "%s: %s %s", user, device->name, too_old);
    return NBC_OK;
}

int nbd_use(const struct nbd_device *device, struct nbc_error *err)
{
    int code;
    CALL(device, use, device);
    RETURN(device, "to make it current", code, err);
}

int nbd_wait(const struct nbd_device *device, struct nbc_error *err)
{
    int code;
    CALL(device, wait, device);
    RETURN(device, "pending work", code, err);
}

/* ---- memory */

int nbd_alloc(const struct nbd_device *device, enum nbd_where where, size_t bytes, void **memory, struct nbc_error *err)
{
    int code = nbd_fault_due(1);
    *memory = NULL;
    if (!code) code = device->kind->alloc(device, where, bytes ? bytes : 1, memory);
    if (!code) return NBC_OK;
    *memory = NULL;
    const char *asked = nbd_fault_text(code);
    const int lacks_memory = asked ? nbd_fault_lacks_memory(code) : device->kind->lacks_memory(code);
    if (!lacks_memory) return nbd_failed(device, "to allocate memory", code, err);
    return nbc_fail(
        err, NBC_NO_MEMORY, "%s: %s: cannot allocate %.1f MB of %s: %s; use fewer stars, more devices, or a processor",
        device->user, device->name, (double)bytes * 1e-6, where == NBD_ON_HOST ? "pinned host memory" : "device memory",
        asked ? asked : device->kind->text(code));
}

void nbd_free(const struct nbd_device *device, enum nbd_where where, void *memory)
{
    if (memory) device->kind->free(device, where, memory);
}

int nbd_buffer_reserve(const struct nbd_device *device, struct nbd_buffer *buffer, size_t bytes, struct nbc_error *err)
{
    if (bytes <= buffer->bytes) return NBC_OK;
    const size_t wanted = bytes + bytes / 8; /* so that a slowly growing need does not allocate each time */
    nbd_buffer_release(device, buffer);
    const int status = nbd_alloc(device, buffer->where, wanted, &buffer->data, err);
    buffer->bytes = status ? 0 : wanted;
    return status;
}

int nbd_buffer_extend(const struct nbd_device *device, struct nbd_buffer *buffer, size_t bytes, struct nbc_error *err)
{
    struct nbd_buffer grown = {.where = buffer->where};
    struct nbd_stream *stream = NULL;
    if (bytes <= buffer->bytes) return NBC_OK;
    int status = nbd_buffer_reserve(device, &grown, bytes, err);
    if (!status && grown.where == NBD_ON_HOST) {
        memset(grown.data, 0xff, grown.bytes);
        if (buffer->bytes) memcpy(grown.data, buffer->data, buffer->bytes);
    } else if (!status && buffer->bytes) {
        status = nbd_stream_open(device, NBD_MIDDLE, &stream, err);
        if (!status) status = nbd_copy(device, stream, grown.data, buffer->data, buffer->bytes, err);
        if (!status) status = nbd_stream_wait(device, stream, err);
        nbd_stream_close(device, stream);
    }
    nbd_buffer_release(device, status ? &grown : buffer);
    if (!status) *buffer = grown;
    return status;
}

void nbd_buffer_release(const struct nbd_device *device, struct nbd_buffer *buffer)
{
    if (buffer->data) nbd_free(device, buffer->where, buffer->data);
    buffer->data = NULL;
    buffer->bytes = 0;
}

int nbd_pin(const struct nbd_device *device, void *memory, size_t bytes, void **seen_at)
{
    int code;
    return CALL(device, pin, device, memory, bytes, seen_at) == 0;
}

void nbd_unpin(const struct nbd_device *device, void *memory)
{
    device->kind->unpin(device, memory);
}

int nbd_reach(const struct nbd_device *device, const struct nbd_device *other)
{
    return device->kind == other->kind && device->kind->reach(device, other);
}

/* ---- streams and events */

static int failed_to_make(const struct nbd_device *device, const char *what, int code, struct nbc_error *err)
{
    const int status = nbd_failed(device, what, code, err);
    if (nbd_fault_text(code) || !device->kind->lacks_memory(code)) return status;
    if (err) err->status = NBC_NO_MEMORY;
    return NBC_NO_MEMORY;
}

int nbd_stream_open(const struct nbd_device *device, enum nbd_priority priority, struct nbd_stream **stream,
                    struct nbc_error *err)
{
    int code;
    *stream = NULL;
    CALL(device, stream_open, device, priority, stream);
    return code == 0 ? NBC_OK : failed_to_make(device, "to open a stream", code, err);
}

void nbd_stream_close(const struct nbd_device *device, struct nbd_stream *stream)
{
    if (stream) device->kind->stream_close(stream);
}

int nbd_stream_wait(const struct nbd_device *device, struct nbd_stream *stream, struct nbc_error *err)
{
    int code;
    CALL(device, stream_wait, stream);
    RETURN(device, "pending work of a stream", code, err);
}

int nbd_stream_ask(const struct nbd_device *device, struct nbd_stream *stream, int *is_done, struct nbc_error *err)
{
    int code;
    CALL(device, stream_ask, stream, is_done);
    RETURN(device, "pending work of a stream", code, err);
}

int nbd_event_open(const struct nbd_device *device, struct nbd_event **event, struct nbc_error *err)
{
    int code;
    *event = NULL;
    CALL(device, event_open, device, event);
    return code == 0 ? NBC_OK : failed_to_make(device, "to open an event", code, err);
}

void nbd_event_close(const struct nbd_device *device, struct nbd_event *event)
{
    if (event) device->kind->event_close(event);
}

int nbd_event_record(const struct nbd_device *device, struct nbd_event *event, struct nbd_stream *stream,
                     struct nbc_error *err)
{
    int code;
    CALL(device, event_record, event, stream);
    RETURN(device, "to record an event", code, err);
}

int nbd_event_await(const struct nbd_device *device, struct nbd_event *event, struct nbd_stream *stream,
                    struct nbc_error *err)
{
    int code;
    CALL(device, event_await, event, stream);
    RETURN(device, "to wait for another stream", code, err);
}

int nbd_event_wait(const struct nbd_device *device, struct nbd_event *event, struct nbc_error *err)
{
    int code;
    CALL(device, event_wait, event);
    RETURN(device, "work before an event", code, err);
}

int nbd_copy(const struct nbd_device *device, struct nbd_stream *stream, void *to, const void *from, size_t bytes,
             struct nbc_error *err)
{
    int code;
    if (bytes == 0) return NBC_OK;
    CALL(device, copy, stream, to, from, bytes);
    RETURN(device, "a copy", code, err);
}

int nbd_copy_from(const struct nbd_device *device, struct nbd_stream *stream, void *to, const struct nbd_device *other,
                  const void *from, size_t bytes, struct nbc_error *err)
{
    int code;
    if (bytes == 0) return NBC_OK;
    CALL(device, copy_from, device, stream, to, other, from, bytes);
    RETURN(device, "a copy from another device", code, err);
}

int nbd_fill(const struct nbd_device *device, struct nbd_stream *stream, void *memory, int byte, size_t bytes,
             struct nbc_error *err)
{
    int code;
    if (bytes == 0) return NBC_OK;
    CALL(device, fill, stream, memory, byte, bytes);
    RETURN(device, "to fill memory", code, err);
}
