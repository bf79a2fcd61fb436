/** A tree in the memory of a device: what kernels share with the host side (device/tree_build.c, tree_force.c).
 *
 *  Stages of a build: box and keys of the sources; their order; second keys for those that one key cannot tell apart;
 *  cells, level by level; bodies in order; multipoles, the deepest level first. The host reads one record between them,
 *  which tells whether keys are tied, how many cells there are, and where levels begin. A renewed tree keeps order and
 *  cells. A force puts its targets in the order of the tree; a block of threads walks for those that follow each other.
 */
#ifndef GPUNB_DEVICE_TREE_H
#define GPUNB_DEVICE_TREE_H

#include "gpunb/device/kernels.h"
#include "gpunb/tree/accept.h"
#include "gpunb/tree/keys.h"
#include "gpunb/tree/view.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    DEVICE_TREE_PASSES = 3, /* keys of a body: cells are told apart down to 2^-63 of the box, and farther where
                               bodies have tight boxes */
    DEVICE_TREE_NO_SOURCE = 0x7f7f7f7f, /* four equal bytes, as memset sets them */
    DEVICE_TREE_SHARES = 16,            /* of a list, in walks one by one that share it */
    DEVICE_TREE_MOST_TARGETS = 64,      /* of a block of threads */
    DEVICE_TREE_REGION_GROUPS = 4,      /* of a region, */
    DEVICE_TREE_REGION_CELLS = 2048,    /* and cells that it may leave for them */
    DEVICE_TREE_SAMPLE = 256,           /* groups of a sample, at least */
    DEVICE_TREE_COUNTS = 8,
    DEVICE_TREE_BLOCKS = 1024 /* the most blocks of threads that link cells */
};

/** The record that the host reads. */
struct device_tree_shape {
    uint64_t low[3], high[3]; /**< the box of the bodies, as nbc_ordered_bits */
    int32_t negative;         /**< the first source with a negative mass; DEVICE_TREE_NO_SOURCE: none */
    int32_t tied;             /**< neighbours that no key tells apart, in cells that are too large */
    int32_t n_levels, n_cells;
    int32_t is_full; /**< 1: there is no room for all cells */
    int32_t largest; /**< bodies of the largest leaf */
    int32_t level[TREE_LEVELS + 1];
};

/** Where the counts of struct gpunb_tree_counts are. */
enum device_tree_count {
    DEVICE_TREE_GROUPS,
    DEVICE_TREE_TARGETS,
    DEVICE_TREE_TESTS,
    DEVICE_TREE_LISTED_CELLS,
    DEVICE_TREE_LISTED_BODIES,
    DEVICE_TREE_CELL_TERMS,
    DEVICE_TREE_PAIR_TERMS,
    DEVICE_TREE_LOCAL_TERMS
};

struct device_tree {
    struct tree_view view;
    int n, leaf, room;         /**< bodies; bodies of a leaf; cells that there is room for */
    int others, end_of_others; /**< cells that have come from other parts (device/tree_divided.c) */
    int passes;                /**< keys that the order is by */
    int origin;                /**< number from which on bodies of equal keys are counted */
    struct tree_root root;
    double (*x)[3], *mass;
    int32_t *number, *place;           /**< [n] the source at each place, and the inverse */
    uint64_t *key[DEVICE_TREE_PASSES]; /**< [n] by place */
    int32_t (*cut)[TREE_PARTS + 1];    /**< [room] where digits of a cell begin; how many parts it has, 0: a leaf */
    int32_t *totals;                   /**< [DEVICE_TREE_BLOCKS] scratch of the links */
    struct device_tree_shape *shape;
    struct tree_tables *tables;
};

/** Memory of a build that is free after it. */
struct device_tree_scratch {
    uint64_t *key;              /**< [n] before they are sorted */
    int32_t *number, *other;    /**< [n] */
    uint64_t *run, *sorted_run; /**< [n] the first place of those that are tied with each */
    uint64_t (*box)[6];         /**< [n] of the run that begins at each place, as nbc_ordered_bits */
    void *sort;
    size_t sort_bytes;
};

/** Runs of targets whose lists were too long for their groups. Targets that follow each other around a dense region
 * have all of it in their box: one block would work on their list when all others are done. Later launches have them in
 *  smaller groups. */
struct device_tree_run {
    int32_t first, count;
};
/** The cost of the lists of some groups, in bodies: no list is to be many times as long. */
struct device_tree_sample {
    unsigned long long groups, cost;
};
struct device_tree_left {
    int32_t n;
    struct device_tree_run run[]; /* up to one for each target */
};

/** Targets of some groups that follow each other (device/tree_region.h). */
struct device_tree_region {
    double centre[3], sum; /**< sum: of the sizes of the terms of cells that act on all of them */
    float per_reach;       /**< 1 over the distance of the farthest target from the centre */
    int32_t n;             /**< cells that are left for the groups; -1: groups begin with all */
    float local[TREE_MOST_LOCALS];
};

/** A force on all targets, or on those of some groups, or on those that were left. */
struct device_tree_walk {
    struct device_tree tree;
    const double (*x)[3];        /**< [n_i] */
    const int32_t *self;         /**< [n_i] or NULL */
    const int32_t *order;        /**< [n_i] the target at each place */
    const double (*acc_last)[3]; /**< [n_i]; NULL: by angle */
    double (*acc)[3], *pot;      /**< [n_i]; pot: NULL: not wanted */
    uint32_t *cost;              /**< [n_i] of the list of each, in bodies; NULL: not wanted */
    int n_i, group;              /**< group: targets of a list */
    int first_group, n_groups;
    int has_terms;      /**< 0: cells act on regions alone */
    int region_targets; /**< 0: there are no regions */
    struct device_tree_region *region;
    int32_t *region_cell; /**< [regions][DEVICE_TREE_REGION_CELLS] cells that are left */
    int shares;           /**< of a list: 1, or DEVICE_TREE_SHARES */
    double *partial;      /**< [DEVICE_TREE_SHARES][group][4] sums of shares */
    struct tree_rule rule;
    double softening, nearest; /**< nearest: rounded positions serve from this part of a group's radius on */
    int rounded;               /**< positions are rounded to float first */
    int sample;                /**< 1: of some groups costs are found alone; 0: forces */
    int has_limit;             /**< 1: lists that are TREE_TIMES_AS_LONG as those of the sample are left */
    struct device_tree_sample *sampled;
    struct device_tree_left *left;        /**< where to */
    const struct device_tree_left *again; /**< NULL, or those that an earlier launch has left, cut into so many parts */
    int parts;
    unsigned long long *counts;
};

/** Floats of a row in memory of a device: whole loads of four. */
#define DEVICE_TREE_ROW(floats) (((floats) + 3) / 4 * 4)

/** Floats of a cell's coefficients in memory of a device, by order: those of tree_coefficients, in whole loads of four.
 */
#define DEVICE_TREE_STRIDES                                                                                            \
    {                                                                                                                  \
        0, 0, 8, 20, 44, 76, 128, 196, 292                                                                             \
    }

#ifdef __cplusplus
}
#endif
#endif
