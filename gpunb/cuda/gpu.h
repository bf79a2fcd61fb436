/** Host side of the CUDA backend: devices, their memory, and the state of a handle. Kernels: cuda/kernels.h.
 *
 *  The sources are divided among the devices in index order; every device works on all targets, and the host adds
 *  their results in the order of the devices and joins their lists, which are then ascending. */
#ifndef GPUNB_CUDA_GPU_H
#define GPUNB_CUDA_GPU_H

#include "device/device.h"
#include "gpunb/backend.h"
#include "gpunb/cuda/kernels.h"

enum {
    CUDA_MAX_GPUS = 64,
    CUDA_SLOTS = 3,                /* pieces of a block of targets that are in flight at a time */
    CUDA_PIECE = 8192,             /* most targets of a piece, */
    CUDA_PIECE_LISTS = 1 << 24,    /* most numbers in its lists, */
    CUDA_PIECE_MASKS = 1 << 25,    /* most masks of close pairs */
    CUDA_LIST_CAP = 512,           /* neighbours of a target to begin with */
    CUDA_SOURCES_PER_GPU = 131072, /* sources from which one more GPU pays */
    CUDA_VARIANTS = 8,             /* see gpunb_cuda_splits */
    CUDA_SEND_PIECE = 4096,        /* sources that are compared and sent together */
    CUDA_SEND_PIECES = 32,         /* pieces that are packed before the first of them is sent */
    CUDA_SAMPLE = 63               /* most sources that the map of space is made from */
};

/** Order of sources and targets of a call: along the curve if the call is large enough to pay for the sorting. */
enum cuda_order { CUDA_ORDER_BY_SIZE, CUDA_ORDER_INDEX, CUDA_ORDER_CURVE };

/** A piece of a block on its way: its own stream and memory on each device. */
struct cuda_slot {
    struct nbd_stream *stream,
        *finish; /* finish: of higher priority, so that results leave while the next piece is computed */
    struct nbd_event *summed, *done;
    struct nbd_buffer partial, near, mask, rows, sorted; /* device */
    struct nbd_buffer results, lists;                    /* host */
};

/** Tiles in one order of the sources, made when a call first needs it. */
struct cuda_tiling {
    struct nbd_buffer tiles, index; /* index: and places, see struct cuda_layout */
    int ready;
};

struct cuda_gpu {
    struct nbd_device device;
    size_t j_first, n_j, n_j_max;
    struct nbd_stream *stream;         /* sources and preparation of targets */
    struct nbd_stream *pot_stream;     /* potentials, at lower priority than all else */
    struct nbd_event *sent, *prepared; /* host memory of sources is free again; targets are ready */
    struct nbd_buffer host_sources, sources;
    int predicted;                     /* 1: the sources differ from those in host_sources */
    struct cuda_prediction prediction; /* predictors that make the sources, if they are `expected` */
    int expected;                      /* 1: sources are made together with the tiles */
    struct nbd_buffer jp, numbers;     /* predictors of all sources; see struct gpunb_order */
    struct nbd_buffer refused;         /* on the host: a source with an invalid prediction */
    struct nbd_buffer stored;          /* on the host: how many predictors the device has fetched */
    uint64_t order_version;            /* of `numbers`; 0: none */
    struct cuda_tiling plain, curved;
    struct nbd_buffer keys, places, sort_scratch; /* keys, places: unsorted, then sorted */
    struct nbd_buffer targets, order;
    struct cuda_force force;                                                   /* shared by the pieces of a block */
    struct nbd_buffer softened_in, softened_out, softened_work, host_softened; /* see cuda/softened_call.c */
    struct nbd_buffer bodies, pot_keys, pot_scratch, pot_order, pot_tiles, pot_sorted, pot_partial, pot, host_pot;
    struct cuda_slot slots[CUDA_SLOTS];
    int blocks_per_sm[CUDA_VARIANTS]; /* 0: not determined yet */
    uint64_t bytes_sent;
};

/** A block of targets on its way. */
struct cuda_call {
    struct cuda_state *cuda;
    const struct gpunb_block *block;
    struct cuda_variant variant;
    int curved;                    /* sources and targets along the curve */
    size_t nominal, piece, pieces; /* targets of a piece, see cut; number of pieces */
    size_t list_cap;
    size_t cap_wanted; /* a row was longer than list_cap, but not than the caller's: try again with this */
};

struct cuda_state {
    int n_gpus;
    struct cuda_gpu gpus[CUDA_MAX_GPUS];
    int twofloat;
    size_t n_j, n_j_max;
    size_t list_cap;
    enum cuda_order order;
    struct cuda_map map;
    struct nbd_buffer host_targets, host_bodies;
    struct cuda_call call;   /* the last one */
    int in_flight;           /* 1: its results were not waited for */
    uint64_t bytes_received; /* from all devices; lists as far as they are filled */
    unsigned char *changed;  /* [CUDA_SEND_PIECES] pieces that differ from the last ones */

