/* Regular forces in device memory (gpunb/regf_device.h): the kernels of device/regular.h, one after the other, on all
 * devices of a handle. */
#include "gpunb/device/regular.h"

#include "gpunb/device/device.h"
#include "gpunb/device/regular_tree_host.h"
#include "gpunb/regf_device.h"

/* ---- memory */

/* Bytes of the scratch for n sources. */
static size_t bytes_for(size_t n, size_t gpus, int blocks)
{
    struct gpunb_dev_job job = {0};
    struct nbd_supply s = {0};
    gpunb_dev_lay_out(&job, &s, n, gpus, blocks);
    (void)nbd_take(&s, (size_t)gpunb_dev_found_room((int64_t)n, (int64_t)gpus), sizeof *job.sums.found);
    return s.bytes;
}

/* Memory of another device: its copies of tiles and viewers, its sums of pairs. */
static void lay_out_other(struct gpunb_dev_sums *sums, struct nbd_supply *s, size_t n)
{
    const size_t chunks = (size_t)gpunb_dev_chunks_of((int64_t)n), groups = n / GPUNB_DEV_GROUP + 1;
    sums->tile = nbd_take(s, chunks, sizeof *sums->tile);
    sums->viewer = nbd_take(s, GPUNB_DEV_MOST_VIEWERS, sizeof *sums->viewer);
    sums->mutual = nbd_take(s, (size_t)gpunb_dev_mutual((int64_t)groups), sizeof *sums->mutual);
    sums->counter = nbd_take(s, GPUNB_DEV_COUNTERS, sizeof *sums->counter);
}

/* ---- devices that share the sums */

static int open_streams(struct device_gpu *gpu, struct nbc_error *err)
{
    if (!gpu->regular_event) NBD_TRY(nbd_event_open(&gpu->device, &gpu->regular_event, err));
    return gpu->regular_stream ? NBC_OK : nbd_stream_open(&gpu->device, NBD_MIDDLE, &gpu->regular_stream, err);
}

/* Whether a device can help the first one: it is as large, and they reach each other's memory. */
static int can_help(struct device_state *devices, int g)
{
    const struct nbd_device *first = &devices->gpus[0].device, *other = &devices->gpus[g].device;
    int blocks = 0;
    return nbd_reach(first, other) && nbd_reach(other, first) && !nbd_use(other, NULL) &&
           devices->gpus[g].kernels->regular_blocks(other->number, &blocks) == 0 && blocks == devices->regular_blocks;
}

/* How many blocks of threads, and the devices that share the sums, the first ones of the handle. */
static int find_helpers(struct device_state *devices, struct nbc_error *err)
{
    struct device_gpu *first = &devices->gpus[0];
    if (devices->regular_gpus > 0) return NBC_OK;
    NBD_TRY(nbd_use(&first->device, err));
    NBD_LAUNCH(err, &first->device, first->kernels->regular_blocks(first->device.number, &devices->regular_blocks));
    if (devices->regular_blocks == 0)
        return nbc_fail(err, NBC_UNAVAILABLE,
                        "gpunb_regf_device: thread blocks cannot wait for each other on %s (cooperative launch)",
                        first->device.name);
    int gpus = 1;
    while (gpus < devices->n_gpus && can_help(devices, gpus)) gpus++;
    NBD_TRY(nbd_use(&first->device, err));
    for (int g = 0; g < gpus; g++) NBD_TRY(open_streams(&devices->gpus[g], err));
    devices->regular_gpus = gpus;
    return NBC_OK;
}

/* Memory of another device for up to n sources. */
static int reserve_other(struct device_gpu *gpu, size_t n, struct nbc_error *err)
{
    struct gpunb_dev_sums sums;
    struct nbd_supply there = {0};
    lay_out_other(&sums, &there, n);
    if (there.bytes <= gpu->regular.bytes) return NBC_OK;
    NBD_TRY(nbd_use(&gpu->device, err));
    NBD_TRY(nbd_stream_wait(&gpu->device, gpu->regular_stream, err));
    return gpunb_device_reserve(gpu, &gpu->regular, there.bytes, err);
}

