/* The potential of all stars: targets divided among the devices, each of which has all bodies. */
#include "common/team.h"
#include "gpunb/device/device.h"
#include "gpunb/sizes.h"

#include <string.h>

enum { POT_MIN_TILES = 8, POT_BLOCKS_PER_SM = 16, POT_BODIES_OF_A_PART = 8192 };

/* Work of a block of threads, at most some milliseconds: forces, which may overtake a potential, have to wait until
 * one ends. */
enum { POT_MOST_TILES = 2048 };

/* A potential under way on one device. */
struct pot_share {
    const struct gpunb_pot_job *job;
    struct gpunb_map map;
    size_t begin, end; /* places along the curve, of the targets that it computes */
    int is_all;        /* of all targets; else the others' potentials are 0 */
};

/* The bodies [first, first + n) in order along the curve. */
static int sort_bodies(struct device_gpu *gpu, const struct gpunb_map *map, size_t first, size_t n, int32_t *order,
                       struct nbc_error *err)
{
    const struct device_body *bodies = gpu->bodies.data;
    const struct device_positions positions = {bodies->x, sizeof *bodies, (int)first, (int)n};
    size_t bytes = 0;
    NBD_TRY(gpunb_device_reserve(gpu, &gpu->pot_keys, n * (2 * sizeof(uint32_t) + sizeof(int32_t)), err));
    uint32_t *keys = gpu->pot_keys.data;
    int32_t *places = (void *)(keys + 2 * n);
    NBD_LAUNCH(err, &gpu->device, gpu->kernels->keys(&positions, map, keys, places, gpu->pot_stream));
    NBD_LAUNCH(err, &gpu->device,
               gpu->kernels->sort(NULL, &bytes, keys, keys + n, places, order, (int)n, gpu->pot_stream));
    NBD_TRY(gpunb_device_reserve(gpu, &gpu->pot_scratch, bytes, err));
    NBD_LAUNCH(
        err, &gpu->device,
        gpu->kernels->sort(gpu->pot_scratch.data, &bytes, keys, keys + n, places, order, (int)n, gpu->pot_stream));
    return NBC_OK;
}

static int reserve(struct device_gpu *gpu, const struct pot_share *share, size_t splits, struct nbc_error *err)
{
    const size_t n = share->job->n, n_i = share->job->n_i, tiles = gpunb_ceil_div(n, DEVICE_POT_TILE);
    NBD_TRY(gpunb_device_reserve(gpu, &gpu->bodies, n * sizeof(struct device_body), err));
    NBD_TRY(gpunb_device_reserve(gpu, &gpu->pot_order, (n + n_i) * sizeof(int32_t), err));
    NBD_TRY(gpunb_device_reserve(gpu, &gpu->pot_tiles, tiles * sizeof(struct device_pot_tile), err));
    NBD_TRY(gpunb_device_reserve(gpu, &gpu->pot_sorted, tiles * DEVICE_POT_TILE * sizeof(struct device_body), err));
    NBD_TRY(gpunb_device_reserve(gpu, &gpu->pot_partial, splits * (share->end - share->begin) * sizeof(double), err));
    NBD_TRY(gpunb_device_reserve(gpu, &gpu->pot, n_i * sizeof(double), err));
    return gpunb_device_reserve(gpu, &gpu->host_pot, n_i * sizeof(double), err);
}

/* Bodies on the device, in tiles; *order: of the targets. */
static int prepare(const struct device_state *devices, struct device_gpu *gpu, const struct pot_share *share,
                   int32_t **order, struct nbc_error *err)
{
    const struct gpunb_pot_job *job = share->job;
    const size_t bytes = job->n * sizeof(struct device_body);
    int32_t *index = gpu->pot_order.data;
    NBD_TRY(nbd_copy(&gpu->device, gpu->pot_stream, gpu->bodies.data, devices->host_bodies.data, bytes, err));
    gpu->bytes_sent += bytes;
    NBD_TRY(sort_bodies(gpu, &share->map, 0, job->n, index, err));
    *order = job->n_i == job->n ? index : index + job->n;
    if (*order != index) NBD_TRY(sort_bodies(gpu, &share->map, job->i_first, job->n_i, *order, err));
    NBD_LAUNCH(err, &gpu->device,
               gpu->kernels->pot_tiles(gpu->bodies.data, (int)job->n, index, gpu->pot_tiles.data, gpu->pot_sorted.data,
                                       gpu->pot_stream));
    return NBC_OK;
}

