/** Memory of the device engine: the state in memory and on the GPU, and what the host and the kernel write to each
 *  other. All functions are for the present GPU, on which the state is. */
#ifndef NB6_CUDA_MEMORY_H
#define NB6_CUDA_MEMORY_H

#include "common/nbc.h"
#include "nbody6/engine/cuda/block.h"
#include "nbody6/engine/image.h"
#include "nbody6/engine/stages/state.h"

#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdint.h>

enum { NB6_DEVICE_MOST_ARRAYS = 40 };

struct letters;

/** The engine's own part of a run. */
struct nb6_device {
    struct nb6_dev home, there; /* the state in memory; state and scratch of the device */
    struct nb6_device_control_block *control_block;
    struct nb6_dev_synchronisation *call;
    cudaStream_t stream;
    struct nb6_device_size size;
    struct letters *letters;
    struct nb6_host_mailbox *mailbox; /* in them; NULL: the device cannot see memory of the host */
    struct nb6_device_home seen_at;   /* where it sees it */
    int pinned[NB6_DEVICE_MOST_ARRAYS];
    pthread_t thread; /* that makes room for an image of this size on this GPU, */
    int is_preparing; /* 1: and was not waited for */
    struct nb6_dev_size wanted;
    int gpu, n_gpus, gpus[NB6_DEVICE_HELPERS + 1]; /* the one that makes blocks; that one, and others that may help */
    struct nb6_device_helpers helpers;
    int is_lost; /* 1: a kernel has failed, and the image is that of no block */
};

/** A message for a call of CUDA that has failed.   @return NBC_DEVICE */
int nb6_device_failure(struct nbc_error *err, const char *call, cudaError_t code);

/** Return from the function if a call of CUDA fails. */
#define NB6_DEVICE_TRY(err, call)                                                                                      \
    do {                                                                                                               \
        const cudaError_t code_ = (call);                                                                              \
        if (code_ != cudaSuccess) return nb6_device_failure(err, #call, code_);                                        \
    } while (0)

/** Room for a state of this size, on helpers too, pinned where it travels; what there was before is lost.
 *  @return NBC_OK; NBC_NO_MEMORY; NBC_DEVICE: there is none then */
int nb6_device_allocate(struct nb6_device *d, const struct nb6_dev_size *size, struct nbc_error *err);
/** Give it back. */
void nb6_device_free(struct nb6_device *d);
/** Enqueue all that travels but lists of neighbours. */
int nb6_device_copy_records(struct nb6_device *d, enum cudaMemcpyKind kind, struct nbc_error *err);
/** Lists of so many numbers, from where they are there or to it. Where each of them is is known at home. */
int nb6_device_copy_lists(struct nb6_device *d, int64_t numbers, enum cudaMemcpyKind kind, struct nbc_error *err);

#endif
