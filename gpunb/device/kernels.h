/** Interface between the kernels of a kind of device (CUDA: the .cu files; emulated: *_emulated.c) and the host side of
 *  GPUNB's devices (the other .c files here).
 *
 *  Sources are kept in tiles of DEVICE_TILE. There are two ways of summing a tile, by its distance from all targets of
 *  a warp:
 *   - near: differences of two-float numbers; pairs that are close enough to be neighbours within the step of the
 *     target, whatever their velocities, are left out of the sum and examined one by one;
 *   - far (the distance of the centre is more than twice the radius of the tile, and no star of the tile can be a
 *     neighbour, or the target itself): no pair is tested, and a difference is (c - x_i) + (x_j - c), where the first
 *     term is formed once for a tile and a target, and both are rounded to float, which is then sufficient.
 *  In index order nearly all tiles of a cluster are near. Sorted along a space-filling curve nearly all are far.
 *
 *  Every sum has an order that depends on sizes and positions only, never on timing. */
#ifndef GPUNB_DEVICE_KERNELS_H
#define GPUNB_DEVICE_KERNELS_H

#include "gpunb/curve.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gpunb_dev_asked;
struct gpunb_dev_job;
struct gpunb_dev_source;
struct gpunb_regular_tree_kernels;
struct gpunb_tree_kernels;
struct nbd_kind;
struct nbd_stream;

enum {
    DEVICE_TILE = 64, /* sources in a tile, and bits in a mask */
    DEVICE_WARPS = 4, /* warps in a block of the force kernel: the same targets, other tiles */
    DEVICE_SUMS = 7,  /* acc, jerk, sum of m/r */
    /* A tile in memory, in units of 16 bytes: a head, then for each source v, sqrt(m); then x - c, m; then the high
       parts of x, m; then the low parts, 0. */
    DEVICE_HEAD = 4,
    DEVICE_V = DEVICE_HEAD,
    DEVICE_FROM_CENTRE = DEVICE_V + DEVICE_TILE,
    DEVICE_HIGH = DEVICE_FROM_CENTRE + DEVICE_TILE,
    DEVICE_LOW = DEVICE_HIGH + DEVICE_TILE,
    DEVICE_TILE_UNITS = DEVICE_LOW + DEVICE_TILE,
    DEVICE_TILE_BYTES = 16 * DEVICE_TILE_UNITS,
    DEVICE_RANK_MAX = 4096 /* targets up to this number are sorted by counting, more by a radix sort */
};

/** A source as it is sent. */
struct device_source {
    double x[3];
    float v[3], m;
};

struct gpunb_jp;
/** A device's share of the sources, from predictors (predictor.h). */
struct device_prediction {
    const struct gpunb_jp *jp;
    const int32_t *number; /**< [first + n] number of the source at each place; NULL: the place itself */
    int first, n;
    double t;
    struct device_source *sources; /**< [n] */
    int *refused;                  /**< in memory of the host: set to a source with an invalid prediction */
};

/** Bytes from memory of the host, a multiple of 4, to a device: a kernel that also copies a few of
 *  them is faster than a separate copy. */
struct device_copy {
    const void *from;
    void *to;
    size_t bytes;
};

/** The positions first .. first + n - 1 of some that are so many bytes apart. */
struct device_positions {
    const double *x; /**< [3] of number 0 */
    size_t step;
    int first, n;
};

/** The k-th of them.   @return [3] */
NBC_HD const double *gpunb_device_position(const struct device_positions *p, int k)
{
    return (const double *)(const void *)((const char *)p->x + (size_t)(p->first + k) * p->step);
}

/** Targets of a call in the caller's order: one array after the other, for a single copy. */
struct device_targets {
    const double (*x)[3], (*v)[3];
    const double *dt, *r_nb2;
    const int32_t *self; /* source of the handle that is the target itself; -1: none */
    int32_t *found;      /* neighbours found; zero before */
    int32_t *in_doubt;   /* set where the pair sums need double precision; zero before */
    int n;
};
enum { DEVICE_TARGET_BYTES = 24 + 24 + 8 + 8 + 4 + 4 };

/** A set of tiles: `index[k]` is the source at place k, n_tiles*DEVICE_TILE places; `place` is the inverse. */
struct device_layout {
    void *tiles; /* [n_tiles][DEVICE_TILE_BYTES] */
    int32_t *index, *place;
};

/** Pairs in near tiles that may be neighbours, for the last kernel. A group is the targets of a block. */
struct device_close {
    unsigned char *near;      /* [groups][stride] 1: the tile was near to the group */
    unsigned long long *mask; /* [groups][stride][targets of the group] if so: sources that were left out of the sum */
    int stride;               /* number of tiles */
};

