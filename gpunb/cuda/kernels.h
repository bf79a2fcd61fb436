/** Interface between the GPU kernels (the .cu files) and the host side of the CUDA backend (the .c files).
 *
 *  Sources are kept in tiles of CUDA_TILE. There are two ways of summing a tile, by its distance from all targets of
 *  a warp:
 *   - near: differences of two-float numbers; pairs that are close enough to be neighbours within the step of the
 *     target, whatever their velocities, are left out of the sum and examined one by one;
 *   - far (the distance of the centre is more than twice the radius of the tile, and no star of the tile can be a
 *     neighbour, or the target itself): no pair is tested, and a difference is (c - x_i) + (x_j - c), where the first
 *     term is formed once for a tile and a target, and both are rounded to float, which is then sufficient.
 *  In index order nearly all tiles of a cluster are near. Sorted along a space-filling curve nearly all are far.
 *
 *  Every sum has an order that depends on sizes and positions only, never on timing. The launch functions only
 *  enqueue; they return the result of cudaGetLastError. */
#ifndef GPUNB_CUDA_KERNELS_H
#define GPUNB_CUDA_KERNELS_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    CUDA_TILE = 64, /* sources in a tile, and bits in a mask */
    CUDA_WARPS = 4, /* warps in a block of the force kernel: the same targets, other tiles */
    CUDA_SUMS = 7,  /* acc, jerk, sum of m/r */
    /* A tile in memory, in units of 16 bytes: a head, then for each source v, sqrt(m); then x - c, m; then the high
       parts of x, m; then the low parts, 0. */
    CUDA_HEAD = 4,
    CUDA_V = CUDA_HEAD,
    CUDA_FROM_CENTRE = CUDA_V + CUDA_TILE,
    CUDA_HIGH = CUDA_FROM_CENTRE + CUDA_TILE,
    CUDA_LOW = CUDA_HIGH + CUDA_TILE,
    CUDA_TILE_UNITS = CUDA_LOW + CUDA_TILE,
    CUDA_RANK_MAX = 4096 /* targets up to this number are sorted by counting, more by a radix sort */
};

/** A source as it is sent. */
struct cuda_source {
    double x[3];
    float v[3], m;
};

struct gpunb_jp;
/** A device's share of the sources, from predictors (predictor.h). */
struct cuda_prediction {
    const struct gpunb_jp *jp;
    const int32_t *number; /**< [first + n] number of the source at each place; NULL: the place itself */
    int first, n;
    double t;
    struct cuda_source *sources; /**< [n] */
    int *refused;                /**< in memory of the host: set to a source with an invalid prediction */
};

/** Bytes from memory of the host, a multiple of 4, to a device: a kernel that also copies a few of
 *  them is faster than a separate copy. */
struct cuda_copy {
    const void *from;
    void *to;
    size_t bytes;
};

/** The map from space to the unit cube that the curve is drawn in: u = s/(1 + |s|), s = (x - centre)/scale. */
struct cuda_map {
    double centre[3];
    double per_scale;
};

/** Targets of a call in the caller's order: one array after the other, for a single copy. */
struct cuda_targets {
    const double (*x)[3], (*v)[3];
    const double *dt, *r_nb2;
    const int32_t *self; /* source of the handle that is the target itself; -1: none */
    int32_t *found;      /* neighbours found; zero before */
    int32_t *in_doubt;   /* set where the pair sums need double precision; zero before */
    int n;
};
enum { CUDA_TARGET_BYTES = 24 + 24 + 8 + 8 + 4 + 4 };

/** A set of tiles: `index[k]` is the source at place k, n_tiles*CUDA_TILE places; `place` is the inverse. */
struct cuda_layout {
    float4 *tiles;
    int32_t *index, *place;
};

/** Pairs in near tiles that may be neighbours, for the last kernel. A group is the targets of a block. */
struct cuda_close {
    unsigned char *near;      /* [groups][stride] 1: the tile was near to the group */
    unsigned long long *mask; /* [groups][stride][targets of the group] if so: sources that were left out of the sum */
    int stride;               /* number of tiles */
};

/** One launch of the force kernel: a piece of the targets, which are in the order of the curve if there is an order. */
struct cuda_force {
    struct cuda_targets targets;
    const int32_t *order; /* target at each place of the call, or NULL: as they come */
    struct cuda_layout layout;
    double *partial; /* [n][splits][CUDA_SUMS] */
    struct cuda_close close;
    int first, n;                                /* places of the piece */
    int j_first, n_j, n_tiles, splits, in_block; /* in_block: targets of a block */
    int weighted, twofloat;
};

/** Which instance of the force kernel. */
struct cuda_variant {
    int width;         /* targets of a thread, 1 or 2 */
    int twofloat, pot; /* see gpunb.h */
};

/** Result of a device for one target. Its list, in a row of its own, is in 16-bit numbers if possible: from each
 *  neighbour to the next, j' - j - 1, beginning with j = -1; else it is in 32-bit numbers. */
