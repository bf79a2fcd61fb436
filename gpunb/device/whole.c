#include "gpunb/device/whole.h"

#include "common/team.h"
#include "gpunb/device/regular.h"
#include "gpunb/regf_device.h"
#include "gpunb/sizes.h"
#include "gpunb/tree/method.h"

#include <math.h>

/* With fewer pairs on each multiprocessor the host takes longer to collect results than devices to make them, and the
 * wait for what they say of the targets is not worth it (docs/trials.md). */
static const double least_pairs = 6e7;

enum { TARGETS_OF_A_PART = 4096 };

static int is_worth(const struct device_call *call)
{
    const struct device_state *devices = call->devices;
    const size_t n_i = call->block->n_i, n_j = devices->n_j;
    const double least =
        devices->whole_pairs > 0 ? devices->whole_pairs : least_pairs * devices->gpus[0].device.multiprocessors;
    return (double)n_i * (double)n_j >= least && gpunb_dev_groups((int64_t)n_i, (int64_t)n_j) > 0;
}

int gpunb_device_may_be_whole(const struct device_call *call)
{
    const struct gpunb_block *b = call->block;
    return call->devices->twofloat && !b->pot && b->self && b->n_i <= call->devices->n_j &&
           (b->by_tree || is_worth(call));
}

/* Whether last accelerations are of use. */
static int has_sizes(const struct device_call *call)
{
    return call->block->by_tree && call->block->acc_last;
}

static void find_sizes(void *context, int part, int parts)
{
    const struct device_call *call = context;
    float *size = call->devices->whole.host_sizes.data;
    int64_t first, end;
    nbc_range((int64_t)call->block->n_i, part, parts, &first, &end);
    for (int64_t i = first; i < end; i++) {
        const double *a = call->block->acc_last[i];
        size[i] = (float)sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
    }
}

/* Sizes of last accelerations to the first device. */
static int send_sizes(const struct device_call *call, struct device_asking *asking, struct nbc_error *err)
{
    struct device_call own = *call;
    struct device_whole *w = &call->devices->whole;
    struct device_gpu *first = &call->devices->gpus[0];
    const size_t bytes = call->block->n_i * sizeof(float);
    if (!has_sizes(call)) return NBC_OK;
    nbc_team_run(nbc_parts((int64_t)call->block->n_i, TARGETS_OF_A_PART), find_sizes, &own);
    asking->size_last = w->sizes.data;
    first->bytes_sent += bytes;
    return nbd_copy(&first->device, first->stream, w->sizes.data, w->host_sizes.data, bytes, err);
}

/* Memory of the first device; without it the call goes another way. */
static int has_memory(struct device_state *devices, const struct device_call *call, size_t scratch_bytes)
{
    struct device_whole *w = &devices->whole;
    const struct device_gpu *first = &devices->gpus[0];
    const size_t n_i = call->block->n_i, n_j = devices->n_j, of_sizes = has_sizes(call) ? n_i * sizeof(float) : 0;
    w->flag.where = w->host_sizes.where = NBD_ON_HOST;
    return !nbd_use(&first->device, NULL) &&
           !nbd_buffer_reserve(&first->device, &w->sources, n_j * sizeof(struct gpunb_dev_source), NULL) &&
           !nbd_buffer_reserve(&first->device, &w->asked, n_i * sizeof(struct gpunb_dev_asked), NULL) &&
           !nbd_buffer_reserve(&first->device, &w->rows, n_i * call->list_cap * sizeof(int32_t), NULL) &&
           !nbd_buffer_reserve(&first->device, &w->scratch, scratch_bytes, NULL) &&
           !nbd_buffer_reserve(&first->device, &w->sizes, of_sizes, NULL) &&
           !nbd_buffer_reserve(&first->device, &w->host_sizes, of_sizes, NULL) &&
           !nbd_buffer_reserve(&first->device, &w->flag, sizeof(int), NULL);
}

/* Records of all sources on the first device, from the shares of all. */
static int gather_sources(const struct device_call *call, struct nbc_error *err)
{
    struct device_state *devices = call->devices;
    struct gpunb_dev_source *to = devices->whole.sources.data;
    const struct device_gpu *first = &devices->gpus[0];
    for (int g = devices->n_gpus; g-- > 0;) {
        struct device_gpu *gpu = &devices->gpus[g];
        NBD_TRY(nbd_use(&gpu->device, err));
        NBD_TRY(gpunb_device_make_expected(gpu, err));
        NBD_LAUNCH(err, &gpu->device,
                   gpu->kernels->regular_sources(gpu->sources.data, (int)gpu->n_j, call->block->mass_weighted,
                                                 to + gpu->j_first, gpu->stream));
        if (g > 0) NBD_TRY(nbd_event_record(&gpu->device, gpu->prepared, gpu->stream, err));
    }
    for (int g = 1; g < devices->n_gpus; g++)
        NBD_TRY(nbd_event_await(&first->device, devices->gpus[g].prepared, first->stream, err));
    return NBC_OK;
}