    /* Predictors. */
    struct nbd_buffer host_jp, marks; /* [n_jp] struct gpunb_jp; [n_jp] bytes */
    struct nbd_buffer host_numbers;
    unsigned char mark; /* mark of predictors that were set since the last prediction */
    size_t n_jp;
    int reading; /* 1: devices may still read the input of the last prediction from here */
    double t_predicted;
};

/** The stream as kernels.h takes it. */
static inline cudaStream_t stream_of(struct nbd_stream *stream)
{
    return (cudaStream_t)stream;
}

/** Number of devices that can be used, at most CUDA_MAX_GPUS; if 0, *why has the reason. */
int gpunb_cuda_count(const char **why);
/** Make the device ready: streams, events. */
int gpunb_cuda_open(struct cuda_gpu *gpu, int device, struct nbc_error *err);
void gpunb_cuda_close(struct cuda_gpu *gpu);
/** As nbd_buffer_reserve and nbd_buffer_extend; a device without memory is a device that a run can do without.
 *  @return NBC_OK; NBC_DEVICE */
int gpunb_cuda_reserve(const struct cuda_gpu *gpu, struct nbd_buffer *buffer, size_t bytes, struct nbc_error *err);
int gpunb_cuda_extend(const struct cuda_gpu *gpu, struct nbd_buffer *buffer, size_t bytes, struct nbc_error *err);
/** Wait until the device has finished everything but potentials. */
int gpunb_cuda_finish_blocks(const struct cuda_gpu *gpu, struct nbc_error *err);

/** Forget the sources on the device: the next ones are sent in any case. */
void gpunb_cuda_forget(struct cuda_gpu *gpu);
/** Number of sources, of n, that the map is made from, the s-th of them being source s n/count. */
size_t gpunb_cuda_sample(size_t n);
/** @param[in] x [count][3] */
struct cuda_map gpunb_cuda_make_map(size_t count, const double (*x)[3]);
/** Wait until the devices have finished an abandoned block. */
int gpunb_cuda_settle(struct cuda_state *cuda, struct nbc_error *err);
/** Make the sources that are expected. */
int gpunb_cuda_make_expected(struct cuda_gpu *gpu, struct nbc_error *err);
/** Withdraw the failures of the last prediction; to be called when its kernels are done. */
void gpunb_cuda_refuse_nobody(struct cuda_state *cuda);
/** Check the last prediction for failures; to be called when the results of a block have arrived.
 *  @return NBC_OK; NBC_NON_FINITE */
int gpunb_cuda_check_predictions(const struct cuda_state *cuda, struct nbc_error *err);
/** Tiles of the sources in index order, or along the curve; made on gpu->stream if they do not exist.
 *  @param[in] copy  with the tiles in index order; if it has any bytes, these do not exist */
int gpunb_cuda_tiling(struct cuda_state *cuda, struct cuda_gpu *gpu, int curved, const struct cuda_copy *copy,
                      struct cuda_layout *layout, struct nbc_error *err);
/** Number of parts that the sources are cut into, so that n targets fill the device. */
int gpunb_cuda_splits(struct cuda_gpu *gpu, const struct cuda_variant *variant, size_t n, size_t n_tiles, int *splits,
                      struct nbc_error *err);

/* Functions of the descriptor. */
int gpunb_cuda_send(void *state, size_t n_j, const double *mass, const double (*x)[3], const double (*v)[3],
                    struct nbc_error *err);
int gpunb_cuda_more_sources(void *state, size_t n_j_max, struct nbc_error *err);
int gpunb_cuda_predictors(void *state, size_t n_j_max, struct nbc_error *err);
void gpunb_cuda_set_jp(void *state, size_t j, const struct gpunb_jp *jp);
int gpunb_cuda_push_jp(void *state, struct nbc_error *err);
int gpunb_cuda_predict(void *state, const struct gpunb_order *order, double t, struct nbc_error *err);
int gpunb_cuda_regf_start(void *state, const struct gpunb_block *block, struct nbc_error *err);
int gpunb_cuda_regf(void *state, const struct gpunb_block *block, struct nbc_error *err);
int gpunb_cuda_pot_start(void *state, const struct gpunb_pot_job *job, struct nbc_error *err);
int gpunb_cuda_pot(void *state, const struct gpunb_pot_job *job, struct nbc_error *err);
int gpunb_cuda_softened(void *state, const struct gpunb_softened_job *job, struct nbc_error *err);

/** Forces and lists of a small cluster on this state against `ref`, in both orders of the sources. */
int gpunb_cuda_self_test(struct cuda_state *cuda, struct nbc_error *err);

#endif
