/* The kernels of CUDA, as the host side asks for them. */
#include "gpunb/cuda/table.h"

#include "device/device.h"
#include "gpunb/cuda/kernels.h"
#include "gpunb/cuda/regular_tree.h"
#include "gpunb/cuda/softened_job.h"
#include "gpunb/cuda/tree.h"

static int store(const struct gpunb_jp *from, const unsigned char *marks, unsigned char mark, int n,
                 struct gpunb_jp *jp, uint64_t *count, struct nbd_stream *stream)
{
    return (int)gpunb_cuda_store(from, marks, mark, n, jp, count, (cudaStream_t)stream);
}

static int predict_share(const struct device_prediction *prediction, struct nbd_stream *stream)
{
    return (int)gpunb_cuda_predict_share(prediction, (cudaStream_t)stream);
}

static int keys(const struct device_positions *positions, const struct gpunb_map *map, uint32_t *keys, int32_t *places,
                struct nbd_stream *stream)
{
    return (int)gpunb_cuda_keys(positions, map, keys, places, (cudaStream_t)stream);
}

static int sort(void *scratch, size_t *bytes, const uint32_t *keys, uint32_t *sorted_keys, const int32_t *places,
                int32_t *sorted_places, int n, struct nbd_stream *stream)
{
    return (int)gpunb_cuda_sort(scratch, bytes, keys, sorted_keys, places, sorted_places, n, (cudaStream_t)stream);
}

static int sort64(void *scratch, size_t *bytes, const uint64_t *keys, uint64_t *sorted_keys, const int32_t *places,
                  int32_t *sorted_places, int n, int bits, struct nbd_stream *stream)
{
    return (int)gpunb_cuda_sort64(scratch, bytes, keys, sorted_keys, places, sorted_places, n, bits,
                                  (cudaStream_t)stream);
}

static int tiles(const struct device_source *sources, int n, int identity, const struct device_layout *layout,
                 const struct device_copy *copy, struct nbd_stream *stream)
{
    return (int)gpunb_cuda_tiles(sources, n, identity, layout, copy, (cudaStream_t)stream);
}

static int predicted_tiles(const struct device_prediction *prediction, const struct device_layout *layout,
                           const struct device_copy *copy, struct nbd_stream *stream)
{
    return (int)gpunb_cuda_predicted_tiles(prediction, layout, copy, (cudaStream_t)stream);
}

static int rank(const struct device_targets *targets, const struct gpunb_map *map, int32_t *order,
                struct nbd_stream *stream)
{
    return (int)gpunb_cuda_rank(targets, map, order, (cudaStream_t)stream);
}

static int blocks_per_sm(const struct device_variant *variant, int *blocks)
{
    return (int)gpunb_cuda_blocks_per_sm(variant, blocks);
}

static int force(const struct device_variant *variant, const struct device_force *force, struct nbd_stream *stream)
{
    return (int)gpunb_cuda_force(variant, force, (cudaStream_t)stream);
}

static int finish(const struct device_finish *finish, struct nbd_stream *stream)
{
    return (int)gpunb_cuda_finish(finish, (cudaStream_t)stream);
}

static int regular_blocks(int device, int *blocks)
{
    return (int)gpunb_cuda_regular_blocks(device, blocks);
}

static int regular_prepare(const struct gpunb_dev_job *job, int is_again, int blocks, struct nbd_stream *stream)
{
    return (int)gpunb_cuda_regular_prepare(job, is_again, blocks, (cudaStream_t)stream);
}

static int regular_pairs(const struct gpunb_dev_job *job, int64_t share, int blocks, struct nbd_stream *stream)
{
    return (int)gpunb_cuda_regular_pairs(job, share, blocks, (cudaStream_t)stream);
}

static int regular_viewers(const struct gpunb_dev_job *job, int64_t first, int64_t n, struct nbd_stream *stream)
{
    return (int)gpunb_cuda_regular_viewers(job, first, n, (cudaStream_t)stream);
}

static int regular_left(const struct gpunb_dev_job *job, int64_t first, int64_t n, int64_t share, int blocks,
                        struct nbd_stream *stream)
{
    return (int)gpunb_cuda_regular_left(job, first, n, share, blocks, (cudaStream_t)stream);
}

static int regular_finish(const struct gpunb_dev_job *job, int64_t first, int64_t n, int blocks,
                          struct nbd_stream *stream)
{
    return (int)gpunb_cuda_regular_finish(job, first, n, blocks, (cudaStream_t)stream);
}

