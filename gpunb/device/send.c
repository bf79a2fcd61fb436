/* Sources: to the devices where they changed, and into tiles when a call needs them. */
#include "gpunb/device/device.h"

#include "common/team.h"
#include "gpunb/sizes.h"

#include <string.h>

enum { PIECES_OF_A_PART = 1 };

/* Round a range of sources into `to`; 1 if that changed anything. v: NULL for none. */
static int pack(struct device_source *to, size_t count, const double *mass, const double (*x)[3], const double (*v)[3])
{
    int changed = 0;
    for (size_t j = 0; j < count; j++) {
        struct device_source s = {.x = {x[j][0], x[j][1], x[j][2]}, .m = (float)mass[j]};
        for (int k = 0; v && k < 3; k++) s.v[k] = (float)v[j][k];
        changed |= memcmp(&to[j], &s, sizeof s) != 0;
        to[j] = s;
    }
    return changed;
}

/* Sources [begin, end) of a device, in pieces. */
struct packing {
    struct device_source *to;
    unsigned char *changed; /* [pieces] */
    size_t begin, end, j_first, pieces;
    const double *mass, (*x)[3], (*v)[3];
};

static void pack_part(void *context, int part, int parts)
{
    const struct packing *k = context;
    int64_t first, last;
    nbc_range((int64_t)k->pieces, part, parts, &first, &last);
    for (size_t p = (size_t)first; p < (size_t)last; p++) {
        const size_t j = k->begin + p * DEVICE_SEND_PIECE, all = k->j_first + j;
        k->changed[p] = (unsigned char)pack(k->to + j, gpunb_min_size(DEVICE_SEND_PIECE, k->end - j), k->mass + all,
                                            k->x + all, k->v ? k->v + all : NULL);
    }
}

/* Sources [begin, end) of this device: packed by all threads, then runs of changed pieces are sent. */
static int send_batch(struct device_state *devices, struct device_gpu *gpu, size_t begin, size_t end,
                      const double *mass, const double (*x)[3], const double (*v)[3], struct nbc_error *err)
{
    struct device_source *host = gpu->host_sources.data, *device = gpu->sources.data;
    size_t pieces = (end - begin + DEVICE_SEND_PIECE - 1) / DEVICE_SEND_PIECE;
    struct packing packing = {host, devices->changed, begin, end, gpu->j_first, pieces, mass, x, v};
    nbc_team_run(nbc_parts((int64_t)pieces, PIECES_OF_A_PART), pack_part, &packing);
    for (size_t p = 0; p < pieces; p++) {
        if (!devices->changed[p]) continue;
        size_t first = begin + p * DEVICE_SEND_PIECE;
        while (p + 1 < pieces && devices->changed[p + 1]) p++;
        size_t last = gpunb_min_size(begin + (p + 1) * DEVICE_SEND_PIECE, end);
        NBD_TRY(nbd_copy(&gpu->device, gpu->stream, device + first, host + first, (last - first) * sizeof *host, err));
        gpu->bytes_sent += (last - first) * sizeof *host;
        gpu->plain.ready = gpu->curved.ready = 0;
    }
    return NBC_OK;
}

static struct gpunb_map map_of(size_t n, const double (*x)[3])
{
    double sample[DEVICE_SAMPLE][3];
    const size_t count = gpunb_device_sample(n);
    for (size_t s = 0; s < count; s++) memcpy(sample[s], x[s * n / count], sizeof sample[s]);
    return gpunb_device_make_map(count, (const double(*)[3])sample);
}

void gpunb_device_forget(struct device_gpu *gpu)
{
    memset(gpu->host_sources.data, 0xff, gpu->host_sources.bytes); /* NaN: equal to no source */
    gpu->predicted = 0;
}

/* This device's share of the sources. */
static int send_share(struct device_state *devices, struct device_gpu *gpu, size_t first, size_t end,
                      const double *mass, const double (*x)[3], const double (*v)[3], struct nbc_error *err)
{
    if (gpu->predicted) gpunb_device_forget(gpu);
    gpu->expected = 0;
    if (gpu->j_first != first || gpu->n_j != end - first) gpu->plain.ready = gpu->curved.ready = 0;
    gpu->j_first = first;
    gpu->n_j = end - first;
    NBD_TRY(nbd_use(&gpu->device, err));
    NBD_TRY(nbd_event_wait(&gpu->device, gpu->sent, err));
    for (size_t j = 0; j < gpu->n_j; j += (size_t)DEVICE_SEND_PIECE * DEVICE_SEND_PIECES) {
        size_t stop = gpunb_min_size(j + (size_t)DEVICE_SEND_PIECE * DEVICE_SEND_PIECES, gpu->n_j);
        NBD_TRY(send_batch(devices, gpu, j, stop, mass, x, v, err));
    }
    NBD_TRY(nbd_event_record(&gpu->device, gpu->sent, gpu->stream, err));
    return NBC_OK;
}

