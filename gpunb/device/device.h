/** Host side of the backends on devices: the devices, their memory, and the state of a handle. It is the same for all
 *  kinds of devices; their kernels come in a table (device/kernels.h).
 *
 *  The sources are divided among the devices in index order; every device works on all targets, and the host adds
 *  their results in the order of the devices and joins their lists, which are then ascending. */
#ifndef GPUNB_DEVICE_DEVICE_H
#define GPUNB_DEVICE_DEVICE_H

#include "device/device.h"
#include "gpunb/backend.h"
#include "gpunb/device/kernels.h"
#include "gpunb/device/regular.h"

enum {
    DEVICE_MAX_GPUS = 64,
    DEVICE_SLOTS = 3,                /* pieces of a block of targets that are in flight at a time */
    DEVICE_PIECE = 8192,             /* most targets of a piece, */
    DEVICE_PIECE_LISTS = 1 << 24,    /* most numbers in its lists, */
    DEVICE_PIECE_MASKS = 1 << 25,    /* most masks of close pairs */
    DEVICE_LIST_CAP = 512,           /* neighbours of a target to begin with */
    DEVICE_SOURCES_PER_GPU = 131072, /* sources from which one more GPU pays */
    DEVICE_VARIANTS = 8,             /* see gpunb_device_splits */
    DEVICE_SEND_PIECE = 4096,        /* sources that are compared and sent together */
    DEVICE_SEND_PIECES = 32,         /* pieces that are packed before the first of them is sent */
    DEVICE_SAMPLE = 63               /* most sources that the map of space is made from */
};

/** Order of sources and targets of a call: along the curve if the call is large enough to pay for the sorting. */
enum device_order { DEVICE_ORDER_BY_SIZE, DEVICE_ORDER_INDEX, DEVICE_ORDER_CURVE };

/** A piece of a block on its way: its own stream and memory on each device. */
struct device_slot {
    struct nbd_stream *stream,
        *finish; /* finish: of higher priority, so that results leave while the next piece is computed */
    struct nbd_event *summed, *done;
    struct nbd_buffer partial, near, mask, rows, sorted; /* device */
    struct nbd_buffer results, lists;                    /* host */
};

/** Tiles in one order of the sources, made when a call first needs it. */
struct device_tiling {
    struct nbd_buffer tiles, index; /* index: and places, see struct device_layout */
    int ready;
};

struct device_gpu {
    struct nbd_device device;
    const struct gpunb_kernels *kernels;
    size_t j_first, n_j, n_j_max;
    struct nbd_stream *stream;         /* sources and preparation of targets */
    struct nbd_stream *pot_stream;     /* potentials, at lower priority than all else */
    struct nbd_event *sent, *prepared; /* host memory of sources is free again; targets are ready */
    struct nbd_buffer host_sources, sources;
    int predicted;                       /* 1: the sources differ from those in host_sources */
    struct device_prediction prediction; /* predictors that make the sources, if they are `expected` */
    int expected;                        /* 1: sources are made together with the tiles */
    struct nbd_buffer jp, numbers;       /* predictors of all sources; see struct gpunb_order */
    struct nbd_buffer refused;           /* on the host: a source with an invalid prediction */
    struct nbd_buffer stored;            /* on the host: how many predictors the device has fetched */
    uint64_t order_version;              /* of `numbers`; 0: none */
    struct device_tiling plain, curved;
    struct nbd_buffer keys, places, sort_scratch; /* keys, places: unsorted, then sorted */
    struct nbd_buffer targets, order;
    struct device_force force;                                                 /* shared by the pieces of a block */
    struct nbd_buffer softened_in, softened_out, softened_work, host_softened; /* see device/softened.c */
    struct nbd_buffer tree_counts, tree_word; /* see device/tree_host.c; word: on the host */
    struct nbd_buffer bodies, pot_keys, pot_scratch, pot_order, pot_tiles, pot_sorted, pot_partial, pot, host_pot;
    struct nbd_stream *regular_stream; /* regular forces in device memory, where another device helps the first one */
    struct nbd_event *regular_event;
    struct nbd_buffer regular;
    struct device_slot slots[DEVICE_SLOTS];
    int blocks_per_sm[DEVICE_VARIANTS]; /* 0: not determined yet */
    uint64_t bytes_sent;
};

struct device_regular_kept;
struct device_state;
struct gpunb_tree_use;

/** A regular force in device memory on its way (device/regular.c). */
struct device_regular {
    struct device_state *devices;
    struct gpunb_dev_job job; /* of the first device */
    struct nbd_stream *stream;
    int blocks, gpus;
    int by_tree; /* 1: all of it was made by a tree */
};

/** Memory of the first device, and a flag on the host, of calls that are whole (device/whole.h). */
struct device_whole {
    struct nbd_buffer sources, asked, rows, scratch, flag;
    struct nbd_buffer sizes, host_sizes; /* of last accelerations */
    struct device_regular call;
};