/* Those of direct sums, then those of a tree. */
static int all_bytes(struct device_state *devices, const struct gpunb_tree_use *use, size_t n, size_t *bytes,
                     struct nbc_error *err)
{
    size_t of_tree = 0;
    if (use) NBD_TRY(gpunb_device_regular_tree_bytes(devices, use, n, &of_tree, err));
    *bytes = bytes_for(n, (size_t)devices->regular_gpus, devices->regular_blocks) + of_tree;
    return NBC_OK;
}

int gpunb_device_regf_device_bytes(void *state, const struct gpunb_tree_use *use, size_t n_j, size_t *bytes,
                                   struct nbc_error *err)
{
    struct device_state *devices = state;
    NBD_TRY(find_helpers(devices, err));
    for (int g = 1; g < devices->regular_gpus; g++) NBD_TRY(reserve_other(&devices->gpus[g], n_j, err));
    NBD_TRY(nbd_use(&devices->gpus[0].device, err));
    if (n_j > devices->regular_room) devices->regular_room = n_j;
    return all_bytes(devices, use, n_j, bytes, err);
}

int gpunb_device_regf_devices(const void *state, int *first)
{
    const struct device_state *devices = state;
    *first = devices->gpus[0].device.number;
    return devices->regular_gpus;
}

/* ---- a call */

/* The same for another device. */
static struct gpunb_dev_job job_of(const struct device_regular *c, int g)
{
    struct gpunb_dev_job job = c->job;
    struct nbd_supply there = {.next = c->devices->gpus[g].regular.data};
    if (g > 0) lay_out_other(&job.sums, &there, (size_t)job.sums.n);
    return job;
}

/* The others begin when the first device has come so far. */
static int call_others(const struct device_regular *c, struct nbc_error *err)
{
    const struct device_gpu *first = &c->devices->gpus[0];
    return c->gpus > 1 ? nbd_event_record(&first->device, first->regular_event, c->stream, err) : NBC_OK;
}

/* A device goes on after the first one, and is current. */
static int follow_first(const struct device_regular *c, const struct device_gpu *gpu, struct nbc_error *err)
{
    NBD_TRY(nbd_use(&gpu->device, err));
    return nbd_event_await(&gpu->device, c->devices->gpus[0].regular_event, gpu->regular_stream, err);
}

/* The first device, which is current again, goes on when all others are done. */
static int await_others(const struct device_regular *c, struct nbc_error *err)
{
    const struct device_gpu *first = &c->devices->gpus[0];
    for (int g = 1; g < c->gpus; g++) {
        const struct device_gpu *gpu = &c->devices->gpus[g];
        NBD_TRY(nbd_use(&gpu->device, err));
        NBD_TRY(nbd_event_record(&gpu->device, gpu->regular_event, gpu->regular_stream, err));
        NBD_TRY(nbd_use(&first->device, err));
        NBD_TRY(nbd_event_await(&first->device, gpu->regular_event, c->stream, err));
    }
    return NBC_OK;
}

/* Copies of the tiles, for all calls until the next sort. */
static int send_tiles(const struct device_regular *c, struct nbc_error *err)
{
    const struct nbd_device *first = &c->devices->gpus[0].device;
    const size_t bytes = (size_t)gpunb_dev_chunks(&c->job.sums) * sizeof *c->job.sums.tile;
    for (int g = 1; g < c->gpus; g++) {
        const struct device_gpu *gpu = &c->devices->gpus[g];
        const struct gpunb_dev_job own = job_of(c, g);
        NBD_TRY(follow_first(c, gpu, err));
        NBD_TRY(nbd_copy_from(&gpu->device, gpu->regular_stream, own.sums.tile, first, c->job.sums.tile, bytes, err));
    }
    return NBC_OK;
}