int gpunb_device_send(void *state, size_t n_j, const double *mass, const double (*x)[3], const double (*v)[3],
                      struct nbc_error *err)
{
    struct device_state *devices = state;
    size_t n_gpus = (size_t)devices->n_gpus;
    if (n_j > 0) devices->map = map_of(n_j, x);
    for (size_t g = 0; g < n_gpus; g++) {
        struct device_gpu *gpu = &devices->gpus[g];
        int status = send_share(devices, gpu, n_j * g / n_gpus, n_j * (g + 1) / n_gpus, mass, x, v, err);
        if (status == NBC_OK) continue;
        gpunb_device_forget(gpu); /* packed sources may not have arrived */
        return status;
    }
    gpunb_device_refuse_nobody(devices);
    devices->n_j = n_j;
    return NBC_OK;
}

int gpunb_device_reserve_sort(struct device_gpu *gpu, size_t n, struct nbc_error *err)
{
    size_t bytes = 0;
    NBD_TRY(gpunb_device_reserve(gpu, &gpu->keys, 2 * n * sizeof(uint32_t), err));
    NBD_TRY(gpunb_device_reserve(gpu, &gpu->places, n * sizeof(int32_t), err));
    NBD_LAUNCH(err, &gpu->device, gpu->kernels->sort(NULL, &bytes, NULL, NULL, NULL, NULL, (int)n, gpu->stream));
    return gpunb_device_reserve(gpu, &gpu->sort_scratch, bytes, err);
}

int gpunb_device_sort(struct device_gpu *gpu, const struct device_positions *positions, const struct gpunb_map *map,
                      int32_t *order, struct nbc_error *err)
{
    uint32_t *keys = gpu->keys.data;
    int32_t *places = gpu->places.data;
    size_t bytes = gpu->sort_scratch.bytes;
    NBD_LAUNCH(err, &gpu->device, gpu->kernels->keys(positions, map, keys, places, gpu->stream));
    NBD_LAUNCH(err, &gpu->device,
               gpu->kernels->sort(gpu->sort_scratch.data, &bytes, keys, keys + positions->n, places, order,
                                  positions->n, gpu->stream));
    return NBC_OK;
}

/* Make sources that are expected, and tiles. */
static int make_tiles(struct device_state *devices, struct device_gpu *gpu, int curved, const struct device_copy *copy,
                      const struct device_layout *layout, struct nbc_error *err)
{
    if (gpu->expected && !curved) {
        NBD_LAUNCH(err, &gpu->device, gpu->kernels->predicted_tiles(&gpu->prediction, layout, copy, gpu->stream));
        gpu->expected = 0;
        return NBC_OK;
    }
    const struct device_source *sources = gpu->sources.data;
    const struct device_positions positions = {sources->x, sizeof *sources, 0, (int)gpu->n_j};
    NBD_TRY(gpunb_device_make_expected(gpu, err));
    if (curved) NBD_TRY(gpunb_device_sort(gpu, &positions, &devices->map, layout->index, err));
    NBD_LAUNCH(err, &gpu->device, gpu->kernels->tiles(sources, (int)gpu->n_j, !curved, layout, copy, gpu->stream));
    return NBC_OK;
}

int gpunb_device_tiling(struct device_state *devices, struct device_gpu *gpu, int curved,
                        const struct device_copy *copy, struct device_layout *layout, struct nbc_error *err)
{
    struct device_tiling *tiling = curved ? &gpu->curved : &gpu->plain;
    size_t tiles = (gpu->n_j_max + DEVICE_TILE - 1) / DEVICE_TILE;
    NBD_TRY(gpunb_device_reserve(gpu, &tiling->tiles, tiles * DEVICE_TILE_BYTES, err));
    NBD_TRY(gpunb_device_reserve(gpu, &tiling->index, 2 * tiles * DEVICE_TILE * sizeof(int32_t), err));
    layout->tiles = tiling->tiles.data;
    layout->index = tiling->index.data;
    layout->place = layout->index + tiles * DEVICE_TILE;
    if (tiling->ready || gpu->n_j == 0) return NBC_OK;
    NBD_TRY(make_tiles(devices, gpu, curved, copy, layout, err));
    tiling->ready = 1;
    return NBC_OK;
}
