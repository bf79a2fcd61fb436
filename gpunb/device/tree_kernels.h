/** The kernels of trees (device/tree.h) of a kind of device: each enqueues, and returns 0 or the code of a failure, for
 *  NBD_LAUNCH. Arguments are copied. */
#ifndef GPUNB_DEVICE_TREE_KERNELS_H
#define GPUNB_DEVICE_TREE_KERNELS_H

#include "gpunb/device/tree.h"

struct device_tree_export;
struct essential_measure;

#ifdef __cplusplus
extern "C" {
#endif

struct gpunb_tree_kernels {
    /** shape->negative. */
    int (*check)(const struct device_tree *tree, const struct softened_sources *sources, struct nbd_stream *stream);
    /** A shape without cells, with the box of the sources; tables. */
    int (*begin)(const struct device_tree *tree, const struct softened_sources *sources, struct nbd_stream *stream);
    /** First keys, and 0, 1, 2, ...: scratch->key, scratch->number. */
    int (*keys)(const struct device_tree *tree, const struct softened_sources *sources,
                const struct device_tree_scratch *scratch, struct nbd_stream *stream);
    /** shape->tied, with tree->passes keys. */
    int (*ties)(const struct device_tree *tree, const struct softened_sources *sources, struct nbd_stream *stream);
    /** Next keys, runs and 0, 1, 2, ... by place: scratch->key, run, other. */
    int (*next_keys)(const struct device_tree *tree, const struct softened_sources *sources,
                     const struct device_tree_scratch *scratch, struct nbd_stream *stream);
    /** scratch->sorted_run, of the places in scratch->number. */
    int (*take_runs)(const struct device_tree *tree, const struct device_tree_scratch *scratch,
                     struct nbd_stream *stream);
    /** tree->key of the next pass and scratch->number, of the places in scratch->other. */
    int (*take_keys)(const struct device_tree *tree, const struct device_tree_scratch *scratch,
                     struct nbd_stream *stream);
    /** Cells, and their numbers in the shape. */
    int (*link)(const struct device_tree *tree, struct nbd_stream *stream);
    /** Numbers of sources by place, from `first` on, around. */
    int (*renumber)(const struct device_tree *tree, int first, struct nbd_stream *stream);
    /** Bodies by place, and the place of each source. */
    int (*gather)(const struct device_tree *tree, const struct softened_sources *sources, int to_float,
                  struct nbd_stream *stream);
    /** Boxes and multipoles of the leaves of all levels, and of the cells of a level whose parts have theirs. */
    int (*leaves)(const struct device_tree *tree, int n_cells, struct nbd_stream *stream);
    int (*wholes)(const struct device_tree *tree, int first, int end, struct nbd_stream *stream);
    int (*nodes)(const struct device_tree *tree, int n_cells, struct nbd_stream *stream);
    /** Places in the order of the tree, and 0, 1, 2, ..., of the targets of a force. */
    int (*targets)(const struct device_tree_walk *walk, uint64_t *keys, int32_t *numbers, struct nbd_stream *stream);
    /** Regions of all targets. */
    int (*regions)(const struct device_tree_walk *walk, struct nbd_stream *stream);
    int (*walk)(const struct device_tree_walk *walk, struct nbd_stream *stream);
    /** Results from the partial sums of a group. */
    int (*add_shares)(const struct device_tree_walk *walk, struct nbd_stream *stream);
    /** Where the groups of targets are (tree_export.h).   @param[out] measure  of each */
    int (*measure)(const struct device_tree_walk *walk, struct essential_measure *measure, struct nbd_stream *stream);
    /** The cells of an essential tree, level by level, of which there are as many as of the own tree at most. */
    int (*choose)(const struct device_tree_export *job, int levels, struct nbd_stream *stream);
    /** The parts of them that are sent.   @param[in] cells  in all */
    int (*write)(const struct device_tree_export *job, int64_t cells, struct nbd_stream *stream);
};

#ifdef __cplusplus
}
#endif
#endif
