/** Neighbour lists on a device: in a pool of rows, which is cleared when it is full. A list that was set since, or
 *  was lost with the pool, is fetched when its body is active. Private to GPUIRR. */
#ifndef GPUIRR_DEVICE_LISTS_H
#define GPUIRR_DEVICE_LISTS_H

#include "gpuirr/backend.h"
#include "gpuirr/device/device.h"

/** A device in use, and the stream on which all work of a store is. */
struct gpuirr_device_user {
    const struct gpuirr_device *kernels;
    struct nbd_device device;
    struct nbd_stream *stream;
};

/** Where the list of a body is, in grains of GPUIRR_LIST_GRAIN numbers. */
struct gpuirr_device_row {
    uint32_t start, room; /**< of the pool */
    uint32_t version;     /**< of the pool that it is in; 0: none */
    uint32_t fresh;       /**< 1 + index among the lists to send in this call; 0: none */
    int is_current;       /**< 1: the list in the pool, or to be sent there, is the stored list */
};

/** Zero-initialise, then set the device. */
struct gpuirr_device_lists {
    const struct gpuirr_device_user *user;
    struct gpuirr_device_row *row;     /**< [n_max] */
    struct nbd_buffer pool, fresh;     /**< fresh: on the host */
    size_t used, lost;                 /**< grains of the pool; of those, grains without a list */
    uint32_t version;                  /**< of the pool */
    struct gpuirr_device_fetch *fetch; /**< [fetch_room] lists to send in this call */
    size_t fetch_room;
};

/** As nbd_alloc; a device without memory is a device that a run can do without.   @return NBC_OK; NBC_DEVICE */
int gpuirr_device_alloc(const struct gpuirr_device_user *user, enum nbd_where where, size_t bytes, void **memory,
                        struct nbc_error *err);
/** The buffer has so many bytes at least, or is as it was. The device is idle.   @return NBC_OK; NBC_DEVICE */
int gpuirr_device_reserve(const struct gpuirr_device_user *user, struct nbd_buffer *buffer, size_t bytes,
                          struct nbc_error *err);

/** Tasks of a block, and the lists to send. The device is idle.
 *  @param[out] task [block->n]   @return NBC_OK; NBC_NO_MEMORY; NBC_DEVICE */
int gpuirr_device_lists_prepare(struct gpuirr_device_lists *lists, const struct gpuirr_block *block,
                                struct gpuirr_device_task *task, struct nbc_error *err);
/** Clear the pool: lists that were sent may not have arrived. */
void gpuirr_device_lists_forget(struct gpuirr_device_lists *lists);
void gpuirr_device_lists_free(struct gpuirr_device_lists *lists);

#endif
