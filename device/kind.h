/** Operations of a kind of device, for authors of kinds. Calls return 0 or a code of their own, which
 *  `text` puts into words. */
#ifndef NBD_KIND_H
#define NBD_KIND_H

#include "device/device.h"

struct nbd_kind {
    const char *name; /**< "cuda" */
    int (*count)(const char **why);
    /** Name and multiprocessors of a device whose kind and number are filled in; it is current then.
     *  @param[out] too_old  NULL, or why nothing can run on it */
    int (*open)(struct nbd_device *device, const char **too_old);
    int (*use)(const struct nbd_device *device);
    int (*wait)(const struct nbd_device *device);
    int (*alloc)(const struct nbd_device *device, enum nbd_where where, size_t bytes, void **memory);
    void (*free)(const struct nbd_device *device, enum nbd_where where, void *memory);
    int (*pin)(const struct nbd_device *device, void *memory, size_t bytes, void **seen_at);
    void (*unpin)(const struct nbd_device *device, void *memory);
    /** @return whether it can */
    int (*reach)(const struct nbd_device *device, const struct nbd_device *other);
    int (*stream_open)(const struct nbd_device *device, enum nbd_priority priority, struct nbd_stream **stream);
    void (*stream_close)(struct nbd_stream *stream);
    int (*stream_wait)(struct nbd_stream *stream);
    int (*stream_ask)(struct nbd_stream *stream, int *is_done);
    int (*event_open)(const struct nbd_device *device, struct nbd_event **event);
    void (*event_close)(struct nbd_event *event);
    int (*event_record)(struct nbd_event *event, struct nbd_stream *stream);
    int (*event_await)(struct nbd_event *event, struct nbd_stream *stream);
    int (*event_wait)(struct nbd_event *event);
    int (*copy)(struct nbd_stream *stream, void *to, const void *from, size_t bytes);
    int (*copy_from)(const struct nbd_device *device, struct nbd_stream *stream, void *to,
                     const struct nbd_device *other, const void *from, size_t bytes);
    int (*fill)(struct nbd_stream *stream, void *memory, int byte, size_t bytes);
    const char *(*text)(int code);
    int (*lacks_memory)(int code); /**< whether an allocation failed for want of memory */
};

#endif
