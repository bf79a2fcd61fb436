/** Bodies and neighbour lists on a device: the host side of the backends `cuda` and `emulated`. Private to GPUIRR.
 *
 *  Bodies that were set wait in memory of the host; they are sent together when a time is announced, the rest of them
 *  before forces. A list is sent when its body is active for the first time since the list was set: the kernel of the
 *  forces fetches it. So a call is one launch, and two if bodies were set since the announcement. */
#ifndef GPUIRR_DEVICE_STORE_H
#define GPUIRR_DEVICE_STORE_H

#include "gpuirr/backend.h"
#include "gpuirr/device/device.h"

/** A store on a device that has passed a test (device/test.c): forces on a few bodies against those in double. NULL:
 *  no memory, or the failure in err. */
void *gpuirr_device_open(const struct gpuirr_device *kernels, size_t n_max, struct nbc_error *err);
/** The same without the test. */
void *gpuirr_device_open_untested(const struct gpuirr_device *kernels, size_t n_max, struct nbc_error *err);
int gpuirr_device_grow(void **store, size_t n_old, size_t n_max);
void gpuirr_device_close(void *store);
void gpuirr_device_set_jp(void *store, size_t i, const struct gpuirr_state *state);
void gpuirr_device_announce(void *store);
void gpuirr_device_list_changed(void *store, size_t i);
int gpuirr_device_block(void *store, const struct gpuirr_block *block, const struct gpuirr_force **force,
                        const double **noise, struct nbc_error *err);
const char *gpuirr_device_place(const void *store);

/** An emulated device. */
extern const struct gpuirr_device gpuirr_device_emulated;

/** The part of a descriptor that all devices share. */
#define GPUIRR_DEVICE_OPS                                                                                              \
    .grow = gpuirr_device_grow, .close = gpuirr_device_close, .set_jp = gpuirr_device_set_jp,                          \
    .announce = gpuirr_device_announce, .list_changed = gpuirr_device_list_changed, .block = gpuirr_device_block,      \
    .place = gpuirr_device_place

#endif
