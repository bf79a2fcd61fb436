/** Launches of the kernels of regular forces by tree on GPUs, which gpunb/device/regular_tree.h describes. */
#ifndef GPUNB_CUDA_REGULAR_TREE_H
#define GPUNB_CUDA_REGULAR_TREE_H

#include "gpunb/device/regular_tree.h"

#ifdef __cplusplus
extern "C" {
#endif

/* regular_tree.cu */
int gpunb_cuda_regular_tree_sources(const struct device_regular_tree *t, struct nbd_stream *stream);
int gpunb_cuda_regular_tree_sort(const struct device_regular_tree *t, struct nbd_stream *stream);
int gpunb_cuda_regular_tree_leaves(const struct device_regular_tree *t, int n_cells, struct nbd_stream *stream);
int gpunb_cuda_regular_tree_wholes(const struct device_regular_tree *t, int first, int end, struct nbd_stream *stream);
int gpunb_cuda_regular_tree_places(const struct device_regular_tree *t, struct nbd_stream *stream);
int gpunb_cuda_regular_tree_targets(const struct device_regular_tree *t, struct nbd_stream *stream);
int gpunb_cuda_regular_tree_sizes(const struct device_regular_tree *t, struct nbd_stream *stream);
int gpunb_cuda_regular_tree_plan(const struct device_regular_tree *t, int first, int end, struct nbd_stream *stream);
int gpunb_cuda_regular_tree_fields(const struct device_regular_tree *t, struct nbd_stream *stream);

/* regular_region.cu */
int gpunb_cuda_regular_tree_regions(const struct device_regular_tree *t, int level, int most,
                                    struct nbd_stream *stream);
int gpunb_cuda_regular_tree_expand(const struct device_regular_tree *t, int levels, int most,
                                   struct nbd_stream *stream);
int gpunb_cuda_regular_tree_around(const struct device_regular_tree *t, int level, int most, struct nbd_stream *stream);

/* regular_cells.cu */
int gpunb_cuda_regular_tree_rows(const struct device_regular_tree *t, int n_cells, struct nbd_stream *stream);
int gpunb_cuda_regular_tree_cells(const struct device_regular_tree *t, int stage, struct nbd_stream *stream);

/* regular_group.cu */
int gpunb_cuda_regular_tree_pairs(const struct device_regular_tree *t, struct nbd_stream *stream);

#ifdef __cplusplus
}
#endif
#endif
