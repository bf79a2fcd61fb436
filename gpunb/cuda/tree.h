/** Launches of the kernels of trees on GPUs, which gpunb/device/tree_kernels.h describes. */
#ifndef GPUNB_CUDA_TREE_H
#define GPUNB_CUDA_TREE_H

#include "gpunb/device/tree_kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* tree.cu */
int gpunb_cuda_tree_check(const struct device_tree *tree, const struct softened_sources *sources,
                          struct nbd_stream *stream);
int gpunb_cuda_tree_begin(const struct device_tree *tree, const struct softened_sources *sources,
                          struct nbd_stream *stream);
int gpunb_cuda_tree_keys(const struct device_tree *tree, const struct softened_sources *sources,
                         const struct device_tree_scratch *scratch, struct nbd_stream *stream);
int gpunb_cuda_tree_ties(const struct device_tree *tree, const struct softened_sources *sources,
                         struct nbd_stream *stream);
int gpunb_cuda_tree_next_keys(const struct device_tree *tree, const struct softened_sources *sources,
                              const struct device_tree_scratch *scratch, struct nbd_stream *stream);
int gpunb_cuda_tree_take_runs(const struct device_tree *tree, const struct device_tree_scratch *scratch,
                              struct nbd_stream *stream);
int gpunb_cuda_tree_take_keys(const struct device_tree *tree, const struct device_tree_scratch *scratch,
                              struct nbd_stream *stream);
int gpunb_cuda_tree_link(const struct device_tree *tree, struct nbd_stream *stream);
int gpunb_cuda_tree_renumber(const struct device_tree *tree, int first, struct nbd_stream *stream);
int gpunb_cuda_tree_gather(const struct device_tree *tree, const struct softened_sources *sources, int to_float,
                           struct nbd_stream *stream);
int gpunb_cuda_tree_leaves(const struct device_tree *tree, int n_cells, struct nbd_stream *stream);
int gpunb_cuda_tree_wholes(const struct device_tree *tree, int first, int end, struct nbd_stream *stream);
int gpunb_cuda_tree_nodes(const struct device_tree *tree, int n_cells, struct nbd_stream *stream);
int gpunb_cuda_tree_targets(const struct device_tree_walk *walk, uint64_t *keys, int32_t *numbers,
                            struct nbd_stream *stream);

/* tree_walk.cu */
int gpunb_cuda_tree_regions(const struct device_tree_walk *walk, struct nbd_stream *stream);
int gpunb_cuda_tree_walk(const struct device_tree_walk *walk, struct nbd_stream *stream);
int gpunb_cuda_tree_add_shares(const struct device_tree_walk *walk, struct nbd_stream *stream);

/* tree_export.cu */
int gpunb_cuda_tree_measure(const struct device_tree_walk *walk, struct essential_measure *measure,
                            struct nbd_stream *stream);
int gpunb_cuda_tree_choose(const struct device_tree_export *job, int levels, struct nbd_stream *stream);
int gpunb_cuda_tree_write(const struct device_tree_export *job, int64_t cells, struct nbd_stream *stream);

#ifdef __cplusplus
}
#endif
#endif
