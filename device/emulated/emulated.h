/** Devices that are emulated in memory of the host, for tests and for machines without a GPU.
 *
 *  What is enqueued is done as late as it may be on a GPU: when the host waits for it or for what comes after it,
 * copies from or to ordinary memory, or gives memory back. So a result that is read too early is seen. Memory belongs
 * to a device: a copy to or from one that was not made reachable fails, as it does on GPUs. Streams may be used by
 * several threads. */
#ifndef NBD_EMULATED_H
#define NBD_EMULATED_H

#include "device/device.h"

enum { NBD_EMULATED_DEVICES = 4, NBD_EMULATED_MULTIPROCESSORS = 4 };

/** A kernel: a function of what it works on, which loops over the numbers that threads or warps of a GPU have. */
typedef void nbd_kernel(const void *job);

/** Enqueue a kernel.   @param[in] job  copied   @return 0; the code of a failure, for NBD_LAUNCH */
int nbd_emulated_launch(struct nbd_stream *stream, nbd_kernel *kernel, const void *job, size_t bytes);

/** Memory of all emulated devices that is in use, in bytes. */
size_t nbd_emulated_bytes(void);

#endif