/* Ask for the forces, and find out whether all targets are where their sources are. */
static int ask(const struct device_call *call, const struct device_targets *targets, int *is_whole,
               struct nbc_error *err)
{
    struct device_state *devices = call->devices;
    struct device_whole *w = &devices->whole;
    struct device_gpu *first = &devices->gpus[0];
    const size_t bytes = call->block->n_i * DEVICE_TARGET_BYTES;
    int32_t *marks = w->scratch.data; /* free as yet */
    struct device_asking asking = {
        .sources = w->sources.data, .n_j = (int)devices->n_j, .asked = w->asked.data, .marks = marks};
    NBD_TRY(gpunb_device_reserve(first, &first->targets, bytes, err));
    NBD_TRY(nbd_copy(&first->device, first->stream, first->targets.data, targets->x, bytes, err));
    first->bytes_sent += bytes;
    NBD_TRY(nbd_fill(&first->device, first->stream, marks, 0xff, devices->n_j * sizeof *marks, err));
    asking.targets = gpunb_device_arrays_of(first->targets.data, call->block->n_i);
    asking.differ = w->flag.data;
    *asking.differ = 0;
    NBD_TRY(send_sizes(call, &asking, err));
    NBD_LAUNCH(err, &first->device, first->kernels->regular_ask(&asking, first->stream));
    NBD_TRY(nbd_stream_wait(&first->device, first->stream, err));
    *is_whole = *(const volatile int *)w->flag.data == 0;
    return NBC_OK;
}

int gpunb_device_whole_begin(const struct device_call *call, const struct device_targets *targets, int *is_whole,
                             struct nbc_error *err)
{
    struct device_state *devices = call->devices;
    const struct device_gpu *first = &devices->gpus[0];
    size_t scratch_bytes;
    *is_whole = 0;
    if (gpunb_device_regf_device_bytes(devices, call->block->by_tree, devices->n_j, &scratch_bytes, NULL))
        return NBC_OK;
    if (devices->regular_gpus < devices->n_gpus || !has_memory(devices, call, scratch_bytes)) return NBC_OK;
    NBD_TRY(gather_sources(call, err));
    NBD_TRY(nbd_use(&first->device, err));
    NBD_TRY(ask(call, targets, is_whole, err));
    if (!*is_whole) return NBC_OK;
    const struct gpunb_regf_device job = {.n_j = devices->n_j,
                                          .build = call->block->build,
                                          .source = devices->whole.sources.data,
                                          .n_i = call->block->n_i,
                                          .asked = devices->whole.asked.data,
                                          .weighted = call->block->mass_weighted,
                                          .lists = devices->whole.rows.data,
                                          .row_room = call->list_cap,
                                          .has_last = has_sizes(call),
                                          .scratch = devices->whole.scratch.data,
                                          .scratch_bytes = devices->whole.scratch.bytes};
    struct gpunb_tree_use *use = call->block->by_tree;
    struct device_regular *on_way = &devices->whole.call;
    if (use) NBD_TRY(gpunb_device_regular_by_tree(devices, use, use->version, &job, first->stream, on_way, err));
    if (use && on_way->by_tree) return NBC_OK;
    *is_whole = is_worth(call);
    return *is_whole ? gpunb_device_regular_begin(devices, &job, first->stream, on_way, err) : NBC_OK;
}

size_t gpunb_device_whole_piece(const struct device_call *call)
{
    return (size_t)call->devices->whole.call.job.each;
}

int gpunb_device_whole_launch(const struct device_call *call, size_t p, struct nbc_error *err)
{
    struct device_gpu *first = &call->devices->gpus[0];
    struct device_slot *slot = &first->slots[p % DEVICE_SLOTS];
    const size_t begin = p * call->piece, n = gpunb_min_size(call->piece, call->block->n_i - begin);
    NBD_TRY(nbd_use(&first->device, err));
    NBD_TRY(gpunb_device_reserve(first, &slot->results, n * sizeof(struct device_result), err));
    NBD_TRY(gpunb_device_reserve(first, &slot->lists, n * call->list_cap * sizeof(int32_t), err));
    NBD_TRY(gpunb_device_regular_round(&call->devices->whole.call, (int64_t)begin, err));
    const struct device_sending sending = {.asked = call->devices->whole.asked.data,
                                           .target = call->devices->whole.call.job.ask_at,
                                           .rows = call->devices->whole.rows.data,
                                           .cap = (int)call->list_cap,
                                           .first = (int)begin,
                                           .n = (int)n,
                                           .results = slot->results.data,
                                           .lists = slot->lists.data};
    NBD_TRY(nbd_event_record(&first->device, slot->summed, first->stream, err));
    NBD_TRY(nbd_event_await(&first->device, slot->summed, slot->finish, err));
    NBD_LAUNCH(err, &first->device, first->kernels->regular_send(&sending, slot->finish));
    return nbd_event_record(&first->device, slot->done, slot->finish, err);
}