/** A block of targets on its way. */
struct device_call {
    struct device_state *devices;
    const struct gpunb_block *block;
    struct device_variant variant;
    int curved;                    /* sources and targets along the curve */
    int whole;                     /* 1: the first device has all of it (device/whole.h) */
    int spoiled;                   /* 1: a sum of such a call is not finite: it is made in the other way */
    size_t nominal, piece, pieces; /* targets of a piece, see cut; number of pieces */
    size_t list_cap;
    size_t cap_wanted; /* a row was longer than list_cap, but not than the caller's: try again with this */
};

struct device_state {
    int n_gpus;
    int n_listed, listed[DEVICE_MAX_GPUS]; /* devices that were asked for; a tree is on the first of them */
    struct device_gpu gpus[DEVICE_MAX_GPUS];
    int twofloat;
    size_t n_j, n_j_max;
    size_t piece; /* most targets of a piece: DEVICE_PIECE, or fewer in tests */
    size_t list_cap;
    enum device_order order;
    struct gpunb_map map;
    struct nbd_buffer host_targets, host_bodies;
    struct device_call call;          /* the last one */
    int in_flight;                    /* 1: its results were not waited for */
    int regular_gpus, regular_blocks; /* devices that share regular forces in device memory, 0: not determined yet; */
    struct device_whole whole;
    double whole_pairs;                       /* from which calls may be whole; 0: as devices are worth it */
    size_t regular_room;                      /* sources that they are ready for */
    struct device_regular_kept *regular_tree; /* see device/regular_tree.c */
    uint64_t bytes_received;                  /* from all devices; lists as far as they are filled */
    unsigned char *changed;                   /* [DEVICE_SEND_PIECES] pieces that differ from the last ones */

    /* Predictors. */
    struct nbd_buffer host_jp, marks; /* [n_jp] struct gpunb_jp; [n_jp] bytes */
    struct nbd_buffer host_numbers;
    unsigned char mark; /* mark of predictors that were set since the last prediction */
    size_t n_jp;
    int reading; /* 1: devices may still read the input of the last prediction from here */
    double t_predicted;
};

/** A handle on these devices of the kernels' kind: self-tested; nothing is left after a failure.
 *  @param[out] state  of the functions below   @param[in] number  [count] different ones */
int gpunb_device_create(void **state, const struct gpunb_kernels *kernels, const struct gpunb_setup *setup, int count,
                        const int *number, struct nbc_error *err);
/** Accepts NULL. */
void gpunb_device_free(void *state);
/** Devices of the request, or of a list of the user; without either, as many of the `available` ones as the number of
 *  sources is worth.
 *  @param[in] listed  NULL or "": none   @param[out] number  [DEVICE_MAX_GPUS]
 *  @return their count; -1 with err filled */
int gpunb_device_choose(const struct gpunb_kernels *kernels, const struct gpunb_setup *setup, const char *listed,
                        int available, int *number, struct nbc_error *err);

/** Make the device ready: streams, events. */
int gpunb_device_open(struct device_gpu *gpu, const struct gpunb_kernels *kernels, int number, struct nbc_error *err);
void gpunb_device_close(struct device_gpu *gpu);
/** As nbd_buffer_reserve and nbd_buffer_extend; a device without memory is a device that a run can do without.
 *  @return NBC_OK; NBC_DEVICE */
int gpunb_device_reserve(const struct device_gpu *gpu, struct nbd_buffer *buffer, size_t bytes, struct nbc_error *err);
int gpunb_device_extend(const struct device_gpu *gpu, struct nbd_buffer *buffer, size_t bytes, struct nbc_error *err);
/** Wait until the device has finished everything but potentials. */
int gpunb_device_finish_blocks(const struct device_gpu *gpu, struct nbc_error *err);

/** Forget the sources on the device: the next ones are sent in any case. */
void gpunb_device_forget(struct device_gpu *gpu);
/** Number of sources, of n, that the map is made from, the s-th of them being source s n/count. */
size_t gpunb_device_sample(size_t n);
/** @param[in] x [count][3] */
struct gpunb_map gpunb_device_make_map(size_t count, const double (*x)[3]);
/** Wait until the devices have finished an abandoned block. */
int gpunb_device_settle(struct device_state *devices, struct nbc_error *err);
/** Arrays of n targets in one piece of memory. */
static inline struct device_targets gpunb_device_arrays_of(void *data, size_t n)
{
    char *at = data;
    return (struct device_targets){.x = (const double(*)[3])(void *)at,
                                   .v = (const double(*)[3])(void *)(at + n * 24),
                                   .dt = (const double *)(void *)(at + n * 48),
                                   .r_nb2 = (const double *)(void *)(at + n * 56),
                                   .self = (const int32_t *)(void *)(at + n * 64),
                                   .in_doubt = (int32_t *)(void *)(at + n * 68),
                                   .n = (int)n};
}

/** Make the sources that are expected. */
int gpunb_device_make_expected(struct device_gpu *gpu, struct nbc_error *err);
/** Withdraw the failures of the last prediction; to be called when its kernels are done. */
void gpunb_device_refuse_nobody(struct device_state *devices);
/** Check the last prediction for failures; to be called when the results of a block have arrived.
 *  @return NBC_OK; NBC_NON_FINITE */