/** One launch of the force kernel: a piece of the targets, which are in the order of the curve if there is an order. */
struct device_force {
    struct device_targets targets;
    const int32_t *order; /* target at each place of the call, or NULL: as they come */
    struct device_layout layout;
    double *partial; /* [n][splits][DEVICE_SUMS] */
    struct device_close close;
    int first, n;                                /* places of the piece */
    int j_first, n_j, n_tiles, splits, in_block; /* in_block: targets of a block */
    int weighted, twofloat;
};

/** Which instance of the force kernel. */
struct device_variant {
    int width;         /* targets of a thread, 1 or 2 */
    int twofloat, pot; /* see gpunb.h */
};

/** Result of a device for one target. Its list, in a row of its own, is in 16-bit numbers if possible: from each
 *  neighbour to the next, j' - j - 1, beginning with j = -1; else it is in 32-bit numbers. */
struct device_result {
    double sum[DEVICE_SUMS];
    int32_t found;
    int32_t target; /* its number; ~number if the list is in 32-bit numbers */
};

/** The last kernel of a piece: adds the partial sums in order, examines close pairs in double, sorts the lists,
 *  repeats in double the sums that floats could not hold. */
struct device_finish {
    struct device_force force;
    const struct device_source *sources;
    int32_t *rows, *sorted; /* [n][cap] scratch: neighbours as they are found, and ascending */
    int cap;
    /* in memory of the host: */
    struct device_result *results; /* [n] */
    int32_t *lists;                /* [n][cap] */
};

/** The targets of a call, most of the sources, as gpunb_regf_device has them. */
struct device_asking {
    struct device_targets targets;
    const struct gpunb_dev_source *sources; /**< [n_j] */
    int n_j;
    struct gpunb_dev_asked *asked; /**< [targets.n] out */
    const float *size_last;        /**< [targets.n] of their last accelerations; NULL: unknown */
    int32_t *marks;                /**< [n_j] scratch, all -1 */
    int *differ;                   /**< set to 1 if a target is no source, twice the same one, or elsewhere */
};

/** Their results on the way to the host: those of the targets at places first .. first + n - 1. */
struct device_sending {
    const struct gpunb_dev_asked *asked;
    const int32_t *target; /**< number of the target at each place */
    const int32_t *rows;   /**< [targets][cap] */
    int cap, first, n;
    struct device_result *results; /**< [n] in memory of the host, as of the last kernel of a piece */
    int32_t *lists;                /**< [n][cap] likewise */
};

/** A body of the potential kernel. */
struct device_body {
    double x[3], m;
};
enum { DEVICE_POT_BLOCK = 128, DEVICE_POT_TILE = 64 };
/** Bodies that follow each other on the curve. */
struct device_pot_tile {
    double centre[4];                /* a float in each; 1/2 */
    float extent[4];                 /* half the size of their box, and its length */
    double from[DEVICE_POT_TILE][4]; /* s = x - centre; |s|^2 */
    double m[DEVICE_POT_TILE];
};
/** The potential of some of all bodies. */
struct device_potential {
    const struct device_body *bodies;
    const struct device_pot_tile *tiles;
    const struct device_body *sorted; /* [n_tiles*DEVICE_POT_TILE] along the curve */
    int n_tiles;
    const int32_t *order; /* [n_i] the body at each place */
    int i_first, n_i;
    double *partial; /* [splits][n_i] scratch */
};
/** Sources as they lie in device memory: numbers of either kind, so many bytes apart. */
struct softened_sources {
    const void *x, *mass;
    size_t x_step, mass_step;
    int mass_is_float, n;
};

/** One force. */
struct device_softened {
    struct softened_sources sources;
    const double (*x)[3]; /**< [n_i] targets */
    const int32_t *self;  /**< [n_i] or NULL; numbers of all devices */
    int self_first;       /**< the number of the first source of this device */
    int n_i;
    double softening;
    double (*acc)[3];
    double *pot; /**< NULL: not wanted */
    int rounded; /**< positions are rounded to float first */
};

/** The kernels of a kind of device. A function enqueues, and returns 0 or the code of a failure, for NBD_LAUNCH. What
 * it points to is left alone until the stream was waited for, but for the arguments themselves, which are copied. */
struct gpunb_kernels {
    const struct nbd_kind *const *kind;
    const char *devices; /**< of what numbers in a request are, for messages: "CUDA devices" */

    /** Predictors with a mark from memory of the host to the device. All arrays: [n]; *count is raised by their number.
     */
    int (*store)(const struct gpunb_jp *from, const unsigned char *marks, unsigned char mark, int n,
                 struct gpunb_jp *jp, uint64_t *count, struct nbd_stream *stream);
    int (*predict_share)(const struct device_prediction *prediction, struct nbd_stream *stream);