/* Enqueued, up to the copy to gpu->host_pot. */
static int launch(const struct device_state *devices, struct device_gpu *gpu, const struct pot_share *share,
                  struct nbc_error *err)
{
    const struct gpunb_pot_job *job = share->job;
    const size_t n = share->end - share->begin, tiles = gpunb_ceil_div(job->n, DEVICE_POT_TILE);
    size_t splits = (size_t)gpu->device.multiprocessors * POT_BLOCKS_PER_SM / (gpunb_ceil_div(n, DEVICE_POT_BLOCK) + 1);
    int32_t *order = NULL;
    if (splits < tiles / POT_MOST_TILES) splits = tiles / POT_MOST_TILES;
    if (splits > tiles / POT_MIN_TILES) splits = tiles / POT_MIN_TILES;
    if (splits < 1) splits = 1;
    NBD_TRY(nbd_use(&gpu->device, err));
    NBD_TRY(reserve(gpu, share, splits, err));
    NBD_TRY(prepare(devices, gpu, share, &order, err));
    double *pot = gpu->pot.data;
    if (!share->is_all) NBD_TRY(nbd_fill(&gpu->device, gpu->pot_stream, pot, 0, job->n_i * sizeof *pot, err));
    const struct device_potential potential = {.bodies = gpu->bodies.data,
                                               .tiles = gpu->pot_tiles.data,
                                               .sorted = gpu->pot_sorted.data,
                                               .n_tiles = (int)tiles,
                                               .order = order + share->begin,
                                               .i_first = (int)job->i_first,
                                               .n_i = (int)n,
                                               .partial = gpu->pot_partial.data};
    if (n > 0) NBD_LAUNCH(err, &gpu->device, gpu->kernels->potential(&potential, (int)splits, pot, gpu->pot_stream));
    NBD_TRY(nbd_copy(&gpu->device, gpu->pot_stream, gpu->host_pot.data, pot, job->n_i * sizeof *pot, err));
    return NBC_OK;
}

/* Where bodies are on the curve, from a sample of them. */
static struct gpunb_map map_of(const struct gpunb_pot_job *job)
{
    double sample[DEVICE_SAMPLE][3];
    const size_t count = gpunb_device_sample(job->n);
    for (size_t s = 0; s < count; s++) memcpy(sample[s], job->x[s * job->n / count], sizeof sample[s]);
    return gpunb_device_make_map(count, (const double(*)[3])sample);
}

/* Bodies of a job, where devices fetch them. */
struct staging {
    const struct gpunb_pot_job *job;
    struct device_body *bodies;
};

static void stage_part(void *context, int part, int parts)
{
    const struct staging *staging = context;
    const struct gpunb_pot_job *job = staging->job;
    int64_t first, end;
    nbc_range((int64_t)job->n, part, parts, &first, &end);
    for (int64_t j = first; j < end; j++)
        staging->bodies[j] = (struct device_body){{job->x[j][0], job->x[j][1], job->x[j][2]}, job->mass[j]};
}

/* 1: devices may still read the input of an abandoned potential from here */
static int stage_bodies(struct device_state *devices, const struct gpunb_pot_job *job, struct nbc_error *err)
{
    for (int g = 0; g < devices->n_gpus; g++) {
        NBD_TRY(nbd_use(&devices->gpus[g].device, err));
        NBD_TRY(nbd_stream_wait(&devices->gpus[g].device, devices->gpus[g].pot_stream, err));
    }
    NBD_TRY(gpunb_device_reserve(&devices->gpus[0], &devices->host_bodies, job->n * sizeof(struct device_body), err));
    struct staging staging = {job, devices->host_bodies.data};
    nbc_team_run(nbc_parts((int64_t)job->n, POT_BODIES_OF_A_PART), stage_part, &staging);
    return NBC_OK;
}

int gpunb_device_pot_start(void *state, const struct gpunb_pot_job *job, struct nbc_error *err)
{
    struct device_state *devices = state;
    const size_t n_gpus = (size_t)devices->n_gpus;
    struct pot_share share = {.job = job, .map = map_of(job), .is_all = n_gpus == 1};
    NBD_TRY(stage_bodies(devices, job, err));
    for (size_t g = 0; g < n_gpus; g++) {
        share.begin = job->n_i * g / n_gpus;
        share.end = job->n_i * (g + 1) / n_gpus;
        NBD_TRY(launch(devices, &devices->gpus[g], &share, err));
    }
    return NBC_OK;
}

/* Each potential is that of one device; the others return 0. */
int gpunb_device_pot(void *state, const struct gpunb_pot_job *job, struct nbc_error *err)
{
    struct device_state *devices = state;
    for (int g = 0; g < devices->n_gpus; g++) {
        struct device_gpu *gpu = &devices->gpus[g];
        const double *pot = gpu->host_pot.data;
        NBD_TRY(nbd_use(&gpu->device, err));
        NBD_TRY(nbd_stream_wait(&gpu->device, gpu->pot_stream, err));
        for (size_t i = 0; i < job->n_i; i++) job->pot[i] = g == 0 ? pot[i] : job->pot[i] + pot[i];
        devices->bytes_received += job->n_i * sizeof *pot;
    }
    return NBC_OK;
}