/* Sums of pairs of targets on another device, and their way back. */
static int sum_pairs_on(const struct device_regular *c, int g, struct nbc_error *err)
{
    const struct device_gpu *gpu = &c->devices->gpus[g];
    const struct gpunb_dev_job own = job_of(c, g);
    const size_t numbers = (size_t)gpunb_dev_mutual(c->job.groups), bytes = numbers * sizeof *own.sums.mutual;
    const struct nbd_device *d = &gpu->device;
    NBD_TRY(nbd_use(d, err));
    NBD_TRY(nbd_fill(d, gpu->regular_stream, own.sums.mutual, 0, bytes, err));
    NBD_TRY(nbd_fill(d, gpu->regular_stream, own.sums.counter, 0, GPUNB_DEV_COUNTERS * sizeof *own.sums.counter, err));
    NBD_LAUNCH(err, d, gpu->kernels->regular_pairs(&own, g, c->blocks, gpu->regular_stream));
    return nbd_copy(d, gpu->regular_stream, c->job.sums.mutual + (size_t)g * numbers, own.sums.mutual, bytes, err);
}

static int sum_pairs(const struct device_regular *c, struct nbc_error *err)
{
    const struct device_gpu *first = &c->devices->gpus[0];
    if (c->job.groups == 0) return NBC_OK;
    for (int g = 1; g < c->gpus; g++) NBD_TRY(sum_pairs_on(c, g, err));
    NBD_TRY(nbd_use(&first->device, err));
    NBD_LAUNCH(err, &first->device, first->kernels->regular_pairs(&c->job, 0, c->blocks, c->stream));
    return await_others(c, err);
}

/* The share of another device in the remaining sums of a round. */
static int sum_left_on(const struct device_regular *c, int g, int64_t begin, int64_t n, struct nbc_error *err)
{
    const struct device_gpu *gpu = &c->devices->gpus[g];
    const struct gpunb_dev_job own = job_of(c, g);
    NBD_TRY(follow_first(c, gpu, err));
    NBD_TRY(nbd_copy_from(&gpu->device, gpu->regular_stream, own.sums.viewer, &c->devices->gpus[0].device,
                          c->job.sums.viewer, (size_t)n * sizeof *own.sums.viewer, err));
    NBD_LAUNCH(err, &gpu->device, gpu->kernels->regular_left(&own, begin, n, g, c->blocks, gpu->regular_stream));
    return NBC_OK;
}

int gpunb_device_regular_round(const struct device_regular *c, int64_t begin, struct nbc_error *err)
{
    if (c->by_tree) return NBC_OK;
    const int64_t n = c->job.n - begin < c->job.each ? c->job.n - begin : c->job.each;
    const struct device_gpu *first = &c->devices->gpus[0];
    const struct gpunb_kernels *kernels = first->kernels;
    NBD_LAUNCH(err, &first->device, kernels->regular_viewers(&c->job, begin, n, c->stream));
    NBD_TRY(call_others(c, err));
    for (int g = 1; g < c->gpus; g++) NBD_TRY(sum_left_on(c, g, begin, n, err));
    NBD_TRY(nbd_use(&first->device, err));
    NBD_LAUNCH(err, &first->device, kernels->regular_left(&c->job, begin, n, 0, c->blocks, c->stream));
    NBD_TRY(await_others(c, err));
    NBD_LAUNCH(err, &first->device, kernels->regular_finish(&c->job, begin, n, c->blocks, c->stream));
    return NBC_OK;
}