    /** Keys along the curve, and the numbers first, first + 1, ... of the positions. */
    int (*keys)(const struct device_positions *positions, const struct gpunb_map *map, uint32_t *keys, int32_t *places,
                struct nbd_stream *stream);
    /** Stable sort of (key, place), the key of GPUNB_CURVE_KEY_BITS bits; `bytes` of scratch, whose size is returned in
     *  *bytes if scratch is NULL. */
    int (*sort)(void *scratch, size_t *bytes, const uint32_t *keys, uint32_t *sorted_keys, const int32_t *places,
                int32_t *sorted_places, int n, struct nbd_stream *stream);
    /** The same of keys below 2^bits, bits <= 64. */
    int (*sort64)(void *scratch, size_t *bytes, const uint64_t *keys, uint64_t *sorted_keys, const int32_t *places,
                  int32_t *sorted_places, int n, int bits, struct nbd_stream *stream);
    /** Tiles from sources in the order `index`; `index` is filled with 0, 1, 2, ... if `identity`. */
    int (*tiles)(const struct device_source *sources, int n, int identity, const struct device_layout *layout,
                 const struct device_copy *copy, struct nbd_stream *stream);
    /** The same in index order, of sources that are predicted on the way. */
    int (*predicted_tiles)(const struct device_prediction *prediction, const struct device_layout *layout,
                           const struct device_copy *copy, struct nbd_stream *stream);
    /** order[k] = target at place k along the curve, for up to DEVICE_RANK_MAX targets. */
    int (*rank)(const struct device_targets *targets, const struct gpunb_map *map, int32_t *order,
                struct nbd_stream *stream);

    /** Blocks of this variant that one multiprocessor holds at a time. */
    int (*blocks_per_sm)(const struct device_variant *variant, int *blocks);
    int (*force)(const struct device_variant *variant, const struct device_force *force, struct nbd_stream *stream);
    int (*finish)(const struct device_finish *finish, struct nbd_stream *stream);

    /** The regular force in device memory (device/regular.h). Blocks of threads of its kernels on a device, which is
     *  current; 0: it cannot have them. */
    int (*regular_blocks)(int device, int *blocks);
    /** Targets in order; sources and tiles too, unless they are those of the last time; groups and slices. */
    int (*regular_prepare)(const struct gpunb_dev_job *job, int is_again, int blocks, struct nbd_stream *stream);
    /** This share of the sums of pairs of targets, onto job->sums.mutual, which is that of the current device. */
    int (*regular_pairs)(const struct gpunb_dev_job *job, int64_t share, int blocks, struct nbd_stream *stream);
    /** Viewers of the n targets from place `first` on. */
    int (*regular_viewers)(const struct gpunb_dev_job *job, int64_t first, int64_t n, struct nbd_stream *stream);
    /** This share of the remaining sums of these targets. */
    int (*regular_left)(const struct gpunb_dev_job *job, int64_t first, int64_t n, int64_t share, int blocks,
                        struct nbd_stream *stream);
    /** Sums and lists of these targets. */
    int (*regular_finish)(const struct gpunb_dev_job *job, int64_t first, int64_t n, int blocks,
                          struct nbd_stream *stream);

    /** Sources of a device as records of gpunb_regf_device; which sources targets are; results to the host. */
    int (*regular_sources)(const struct device_source *sources, int n, int weighted, struct gpunb_dev_source *to,
                           struct nbd_stream *stream);
    int (*regular_ask)(const struct device_asking *asking, struct nbd_stream *stream);
    int (*regular_send)(const struct device_sending *sending, struct nbd_stream *stream);

    /** Tiles of n bodies in the order `index`; tiles and sorted have room for whole tiles. */
    int (*pot_tiles)(const struct device_body *bodies, int n, const int32_t *index, struct device_pot_tile *tiles,
                     struct device_body *sorted, struct nbd_stream *stream);
    /** pot[i - i_first] = -sum m_j/r_ij in double, of the bodies i in `order`. */
    int (*potential)(const struct device_potential *potential, int splits, double *pot, struct nbd_stream *stream);

    /** Scratch of a softened force on the current device. */
    int (*softened_bytes)(size_t n_i, size_t n_j, size_t *bytes);
    /** `work` has the size that softened_bytes returns for these numbers, or for larger ones. */
    int (*softened_sum)(const struct device_softened *job, void *work, struct nbd_stream *stream);

    const struct gpunb_tree_kernels *tree;                 /**< device/tree_kernels.h */
    const struct gpunb_regular_tree_kernels *regular_tree; /**< device/regular_tree.h */
};

#ifdef __cplusplus
}
#endif
#endif
