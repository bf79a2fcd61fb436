/** Regular forces by a tree in memory of a device (docs/algorithms/regular_tree.md): what its kernels share with the
 *  host side (device/regular_tree.c).
 *
 *  sources: positions and masses as the tree takes them. The tree is built (device/tree_build.c); then sources and
 *  velocities by place, motions and rates of cells. Targets are put in the order of the tree. plan: cells of many
 *  targets are regions, and what is left of their parts are groups. regions: level by level, cells far from a region go
 *  to its expansion, others onto its list. fields: expansions at the targets. cells: what cells of these lists, or
 * parts of them, do to the targets of each group. pairs: the bodies of the cells that are left, neighbours, lists. */
#ifndef GPUNB_DEVICE_REGULAR_TREE_H
#define GPUNB_DEVICE_REGULAR_TREE_H

#include "gpunb/device/regular.h"
#include "gpunb/device/tree.h"
#include "gpunb/tree/rates.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    REGULAR_LEAF = 32,
    REGULAR_GROUP = 32,                  /* targets of a group */
    REGULAR_RUN = 256,                   /* targets of cells that are cut into groups along the tree, at most, */
    REGULAR_SPAN = 1024,                 /* and sources of these */
    REGULAR_REGION_FROM = 128,           /* least targets of a region, */
    REGULAR_REGION = 8192,               /* and most; larger cells have none of their own */
    REGULAR_LEFT = 2048,                 /* most cells on a list of a region */
    REGULAR_LONG = 1 << 15,              /* groups with more bodies to be summed are cut, */
    REGULAR_PIECES = 8,                  /* into so many, */
    REGULAR_STAGES = 3,                  /* and these into single targets */
    REGULAR_WORTH = 8,                   /* pairs that cost as much as a cell on a target */
    REGULAR_ORDER = TREE_MOST_LOCAL - 2, /* of a tree whose moments are those of the expansions */
    /* floats of a row, the polynomials of a cell (regular_terms.h) */
    REGULAR_ROW_ROOM = REGULAR_ORDER == 4 ? 4 * (3 + 5 + 8 + 6) : 4 * (3 + 5 + 8 + 11 + 7),
    REGULAR_SEEN = 2, /* targets of a lane in sums */
    REGULAR_NONE = -1
};

/** A target, in the order of the tree. */
struct regular_target {
    double x[3], v[3];
    double size;          /**< of its last acceleration */
    float radius, step;   /**< as gpunb_dev_radius and gpunb_dev_step have them, rounded up */
    int32_t place, asked; /**< of its source in the tree; its number in the call */
};

/** Targets [first, first + count) of some parts of a cell. */
struct regular_group {
    int32_t first, count;
    int32_t around; /**< the cell */
    int32_t is_cut; /**< 1: other groups have its targets */
    float scale;    /**< as in tree_accepts */
};

/** Where the targets of a region are, and how they move. */
struct regular_bounds {
    double centre[3], half[3], reach; /**< their box, and the farthest from its centre */
    double v[3], speed;               /**< mean velocity; no target is faster relative to it */
    double sphere, step;              /**< the largest radius and step */
    double unit;                      /**< of its expansion */
    double sum;                       /**< of the sizes of all terms, for a mass of 1 */
    float scale, spread2;             /**< as in tree_accepts_region */
};

/** A region, with its expansion (gpunb/tree/moving.h): lengths in its unit, masses in that of all bodies, velocities in
 *  the speed of the cell of all. */
struct regular_region {
    struct regular_bounds bounds;
    int32_t n; /**< cells on its list; REGULAR_NONE: too many, its parts have that of the region around it */
    int32_t n_acting, around; /**< cells that act on it; the region around it, or REGULAR_NONE */
    float local[TREE_MOST_LOCALS], rate[TREE_MOST_LOCALS];
};

/** Numbers that the device alone knows. */
struct regular_counters {
    int32_t root; /**< 0: the list that walks begin with where there is no region */
    int32_t regions, groups;
    int32_t begin[TREE_LEVELS + 1]; /**< where regions of each level begin */
    int32_t end[REGULAR_STAGES];    /**< of groups: those of the plan, their pieces, pieces of these */
};