static int regular_sources(const struct device_source *sources, int n, int weighted, struct gpunb_dev_source *to,
                           struct nbd_stream *stream)
{
    return (int)gpunb_cuda_regular_sources(sources, n, weighted, to, (cudaStream_t)stream);
}

static int regular_ask(const struct device_asking *asking, struct nbd_stream *stream)
{
    return (int)gpunb_cuda_regular_ask(asking, (cudaStream_t)stream);
}

static int regular_send(const struct device_sending *sending, struct nbd_stream *stream)
{
    return (int)gpunb_cuda_regular_send(sending, (cudaStream_t)stream);
}

static int pot_tiles(const struct device_body *bodies, int n, const int32_t *index, struct device_pot_tile *tiles,
                     struct device_body *sorted, struct nbd_stream *stream)
{
    return (int)gpunb_cuda_pot_tiles(bodies, n, index, tiles, sorted, (cudaStream_t)stream);
}

static int potential(const struct device_potential *potential, int splits, double *pot, struct nbd_stream *stream)
{
    return (int)gpunb_cuda_potential(potential, splits, pot, (cudaStream_t)stream);
}

static int softened_bytes(size_t n_i, size_t n_j, size_t *bytes)
{
    return (int)gpunb_cuda_softened_bytes(n_i, n_j, bytes);
}

static int softened_sum(const struct device_softened *job, void *work, struct nbd_stream *stream)
{
    return (int)gpunb_cuda_softened_sum(job, work, (cudaStream_t)stream);
}

static const struct gpunb_tree_kernels tree_kernels = {
    .check = gpunb_cuda_tree_check,
    .begin = gpunb_cuda_tree_begin,
    .keys = gpunb_cuda_tree_keys,
    .ties = gpunb_cuda_tree_ties,
    .next_keys = gpunb_cuda_tree_next_keys,
    .take_runs = gpunb_cuda_tree_take_runs,
    .take_keys = gpunb_cuda_tree_take_keys,
    .link = gpunb_cuda_tree_link,
    .renumber = gpunb_cuda_tree_renumber,
    .gather = gpunb_cuda_tree_gather,
    .leaves = gpunb_cuda_tree_leaves,
    .wholes = gpunb_cuda_tree_wholes,
    .nodes = gpunb_cuda_tree_nodes,
    .targets = gpunb_cuda_tree_targets,
    .regions = gpunb_cuda_tree_regions,
    .walk = gpunb_cuda_tree_walk,
    .add_shares = gpunb_cuda_tree_add_shares,
    .measure = gpunb_cuda_tree_measure,
    .choose = gpunb_cuda_tree_choose,
    .write = gpunb_cuda_tree_write,
};

static const struct gpunb_regular_tree_kernels regular_tree_kernels = {
    .sources = gpunb_cuda_regular_tree_sources,
    .sort = gpunb_cuda_regular_tree_sort,
    .leaves = gpunb_cuda_regular_tree_leaves,
    .wholes = gpunb_cuda_regular_tree_wholes,
    .rows = gpunb_cuda_regular_tree_rows,
    .places = gpunb_cuda_regular_tree_places,
    .targets = gpunb_cuda_regular_tree_targets,
    .sizes = gpunb_cuda_regular_tree_sizes,
    .plan = gpunb_cuda_regular_tree_plan,
    .regions = gpunb_cuda_regular_tree_regions,
    .expand = gpunb_cuda_regular_tree_expand,
    .around = gpunb_cuda_regular_tree_around,
    .fields = gpunb_cuda_regular_tree_fields,
    .cells = gpunb_cuda_regular_tree_cells,
    .pairs = gpunb_cuda_regular_tree_pairs,
};

const struct gpunb_kernels gpunb_cuda_kernels = {
    .kind = &nbd_cuda,
    .devices = "CUDA devices",
    .store = store,
    .predict_share = predict_share,
    .keys = keys,
    .sort = sort,
    .sort64 = sort64,
    .tiles = tiles,
    .predicted_tiles = predicted_tiles,
    .rank = rank,
    .blocks_per_sm = blocks_per_sm,
    .force = force,
    .finish = finish,
    .regular_blocks = regular_blocks,
    .regular_prepare = regular_prepare,
    .regular_pairs = regular_pairs,
    .regular_viewers = regular_viewers,
    .regular_left = regular_left,
    .regular_finish = regular_finish,
    .regular_sources = regular_sources,
    .regular_ask = regular_ask,
    .regular_send = regular_send,
    .pot_tiles = pot_tiles,
    .potential = potential,
    .softened_bytes = softened_bytes,
    .softened_sum = softened_sum,
    .tree = &tree_kernels,
    .regular_tree = &regular_tree_kernels,
};
