/* Softened forces of a handle: the sources are divided among the devices, all of them have all targets, and the host
 * adds what they return in the order of the devices. */
#include "common/team.h"
#include "gpunb/device/device.h"
#include "gpunb/device/kernels.h"
#include "gpunb/softened_device.h"

#include <string.h>

enum { TARGETS_OF_A_PART = 4096 }; /* copied by a thread in some ten microseconds */

/* A call; in memory of the host [n_i] x then [n_i] self lie side by side, and so do acc and pot. */
struct call {
    struct device_state *devices;
    const struct gpunb_softened_job *job;
    size_t in_bytes, out_bytes;
};

static void stage(void *context, int part, int parts)
{
    const struct call *call = context;
    const struct gpunb_softened_job *job = call->job;
    double(*x)[3] = call->devices->host_targets.data;
    int32_t *self = (void *)(x + job->n_i);
    int64_t first, end;
    nbc_range((int64_t)job->n_i, part, parts, &first, &end);
    memcpy(x + first, job->x + first, (size_t)(end - first) * sizeof *x);
    if (job->self) memcpy(self + first, job->self + first, (size_t)(end - first) * sizeof *self);
}

static int reserve(const struct call *call, struct device_gpu *gpu, size_t *work_bytes, struct nbc_error *err)
{
    NBD_LAUNCH(err, &gpu->device, gpu->kernels->softened_bytes(call->job->n_i, gpu->n_j, work_bytes));
    NBD_TRY(gpunb_device_reserve(gpu, &gpu->softened_in, call->in_bytes, err));
    NBD_TRY(gpunb_device_reserve(gpu, &gpu->softened_out, call->out_bytes, err));
    NBD_TRY(gpunb_device_reserve(gpu, &gpu->softened_work, *work_bytes, err));
    return gpunb_device_reserve(gpu, &gpu->host_softened, call->out_bytes, err);
}

/* Targets to a device, its sums and the way back. */
static int launch(const struct call *call, struct device_gpu *gpu, struct nbc_error *err)
{
    const struct gpunb_softened_job *job = call->job;
    const struct device_source *sources = gpu->sources.data;
    size_t work_bytes;
    NBD_TRY(nbd_use(&gpu->device, err));
    NBD_TRY(gpunb_device_make_expected(gpu, err));
    NBD_TRY(reserve(call, gpu, &work_bytes, err));
    const double(*x)[3] = gpu->softened_in.data;
    double(*acc)[3] = gpu->softened_out.data;
    const struct device_softened on_device = {
        .sources = {.x = sources->x,
                    .mass = &sources->m,
                    .x_step = sizeof *sources,
                    .mass_step = sizeof *sources,
                    .mass_is_float = 1,
                    .n = (int)gpu->n_j},
        .x = x,
        .self = job->self ? (const void *)(x + job->n_i) : NULL,
        .self_first = (int)gpu->j_first,
        .n_i = (int)job->n_i,
        .softening = job->softening,
        .acc = acc,
        .pot = job->pot ? (void *)(acc + job->n_i) : NULL,
        .rounded = !call->devices->twofloat,
    };
    NBD_TRY(nbd_copy(&gpu->device, gpu->stream, gpu->softened_in.data, call->devices->host_targets.data, call->in_bytes,
                     err));
    NBD_LAUNCH(err, &gpu->device, gpu->kernels->softened_sum(&on_device, gpu->softened_work.data, gpu->stream));
    NBD_TRY(nbd_copy(&gpu->device, gpu->stream, gpu->host_softened.data, acc, call->out_bytes, err));
    gpu->bytes_sent += call->in_bytes;
    call->devices->bytes_received += call->out_bytes;
    return NBC_OK;
}

static void collect(void *context, int part, int parts)
{
    const struct call *call = context;
    const struct gpunb_softened_job *job = call->job;
    int64_t first, end;
    nbc_range((int64_t)job->n_i, part, parts, &first, &end);
    for (int g = 0; g < call->devices->n_gpus; g++) {
        const double(*acc)[3] = call->devices->gpus[g].host_softened.data;
        const double *pot = (const void *)(acc + job->n_i);
        for (int64_t i = first; i < end; i++)
            for (int k = 0; k < 3; k++) job->acc[i][k] = g == 0 ? acc[i][k] : job->acc[i][k] + acc[i][k];
        for (int64_t i = first; job->pot && i < end; i++) job->pot[i] = g == 0 ? pot[i] : job->pot[i] + pot[i];
    }
}

int gpunb_device_softened(void *state, const struct gpunb_softened_job *job, struct nbc_error *err)
{
    struct device_state *devices = state;
    struct call call = {.devices = devices,
                        .job = job,
                        .in_bytes = job->n_i * (sizeof *job->x + (job->self ? sizeof *job->self : 0)),
                        .out_bytes = job->n_i * (sizeof *job->acc + (job->pot ? sizeof *job->pot : 0))};
    const int parts = nbc_parts((int64_t)job->n_i, TARGETS_OF_A_PART);
    if (job->n_i > INT32_MAX)
        return nbc_fail(err, NBC_BAD_ARGUMENT, "gpunb_softened: %zu targets, but numbers are 32-bit", job->n_i);
    NBD_TRY(gpunb_device_settle(devices, err));
    NBD_TRY(nbd_use(&devices->gpus[0].device, err));
    NBD_TRY(gpunb_device_reserve(&devices->gpus[0], &devices->host_targets, call.in_bytes, err));
    nbc_team_run(parts, stage, &call);
    devices->in_flight = 1;
    for (int g = 0; g < devices->n_gpus; g++) NBD_TRY(launch(&call, &devices->gpus[g], err));
    NBD_TRY(gpunb_device_settle(devices, err));
    devices->reading = 0;
    NBD_TRY(gpunb_device_check_predictions(devices, err));
    nbc_team_run(parts, collect, &call);
    return NBC_OK;
}

/* ---- in device memory */

int gpunb_device_softened_device_bytes(void *state, size_t n_i, size_t n_j, size_t *bytes, struct nbc_error *err)
{
    const struct device_gpu *gpu = &((const struct device_state *)state)->gpus[0];
    NBD_LAUNCH(err, &gpu->device, gpu->kernels->softened_bytes(n_i, n_j, bytes));
    return NBC_OK;
}

int gpunb_device_softened_device(void *state, const struct gpunb_softened_device *job, void *stream,
                                 struct nbc_error *err)
{
    const struct device_state *devices = state;
    const struct device_gpu *gpu = &devices->gpus[0];
    const struct device_softened force = {
        .sources = {.x = job->x_j,
                    .mass = job->mass,
                    .x_step = sizeof *job->x_j,
                    .mass_step = sizeof *job->mass,
                    .n = (int)job->n_j},
        .x = job->x_i,
        .self = job->self,
        .n_i = (int)job->n_i,
        .softening = job->softening,
        .acc = job->acc,
        .pot = job->pot,
        .rounded = !devices->twofloat,
    };
    NBD_LAUNCH(err, &gpu->device, gpu->kernels->softened_sum(&force, job->work, stream));
    return NBC_OK;
}