struct device_regular_tree {
    struct device_tree tree;
    double (*v)[3];                        /**< [n] by place */
    struct tree_motion *motion;            /**< [cells] */
    float *rate;                           /**< [cells][moments] */
    float *term;                           /**< [cells][REGULAR_ROW_ROOM] */
    const struct gpunb_dev_source *source; /**< [n] of the caller */
    struct gpunb_dev_source *sorted;       /**< [n] by place */
    double (*x_all)[3], *mass_all;         /**< [n] as the tree takes them */
    struct gpunb_dev_asked *asked;         /**< [n_i] of the caller */
    int32_t *lists;                        /**< rows of the caller, */
    int64_t row_room;                      /**< so long */
    int n_i, weighted;
    int has_sizes;                 /**< 0: by angle */
    struct regular_target *target; /**< [n_i] */
    int32_t *parent;               /**< [cells]; REGULAR_NONE: of the cell of all */
    int32_t *region_of;            /**< [cells]; REGULAR_NONE: it has none */
    struct regular_region *region;
    int32_t *region_cell;   /**< [regions] the cell of each */
    int32_t *acting, *left; /**< [regions][REGULAR_LEFT] cells that act on them, and those on their lists */
    struct regular_group *group;
    struct regular_counters *counters;
    int region_room, group_room;
    uint64_t *key, *sorted_key;       /**< [n_i] places of targets */
    int32_t *number, *order;          /**< [n_i] their numbers */
    struct tree_rule rule, term_rule; /**< of regions; of groups */
    double heavy;                     /**< bodies of more than this part of all mass act as themselves */
    unsigned long long *counts;
};

/** Kernels of a kind of device: each enqueues, and returns 0 or the code of a failure, for NBD_LAUNCH. */
struct gpunb_regular_tree_kernels {
    /** x_all, mass_all. */
    int (*sources)(const struct device_regular_tree *t, struct nbd_stream *stream);
    /** sorted, v. */
    int (*sort)(const struct device_regular_tree *t, struct nbd_stream *stream);
    /** Motions and rates of the leaves of all levels, and of the cells [first, end) of a level whose parts have theirs.
     */
    int (*leaves)(const struct device_regular_tree *t, int n_cells, struct nbd_stream *stream);
    int (*wholes)(const struct device_regular_tree *t, int first, int end, struct nbd_stream *stream);
    /** term. */
    int (*rows)(const struct device_regular_tree *t, int n_cells, struct nbd_stream *stream);
    /** key, number; target, from sorted_key and order; their sizes from the results that they have. */
    int (*places)(const struct device_regular_tree *t, struct nbd_stream *stream);
    int (*targets)(const struct device_regular_tree *t, struct nbd_stream *stream);
    int (*sizes)(const struct device_regular_tree *t, struct nbd_stream *stream);
    /** Regions and groups of the cells [first, end) of a level; levels follow each other. */
    int (*plan)(const struct device_regular_tree *t, int first, int end, struct nbd_stream *stream);
    /** Walks for the regions of a level, which are so many at most; the expansions of all regions; those of the regions
     *  around the regions of a level onto these. */
    int (*regions)(const struct device_regular_tree *t, int level, int most, struct nbd_stream *stream);
    int (*expand)(const struct device_regular_tree *t, int levels, int most, struct nbd_stream *stream);
    int (*around)(const struct device_regular_tree *t, int level, int most, struct nbd_stream *stream);
    /** The sums of expansions are results of the targets. */
    int (*fields)(const struct device_regular_tree *t, struct nbd_stream *stream);
    /** Cells that act on the groups of a stage, onto these. */
    int (*cells)(const struct device_regular_tree *t, int stage, struct nbd_stream *stream);
    /** Pairs onto these, and lists. */
    int (*pairs)(const struct device_regular_tree *t, struct nbd_stream *stream);
};

/** Loads of four floats of a rank in a row, and floats of those before it: moments and rates, or rates alone. */
NBC_HD int regular_quads(int n)
{
    return ((n <= REGULAR_ORDER ? 2 : 1) * tree_components(n) + 3) / 4;
}

NBC_HD int regular_row_below(int n)
{
    int below = 0;
    for (int k = 2; k < n; k++) below += 4 * regular_quads(k);
    return below;
}

#ifdef __cplusplus
}
#endif
#endif