struct cuda_result {
    double sum[CUDA_SUMS];
    int32_t found;
    int32_t target; /* its number; ~number if the list is in 32-bit numbers */
};

/** The last kernel of a piece: adds the partial sums in order, examines close pairs in double, sorts the lists,
 *  repeats in double the sums that floats could not hold. */
struct cuda_finish {
    struct cuda_force force;
    const struct cuda_source *sources;
    int32_t *rows, *sorted; /* [n][cap] scratch: neighbours as they are found, and ascending */
    int cap;
    /* in memory of the host: */
    struct cuda_result *results; /* [n] */
    int32_t *lists;              /* [n][cap] */
};

/** Predictors with a mark from memory of the host to the device. All arrays: [n]; *count is raised by their number. */
cudaError_t gpunb_cuda_store(const struct gpunb_jp *from, const unsigned char *marks, unsigned char mark, int n,
                             struct gpunb_jp *jp, uint64_t *count, cudaStream_t stream);
cudaError_t gpunb_cuda_predict_share(const struct cuda_prediction *prediction, cudaStream_t stream);

/** Keys along the curve, and 0, 1, 2, ... for n sources or targets. */
cudaError_t gpunb_cuda_source_keys(const struct cuda_source *sources, int n, const struct cuda_map *map, uint32_t *keys,
                                   int32_t *places, cudaStream_t stream);
cudaError_t gpunb_cuda_target_keys(const struct cuda_targets *targets, const struct cuda_map *map, uint32_t *keys,
                                   int32_t *places, cudaStream_t stream);
/** Stable sort of (key, place); `bytes` of scratch, whose size is returned in *bytes if scratch is NULL. */
cudaError_t gpunb_cuda_sort(void *scratch, size_t *bytes, const uint32_t *keys, uint32_t *sorted_keys,
                            const int32_t *places, int32_t *sorted_places, int n, cudaStream_t stream);
/** Tiles from sources in the order `index`; `index` is filled with 0, 1, 2, ... if `identity`. */
cudaError_t gpunb_cuda_tiles(const struct cuda_source *sources, int n, int identity, const struct cuda_layout *layout,
                             const struct cuda_copy *copy, cudaStream_t stream);
/** The same in index order, of sources that are predicted on the way. */
cudaError_t gpunb_cuda_predicted_tiles(const struct cuda_prediction *prediction, const struct cuda_layout *layout,
                                       const struct cuda_copy *copy, cudaStream_t stream);
/** order[k] = target at place k along the curve, for up to CUDA_RANK_MAX targets. */
cudaError_t gpunb_cuda_rank(const struct cuda_targets *targets, const struct cuda_map *map, int32_t *order,
                            cudaStream_t stream);

/** Blocks of this variant that one multiprocessor holds at a time. */
cudaError_t gpunb_cuda_blocks_per_sm(const struct cuda_variant *variant, int *blocks);
cudaError_t gpunb_cuda_force(const struct cuda_variant *variant, const struct cuda_force *force, cudaStream_t stream);
cudaError_t gpunb_cuda_finish(const struct cuda_finish *finish, cudaStream_t stream);

/** A body of the potential kernel. */
struct cuda_body {
    double x[3], m;
};
enum { CUDA_POT_BLOCK = 128, CUDA_POT_TILE = 64 };
/** Bodies that follow each other on the curve. */
struct cuda_pot_tile {
    double centre[4];              /* a float in each; 1/2 */
    float extent[4];               /* half the size of their box, and its length */
    double from[CUDA_POT_TILE][4]; /* s = x - centre; |s|^2 */
    double m[CUDA_POT_TILE];
};
/** The potential of some of all bodies. */
struct cuda_potential {
    const struct cuda_body *bodies;
    const struct cuda_pot_tile *tiles;
    const struct cuda_body *sorted; /* [n_tiles*CUDA_POT_TILE] along the curve */
    int n_tiles;
    const int32_t *order; /* [n_i] the body at each place */
    int i_first, n_i;
    double *partial; /* [splits][n_i] scratch */
};
/** Keys along the curve of the bodies first .. first + n - 1, and these numbers. */
cudaError_t gpunb_cuda_body_keys(const struct cuda_body *bodies, int first, int n, const struct cuda_map *map,
                                 uint32_t *keys, int32_t *places, cudaStream_t stream);
/** Tiles of n bodies in the order `index`; tiles and sorted have room for whole tiles. */
cudaError_t gpunb_cuda_pot_tiles(const struct cuda_body *bodies, int n, const int32_t *index,
                                 struct cuda_pot_tile *tiles, struct cuda_body *sorted, cudaStream_t stream);
/** pot[i - i_first] = -sum m_j/r_ij in double, of the bodies i in `order`. */
cudaError_t gpunb_cuda_potential(const struct cuda_potential *potential, int splits, double *pot, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
