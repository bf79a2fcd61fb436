/* Sources: to the devices where they changed, and into tiles when a call needs them. */
#include "gpunb/cuda/gpu.h"
#include "gpunb/sizes.h"

#include <string.h>

enum { SEND_SERIAL = 8000 }; /* sources up to which one thread packs */

/* Round a range of sources into `to`; 1 if that changed anything. v: NULL for none. */
static int pack(struct cuda_source *to, size_t count, const double *mass, const double (*x)[3], const double (*v)[3])
{
    int changed = 0;
    for (size_t j = 0; j < count; j++) {
        struct cuda_source s = {.x = {x[j][0], x[j][1], x[j][2]}, .m = (float)mass[j]};
        for (int k = 0; v && k < 3; k++) s.v[k] = (float)v[j][k];
        changed |= memcmp(&to[j], &s, sizeof s) != 0;
        to[j] = s;
    }
    return changed;
}

/* Sources [begin, end) of this device: packed by all threads, then runs of changed pieces are sent. */
static int send_batch(struct cuda_state *cuda, struct cuda_gpu *gpu, size_t begin, size_t end, const double *mass,
                      const double (*x)[3], const double (*v)[3], struct nbc_error *err)
{
    struct cuda_source *host = gpu->host_sources.data, *device = gpu->sources.data;
    size_t pieces = (end - begin + CUDA_SEND_PIECE - 1) / CUDA_SEND_PIECE;
#pragma omp parallel for schedule(static) if (end - begin > SEND_SERIAL)
    for (size_t p = 0; p < pieces; p++) {
        size_t j = begin + p * CUDA_SEND_PIECE, count = gpunb_min_size(CUDA_SEND_PIECE, end - j),
               all = gpu->j_first + j;
        cuda->changed[p] = (unsigned char)pack(host + j, count, mass + all, x + all, v ? v + all : NULL);
    }
    for (size_t p = 0; p < pieces; p++) {
        if (!cuda->changed[p]) continue;
        size_t first = begin + p * CUDA_SEND_PIECE;
        while (p + 1 < pieces && cuda->changed[p + 1]) p++;
        size_t last = gpunb_min_size(begin + (p + 1) * CUDA_SEND_PIECE, end);
        NBD_TRY(nbd_copy(&gpu->device, gpu->stream, device + first, host + first, (last - first) * sizeof *host, err));
        gpu->bytes_sent += (last - first) * sizeof *host;
        gpu->plain.ready = gpu->curved.ready = 0;
    }
    return NBC_OK;
}

static struct cuda_map map_of(size_t n, const double (*x)[3])
{
    double sample[CUDA_SAMPLE][3];
    const size_t count = gpunb_cuda_sample(n);
    for (size_t s = 0; s < count; s++) memcpy(sample[s], x[s * n / count], sizeof sample[s]);
    return gpunb_cuda_make_map(count, (const double(*)[3])sample);
}

void gpunb_cuda_forget(struct cuda_gpu *gpu)
{
    memset(gpu->host_sources.data, 0xff, gpu->host_sources.bytes); /* NaN: equal to no source */
    gpu->predicted = 0;
}

/* This device's share of the sources. */
static int send_share(struct cuda_state *cuda, struct cuda_gpu *gpu, size_t first, size_t end, const double *mass,
                      const double (*x)[3], const double (*v)[3], struct nbc_error *err)
{
    if (gpu->predicted) gpunb_cuda_forget(gpu);
    gpu->expected = 0;
    if (gpu->j_first != first || gpu->n_j != end - first) gpu->plain.ready = gpu->curved.ready = 0;
    gpu->j_first = first;
    gpu->n_j = end - first;
    NBD_TRY(nbd_use(&gpu->device, err));
    NBD_TRY(nbd_event_wait(&gpu->device, gpu->sent, err));
    for (size_t j = 0; j < gpu->n_j; j += (size_t)CUDA_SEND_PIECE * CUDA_SEND_PIECES) {
        size_t stop = gpunb_min_size(j + (size_t)CUDA_SEND_PIECE * CUDA_SEND_PIECES, gpu->n_j);
        NBD_TRY(send_batch(cuda, gpu, j, stop, mass, x, v, err));
    }
    NBD_TRY(nbd_event_record(&gpu->device, gpu->sent, gpu->stream, err));
    return NBC_OK;
}

