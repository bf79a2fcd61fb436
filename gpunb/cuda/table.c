/* The kernels of CUDA, as the host side asks for them. */
#include "gpunb/cuda/table.h"

#include "device/device.h"
#include "gpunb/cuda/kernels.h"
#include "gpunb/cuda/softened_job.h"

static int store(const struct gpunb_jp *from, const unsigned char *marks, unsigned char mark, int n,
                 struct gpunb_jp *jp, uint64_t *count, struct nbd_stream *stream)
{
    return (int)gpunb_cuda_store(from, marks, mark, n, jp, count, (cudaStream_t)stream);
}

static int predict_share(const struct device_prediction *prediction, struct nbd_stream *stream)
{
    return (int)gpunb_cuda_predict_share(prediction, (cudaStream_t)stream);
}

static int source_keys(const struct device_source *sources, int n, const struct gpunb_map *map, uint32_t *keys,
                       int32_t *places, struct nbd_stream *stream)
{
    return (int)gpunb_cuda_source_keys(sources, n, map, keys, places, (cudaStream_t)stream);
}

static int target_keys(const struct device_targets *targets, const struct gpunb_map *map, uint32_t *keys,
                       int32_t *places, struct nbd_stream *stream)
{
    return (int)gpunb_cuda_target_keys(targets, map, keys, places, (cudaStream_t)stream);
}

static int sort(void *scratch, size_t *bytes, const uint32_t *keys, uint32_t *sorted_keys, const int32_t *places,
                int32_t *sorted_places, int n, struct nbd_stream *stream)
{
    return (int)gpunb_cuda_sort(scratch, bytes, keys, sorted_keys, places, sorted_places, n, (cudaStream_t)stream);
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

static int body_keys(const struct device_body *bodies, int first, int n, const struct gpunb_map *map, uint32_t *keys,
                     int32_t *places, struct nbd_stream *stream)
{
    return (int)gpunb_cuda_body_keys(bodies, first, n, map, keys, places, (cudaStream_t)stream);
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

const struct gpunb_kernels gpunb_cuda_kernels = {
    .kind = &nbd_cuda,
    .devices = "CUDA devices",
    .store = store,
    .predict_share = predict_share,
    .source_keys = source_keys,
    .target_keys = target_keys,
    .sort = sort,
    .tiles = tiles,
    .predicted_tiles = predicted_tiles,
    .rank = rank,
    .blocks_per_sm = blocks_per_sm,
    .force = force,
    .finish = finish,
    .body_keys = body_keys,
    .pot_tiles = pot_tiles,
    .potential = potential,
    .softened_bytes = softened_bytes,
    .softened_sum = softened_sum,
};