static struct device_regular call_for(struct device_state *devices, const struct gpunb_regf_device *job,
                                      struct nbd_stream *stream)
{
    struct device_regular c = {.devices = devices, .stream = stream, .blocks = devices->regular_blocks};
    struct nbd_supply scratch = {.next = job->scratch};
    const size_t gpus = (size_t)devices->regular_gpus;
    c.gpus = devices->regular_gpus;
    gpunb_dev_lay_out(&c.job, &scratch, job->n_j, gpus, c.blocks);
    c.job.sums.weighted = job->weighted;
    c.job.sums.source = job->source;
    c.job.asked = job->asked;
    c.job.n = (int64_t)job->n_i;
    const int64_t of_warps = (int64_t)c.gpus * c.blocks * GPUNB_DEV_WARPS * GPUNB_DEV_LANES; /* two for each group */
    if (c.job.sums.most > of_warps) c.job.sums.most = of_warps;
    c.job.each = gpunb_dev_each((int64_t)job->n_i, c.job.sums.most);
    c.job.groups = job->is_again ? 0 : gpunb_dev_groups((int64_t)job->n_i, (int64_t)job->n_j);
    c.job.lists = job->lists;
    c.job.row_room = (int64_t)job->row_room;
    return c;
}

/* Whether the handle is ready, and the scratch is enough. */
static int check(struct device_state *devices, const struct gpunb_tree_use *use, const struct gpunb_regf_device *job,
                 struct nbc_error *err)
{
    size_t bytes;
    if (devices->regular_room < job->n_j)
        return nbc_fail(err, NBC_BAD_STATE,
                        "gpunb_regf_device: %zu sources, but gpunb_regf_device_bytes was asked for %zu", job->n_j,
                        devices->regular_room);
    NBD_TRY(all_bytes(devices, use, job->n_j, &bytes, err));
    if (job->scratch_bytes < bytes)
        return nbc_fail(err, NBC_BAD_ARGUMENT, "gpunb_regf_device: there are %zu bytes of scratch, and %zu are needed",
                        job->scratch_bytes, bytes);
    return NBC_OK;
}

int gpunb_device_regular_by_tree(struct device_state *devices, struct gpunb_tree_use *use, uint64_t version,
                                 const struct gpunb_regf_device *job, struct nbd_stream *stream,
                                 struct device_regular *call, struct nbc_error *err)
{
    const int32_t *order;
    NBD_TRY(check(devices, use, job, err));
    char *scratch = (char *)job->scratch + bytes_for(job->n_j, (size_t)devices->regular_gpus, devices->regular_blocks);
    *call = call_for(devices, job, stream);
    NBD_TRY(gpunb_device_regular_tree(devices, use, job, version, scratch, stream, &order, err));
    call->by_tree = order != NULL;
    if (order) call->job.ask_at = (int32_t *)(uintptr_t)order;
    return NBC_OK;
}

int gpunb_device_regular_begin(struct device_state *devices, const struct gpunb_regf_device *job,
                               struct nbd_stream *stream, struct device_regular *call, struct nbc_error *err)
{
    const struct device_gpu *first = &devices->gpus[0];
    NBD_TRY(check(devices, NULL, job, err));
    *call = call_for(devices, job, stream);
    NBD_TRY(nbd_use(&first->device, err));
    NBD_LAUNCH(err, &first->device,
               first->kernels->regular_prepare(&call->job, job->is_again, call->blocks, call->stream));
    NBD_TRY(call_others(call, err));
    if (!job->is_again) NBD_TRY(send_tiles(call, err));
    return sum_pairs(call, err);
}

int gpunb_device_regf_device(void *state, struct gpunb_tree_use *use, const struct gpunb_regf_device *job, void *stream,
                             struct nbc_error *err)
{
    struct device_regular call = {0};
    if (use) NBD_TRY(gpunb_device_regular_by_tree(state, use, 0, job, stream, &call, err));
    if (call.by_tree) return NBC_OK;
    NBD_TRY(gpunb_device_regular_begin(state, job, stream, &call, err));
    for (int64_t begin = 0; begin < call.job.n; begin += call.job.each)
        NBD_TRY(gpunb_device_regular_round(&call, begin, err));
    return NBC_OK;
}