int gpunb_cuda_send(void *state, size_t n_j, const double *mass, const double (*x)[3], const double (*v)[3],
                    struct nbc_error *err)
{
    struct cuda_state *cuda = state;
    size_t n_gpus = (size_t)cuda->n_gpus;
    if (n_j > 0) cuda->map = map_of(n_j, x);
    for (size_t g = 0; g < n_gpus; g++) {
        struct cuda_gpu *gpu = &cuda->gpus[g];
        int status = send_share(cuda, gpu, n_j * g / n_gpus, n_j * (g + 1) / n_gpus, mass, x, v, err);
        if (status == NBC_OK) continue;
        gpunb_cuda_forget(gpu); /* packed sources may not have arrived */
        return status;
    }
    gpunb_cuda_refuse_nobody(cuda);
    cuda->n_j = n_j;
    return NBC_OK;
}

/* index[k] = source at place k along the curve */
static int sort_along_curve(struct cuda_state *cuda, struct cuda_gpu *gpu, int32_t *index, struct nbc_error *err)
{
    int n = (int)gpu->n_j;
    NBD_TRY(gpunb_cuda_reserve(gpu, &gpu->keys, 2 * gpu->n_j * sizeof(uint32_t), err));
    NBD_TRY(gpunb_cuda_reserve(gpu, &gpu->places, gpu->n_j * sizeof(int32_t), err));
    uint32_t *keys = gpu->keys.data;
    int32_t *places = gpu->places.data;
    size_t bytes = 0;
    NBD_LAUNCH(err, &gpu->device,
               gpunb_cuda_source_keys(gpu->sources.data, n, &cuda->map, keys, places, stream_of(gpu->stream)));
    NBD_LAUNCH(err, &gpu->device,
               gpunb_cuda_sort(NULL, &bytes, keys, keys + n, places, index, n, stream_of(gpu->stream)));
    NBD_TRY(gpunb_cuda_reserve(gpu, &gpu->sort_scratch, bytes, err));
    NBD_LAUNCH(
        err, &gpu->device,
        gpunb_cuda_sort(gpu->sort_scratch.data, &bytes, keys, keys + n, places, index, n, stream_of(gpu->stream)));
    return NBC_OK;
}

/* Make sources that are expected, and tiles. */
static int make_tiles(struct cuda_state *cuda, struct cuda_gpu *gpu, int curved, const struct cuda_copy *copy,
                      const struct cuda_layout *layout, struct nbc_error *err)
{
    if (gpu->expected && !curved) {
        gpu->expected = 0;
        NBD_LAUNCH(err, &gpu->device,
                   gpunb_cuda_predicted_tiles(&gpu->prediction, layout, copy, stream_of(gpu->stream)));
        return NBC_OK;
    }
    NBD_TRY(gpunb_cuda_make_expected(gpu, err));
    if (curved) NBD_TRY(sort_along_curve(cuda, gpu, layout->index, err));
    NBD_LAUNCH(err, &gpu->device,
               gpunb_cuda_tiles(gpu->sources.data, (int)gpu->n_j, !curved, layout, copy, stream_of(gpu->stream)));
    return NBC_OK;
}

int gpunb_cuda_tiling(struct cuda_state *cuda, struct cuda_gpu *gpu, int curved, const struct cuda_copy *copy,
                      struct cuda_layout *layout, struct nbc_error *err)
{
    struct cuda_tiling *tiling = curved ? &gpu->curved : &gpu->plain;
    size_t tiles = (gpu->n_j_max + CUDA_TILE - 1) / CUDA_TILE;
    NBD_TRY(gpunb_cuda_reserve(gpu, &tiling->tiles, tiles * CUDA_TILE_UNITS * sizeof(float4), err));
    NBD_TRY(gpunb_cuda_reserve(gpu, &tiling->index, 2 * tiles * CUDA_TILE * sizeof(int32_t), err));
    layout->tiles = tiling->tiles.data;
    layout->index = tiling->index.data;
    layout->place = layout->index + tiles * CUDA_TILE;
    if (tiling->ready || gpu->n_j == 0) return NBC_OK;
    NBD_TRY(make_tiles(cuda, gpu, curved, copy, layout, err));
    tiling->ready = 1;
    return NBC_OK;
}
