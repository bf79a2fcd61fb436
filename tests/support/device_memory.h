/** Arrays in memory of a device, for tests that hand over such arrays. Needs cmocka.h. */
#ifndef TEST_DEVICE_MEMORY_H
#define TEST_DEVICE_MEMORY_H

#include "device/device.h"

/** Ends the test with the text of an error. */
static inline void must(int status, const struct nbc_error *err)
{
    if (status != NBC_OK) fail_msg("%s", err->text);
}

/** Memory on a device, with a copy of what is on the host (NULL: as it comes). nbd_free() gives it back. */
static inline void *on_device(const struct nbd_device *device, struct nbd_stream *stream, const void *from,
                              size_t bytes)
{
    struct nbc_error err = {0};
    void *to;
    must(nbd_alloc(device, NBD_ON_DEVICE, bytes, &to, &err), &err);
    if (from) must(nbd_copy(device, stream, to, from, bytes, &err), &err);
    must(nbd_stream_wait(device, stream, &err), &err);
    return to;
}

#endif