int gpunb_device_check_predictions(const struct device_state *devices, struct nbc_error *err);
/** Tiles of the sources in index order, or along the curve; made on gpu->stream if they do not exist.
 *  @param[in] copy  with the tiles in index order; if it has any bytes, these do not exist */
int gpunb_device_tiling(struct device_state *devices, struct device_gpu *gpu, int curved,
                        const struct device_copy *copy, struct device_layout *layout, struct nbc_error *err);
/** Memory to sort n positions. */
int gpunb_device_reserve_sort(struct device_gpu *gpu, size_t n, struct nbc_error *err);
/** Their numbers along the curve, on gpu->stream. */
int gpunb_device_sort(struct device_gpu *gpu, const struct device_positions *positions, const struct gpunb_map *map,
                      int32_t *order, struct nbc_error *err);
/** Number of parts that the sources are cut into, so that n targets fill the device. */
int gpunb_device_splits(struct device_gpu *gpu, const struct device_variant *variant, size_t n, size_t n_tiles,
                        int *splits, struct nbc_error *err);

/* Functions of the descriptor. */
void gpunb_device_traffic(const void *state, uint64_t *sent, uint64_t *received);
void gpunb_device_list(const void *state, char *text, size_t size);
int gpunb_device_send(void *state, size_t n_j, const double *mass, const double (*x)[3], const double (*v)[3],
                      struct nbc_error *err);
int gpunb_device_more_sources(void *state, size_t n_j_max, struct nbc_error *err);
int gpunb_device_predictors(void *state, size_t n_j_max, struct nbc_error *err);
void gpunb_device_set_jp(void *state, size_t j, const struct gpunb_jp *jp);
int gpunb_device_push_jp(void *state, struct nbc_error *err);
int gpunb_device_predict(void *state, const struct gpunb_order *order, double t, struct nbc_error *err);
int gpunb_device_regf_start(void *state, const struct gpunb_block *block, struct nbc_error *err);
int gpunb_device_regf(void *state, const struct gpunb_block *block, struct nbc_error *err);
int gpunb_device_pot_start(void *state, const struct gpunb_pot_job *job, struct nbc_error *err);
int gpunb_device_pot(void *state, const struct gpunb_pot_job *job, struct nbc_error *err);
int gpunb_device_softened(void *state, const struct gpunb_softened_job *job, struct nbc_error *err);
int gpunb_device_softened_device_bytes(void *state, size_t n_i, size_t n_j, size_t *bytes, struct nbc_error *err);
int gpunb_device_softened_device(void *state, const struct gpunb_softened_device *job, void *stream,
                                 struct nbc_error *err);
int gpunb_device_regf_device_bytes(void *state, const struct gpunb_tree_use *use, size_t n_j, size_t *bytes,
                                   struct nbc_error *err);
int gpunb_device_regf_devices(const void *state, int *first);
int gpunb_device_regf_device(void *state, struct gpunb_tree_use *use, const struct gpunb_regf_device *job, void *stream,
                             struct nbc_error *err);

/** Its two parts: the order of sources and targets and the sums of pairs, and then the targets from place `begin` on,
 * as many as a round has. */
int gpunb_device_regular_begin(struct device_state *devices, const struct gpunb_regf_device *job,
                               struct nbd_stream *stream, struct device_regular *call, struct nbc_error *err);
int gpunb_device_regular_round(const struct device_regular *call, int64_t begin, struct nbc_error *err);
/** All of it by tree; then rounds have nothing to do. call->by_tree is 0 if a mass is negative: nothing was made.
 *  @param[in] version  as for gpunb_device_regular_tree */
int gpunb_device_regular_by_tree(struct device_state *devices, struct gpunb_tree_use *use, uint64_t version,
                                 const struct gpunb_regf_device *job, struct nbd_stream *stream,
                                 struct device_regular *call, struct nbc_error *err);

/** All of them in the table of a backend. */
#define GPUNB_DEVICE_OPS                                                                                               \
    .free = gpunb_device_free, .send = gpunb_device_send, .reserve = gpunb_device_more_sources,                        \
    .predictors = gpunb_device_predictors, .set_jp = gpunb_device_set_jp, .push_jp = gpunb_device_push_jp,             \
    .predict = gpunb_device_predict, .regf_start = gpunb_device_regf_start, .regf = gpunb_device_regf,                 \
    .potential_start = gpunb_device_pot_start, .potential = gpunb_device_pot, .softened = gpunb_device_softened,       \
    .softened_device_bytes = gpunb_device_softened_device_bytes, .softened_device = gpunb_device_softened_device,      \
    .regf_device_bytes = gpunb_device_regf_device_bytes, .regf_device = gpunb_device_regf_device,                      \
    .regf_devices = gpunb_device_regf_devices, .tree = &gpunb_device_tree_method, .traffic = gpunb_device_traffic,     \
    .device_names = gpunb_device_list, .takes_devices = 1

/** Softened forces by trees in memory of the first device (device/tree_host.c). */
extern const struct gpunb_tree_method gpunb_device_tree_method;

/** Forces and lists of a small cluster on this state against `ref`, in both orders of the sources. */
int gpunb_device_self_test(struct device_state *devices, struct nbc_error *err);

#endif
