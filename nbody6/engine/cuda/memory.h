/** Memory of the device engine: the image on the GPU, its copy in host memory, and the messages between host and
 *  kernel. All functions are for the present GPU, which has to be the one that holds the bodies. */
#ifndef NB6_CUDA_MEMORY_H
#define NB6_CUDA_MEMORY_H

#include "common/nbc.h"
#include "device/device.h"
#include "gpunb/gpunb.h"
#include "nbody6/engine/cuda/block.h"
#include "nbody6/engine/image.h"
#include "nbody6/engine/stages/state.h"

#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdint.h>

enum { NB6_DEVICE_MOST_ARRAYS = 40, NB6_DEVICE_MOST_GPUS = 64 };

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
    gpunb_t *reg;                           /* makes the regular forces of blocks that leave, */
    int owns_reg;                           /* 1: its own, because that of the run is on the processor */
    int n_gpus, gpus[NB6_DEVICE_MOST_GPUS]; /* of these forces; the first one advances blocks */
    size_t forces_bytes;                    /* scratch of these forces for the next allocation */
    void *scratch;                          /* of sums, in kernels of the engine and of GPUNB by turns */
    size_t scratch_bytes;
    struct gpunb_dev_asked *asked;               /* [n_max] in the scratch, behind that of GPUNB */
    int32_t *again;                              /* [n_max] behind it */
    struct nbd_buffer edit_there, edit_here;     /* of changes and fields (cuda/edit.c, begin.c, field.c) */
    struct nbd_buffer part_there, part_here;     /* of moves of what has changed (cuda/part.c), */
    struct nbd_buffer news_there, news_here;     /* how many these are */
    struct nbd_buffer survey_there, survey_here; /* of questions about all bodies (cuda/survey.c) */
    int is_lost; /* 1: a kernel has failed, and the image is not that after a whole block */
};

/** Make the forces of blocks that leave ready for up to n bodies: by the thread that uses them, before it allocates, or
 *  has another thread do it.   @return NBC_OK; NBC_DEVICE */
int nb6_device_make_ready(struct nb6_device *d, int64_t n, struct nbc_error *err);
/** Allocate for a state of this size, pinned where it is copied; earlier contents are lost.
 *  @return NBC_OK; NBC_NO_MEMORY; NBC_DEVICE: nothing is allocated then */
int nb6_device_allocate(struct nb6_device *d, const struct nb6_dev_size *size, struct nbc_error *err);
/** At least so many bytes of device memory, and of pinned host memory; earlier contents are lost.
 *  @return NBC_OK; NBC_NO_MEMORY; NBC_DEVICE */
int nb6_device_reserve_both(struct nb6_device *d, struct nbd_buffer *there, size_t bytes_there, struct nbd_buffer *here,
                            size_t bytes_here, struct nbc_error *err);
/** After bodies of the image in host memory have come or gone: the device has as many. */
void nb6_device_follow_home(struct nb6_device *d);
/** Free it. */
void nb6_device_free(struct nb6_device *d);
/** Which way the image is copied. */
enum nb6_device_way { NB6_TO_DEVICE, NB6_FROM_DEVICE };
/** Enqueue copies of all arrays with a host side except neighbour lists. */
int nb6_device_copy_records(struct nb6_device *d, enum nb6_device_way way, struct nbc_error *err);
/** Enqueue copies of what depends on systems: to the device all of it, from it what it changes by itself, `system` and
 *  `control`. */
int nb6_device_copy_systems(struct nb6_device *d, enum nb6_device_way way, struct nbc_error *err);
/** Enqueue: no body of the device is shown, as in the image in host memory after an import. */
int nb6_device_hide_bodies(struct nb6_device *d, struct nbc_error *err);
/** Copy lists with so many numbers in all, between host and device. Their offsets are in the host image. */
int nb6_device_copy_lists(struct nb6_device *d, int64_t numbers, enum nb6_device_way way, struct nbc_error *err);

#endif
