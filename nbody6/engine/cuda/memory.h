/** Memory of the device engine: the image on the GPU, its copy in host memory, and the messages between host and
 *  kernel. All functions are for the present GPU, which has to be the one that holds the bodies. */
#ifndef NB6_CUDA_MEMORY_H
#define NB6_CUDA_MEMORY_H

#include "common/nbc.h"
#include "device/device.h"
#include "nbody6/engine/cuda/block.h"
#include "nbody6/engine/image.h"
#include "nbody6/engine/stages/state.h"

#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdint.h>

enum { NB6_DEVICE_MOST_ARRAYS = 40 };

struct messages;

/** The private part of a run with the device engine. */
struct nb6_device {
    struct nb6_dev home, there; /* `home`: image in host memory; the other one: image and scratch of the device */
    struct nb6_device_control_block *control_block;
    struct nb6_dev_synchronisation *sync;
    struct nbd_device device; /* the GPU that advances blocks, */
    struct nbd_stream *stream;
    struct nb6_device_size size;
    struct messages *messages;
    struct nb6_host_mailbox *mailbox; /* in host memory; NULL: the device cannot map it */
    struct nb6_device_home seen_at;   /* device address */
    int pinned[NB6_DEVICE_MOST_ARRAYS];
    pthread_t thread; /* thread that allocates an image of this size on this GPU */
    int is_preparing; /* 1: it runs, or was not joined */
    struct nb6_dev_size wanted;
    int n_gpus, gpus[NB6_DEVICE_HELPERS + 1]; /* that one, and others that may help */
    struct nb6_device_helpers helpers;
    int is_lost; /* 1: a kernel has failed, and the image is not that after a whole block */
};

/** Allocate for a state of this size, on helpers too, pinned where it is copied; earlier contents are lost.
 *  @return NBC_OK; NBC_NO_MEMORY; NBC_DEVICE: nothing is allocated then */
int nb6_device_allocate(struct nb6_device *d, const struct nb6_dev_size *size, struct nbc_error *err);
/** Free it. */
void nb6_device_free(struct nb6_device *d);
/** Which way the image is copied. */
enum nb6_device_way { NB6_TO_DEVICE, NB6_FROM_DEVICE };
/** Enqueue copies of all arrays with a host side except neighbour lists. */
int nb6_device_copy_records(struct nb6_device *d, enum nb6_device_way way, struct nbc_error *err);
/** Copy lists with so many numbers in all, between host and device. Their offsets are in the host image. */
int nb6_device_copy_lists(struct nb6_device *d, int64_t numbers, enum nb6_device_way way, struct nbc_error *err);

#endif
