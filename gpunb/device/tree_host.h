/** Host side of trees on a device, between its files: layouts of their memory, building (device/tree_build.c) and
 * forces (device/tree_force.c), for those who have the memory (device/tree_host.c). */
#ifndef GPUNB_DEVICE_TREE_HOST_H
#define GPUNB_DEVICE_TREE_HOST_H

#include "gpunb/device/device.h"
#include "gpunb/device/tree_kernels.h"
#include "gpunb/tree/method.h"

/** Memory of a force. */
struct device_tree_force_scratch {
    uint64_t *key, *sorted_key; /* [n_i] */
    int32_t *number, *order;    /* [n_i] */
    double (*first)[3];         /* [n_i] accelerations by angle */
    double *partial;            /* see struct device_tree_walk */
    struct device_tree_left *left[2];
    struct device_tree_sample *sampled;
    struct device_tree_region *region;
    int32_t *region_cell;
    void *sort;
    size_t sort_bytes;
};

/** The maker of trees and forces: a device of a handle, and its settings. */
struct device_tree_force {
    const struct device_gpu *gpu;
    const struct gpunb_tree_use *use;
    struct nbd_stream *stream;
    int to_float;
};

/** A tree being made. */
struct device_tree_building {
    const struct device_tree_force *force;
    struct device_tree *tree;
    const struct softened_sources *sources;
    struct device_tree_scratch scratch;
    struct device_tree_shape *shape; /* out */
};

/** Targets of a force, and places for their results, in memory of the device. */
struct device_tree_targets {
    const double (*x)[3];
    const int32_t *self;
    const double (*acc_last)[3];
    double (*acc)[3], *pot;
    uint32_t *cost;
    size_t n;
    double softening;
    int is_first;   /* 1: the force by angle that comes before one with an aim, alone */
    int is_ordered; /* 1: the scratch has their order */
};

/** A tree on a device, as gpunb_tree keeps it. */
struct device_kept_tree {
    struct device_gpu *gpu;
    struct device_tree tree;
    struct device_tree_shape shape;    /* as it was read when the tree was built */
    struct nbd_buffer memory, on_host; /* on_host: what the host reads of it, or gives to it (tree_divided.c) */
    struct nbd_buffer choice, packed;  /* of an essential tree (tree_export.c): cells, and what is sent, */
    struct nbd_buffer *sent;           /* [parts] that in memory of the host */
    int parts;
};

/** Parts of memory that follow each other from `at` on; NULL: the size alone is wanted. */
struct device_tree_layout {
    char *at;
    size_t bytes;
};
static inline void *gpunb_device_tree_take(struct device_tree_layout *l, size_t count, size_t size)
{
    char *part = l->at ? l->at + l->bytes : NULL;
    l->bytes += (count * size + 255) / 256 * 256;
    return part;
}

/** Bits of numbers below n. */
static inline int gpunb_device_tree_bits(size_t n)
{
    int bits = 1;
    while (bits < 32 && n >> bits > 0) bits++;
    return bits;
}

/** Layouts of a tree, of what builds it beside its own memory, and of a force.   @return their bytes */
size_t gpunb_device_tree_lay_out(const struct gpunb_tree_use *use, size_t n, char *at, struct device_tree *tree);
size_t gpunb_device_tree_lay_out_build(const struct device_tree *tree, size_t sort_bytes, char *at,
                                       struct device_tree_scratch *scratch);
size_t gpunb_device_tree_lay_out_force(const struct gpunb_tree_use *use, size_t n_i, size_t sort_bytes, char *at,
                                       struct device_tree_force_scratch *scratch);

/** Order and cells of the sources; the stream is waited for.   @param[in,out] seconds  [GPUNB_TREE_STAGES] */
int gpunb_device_tree_make_cells(const struct device_tree_building *building, double *seconds, struct nbc_error *err);
/** The same in two calls with the same tree and scratch, of which the first does not wait. */
int gpunb_device_tree_begin_cells(const struct device_tree_building *building, struct nbc_error *err);
int gpunb_device_tree_end_cells(const struct device_tree_building *building, struct nbc_error *err);
/** Bodies by place, and the multipoles of all cells. */
int gpunb_device_tree_make_moments(const struct device_tree_building *building, struct nbc_error *err);
/** The shape as it is now.   @return as of a wait; NBC_BAD_ARGUMENT: a mass is negative */
int gpunb_device_tree_read(const struct device_tree_building *building, struct nbc_error *err);
/** Targets along the tree, and their forces. */
int gpunb_device_tree_sum(const struct device_tree_force *force, const struct device_tree *tree,
                          const struct device_tree_targets *targets, const struct device_tree_force_scratch *scratch,
                          struct nbc_error *err);
/** Their order, and the groups of their walks.   @param[out] measure  [gpunb_device_tree_groups], of the device */
int gpunb_device_tree_measure(const struct device_tree_force *force, const struct device_tree *tree,
                              const struct device_tree_targets *targets,
                              const struct device_tree_force_scratch *scratch, struct essential_measure *measure,
                              struct nbc_error *err);
size_t gpunb_device_tree_groups(const struct gpunb_tree_use *use, size_t n_i);

/** Counts of the trees of a handle, and a word for the host, for the first of them. */
int gpunb_device_tree_ready(struct device_gpu *gpu, struct nbc_error *err);

/** Kept trees (device/tree_kept.c), as struct gpunb_tree_device has them.
 *  @return the record of a tree, which gets one; NULL without memory */
struct device_kept_tree *gpunb_device_tree_record(void *state, struct gpunb_tree *tree);
int gpunb_device_tree_provide(void *state, const struct gpunb_tree_use *use, struct gpunb_tree *tree, size_t n,
                              struct nbc_error *err);
int gpunb_device_tree_renumber(void *state, const struct gpunb_tree *tree, size_t first, void *stream,
                               struct nbc_error *err);
int gpunb_device_tree_get_layout(void *state, const struct gpunb_tree *tree, int32_t *order, uint8_t *cut,
                                 struct nbc_error *err);
int gpunb_device_tree_fetch(void *state, struct gpunb_tree *tree, struct nbc_error *err);
/** Top cell and order of a tree, and room behind them on the host.   @param[out] behind  [bytes] */
int gpunb_device_tree_fetch_top(struct gpunb_tree *tree, size_t bytes, void **behind, struct nbc_error *err);
int gpunb_device_tree_give(void *state, struct gpunb_tree *tree, const struct essential_question *question,
                           const void **data, size_t *bytes, uint64_t *tested, struct nbc_error *err);
int gpunb_device_tree_join(void *state, const struct gpunb_tree *local, struct gpunb_tree *whole, int32_t own,
                           struct nbc_error *err);
int gpunb_device_tree_restore(void *state, const struct gpunb_tree_use *use, struct gpunb_tree *tree,
                              const struct tree_cells *cells, struct nbc_error *err);

#endif
