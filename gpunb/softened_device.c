/* Softened forces in device memory: the calls of a handle. */
#include "gpunb/softened_device.h"

#include "gpunb/handle.h"
#include "gpunb/tree/method.h"

static int refuse(gpunb_t *handle, const char *call)
{
    return nbc_fail(&handle->error, NBC_UNAVAILABLE, "%s: backend %s has no devices: use cuda", call,
                    handle->backend->name);
}

int gpunb_softened_device_bytes(gpunb_t *handle, size_t n_i, size_t n_j, size_t *bytes)
{
    const char *call = "gpunb_softened_device_bytes";
    if (!handle) return NBC_BAD_ARGUMENT;
    if (!bytes) return nbc_fail(&handle->error, NBC_BAD_ARGUMENT, "%s: bytes is NULL", call);
    if (!handle->backend->softened_device_bytes) return refuse(handle, call);
    if (n_i > INT32_MAX || n_j > INT32_MAX)
        return nbc_fail(&handle->error, NBC_BAD_ARGUMENT, "%s: %zu targets and %zu sources, but numbers are 32-bit",
                        call, n_i, n_j);
    int status = handle->backend->softened_device_bytes(handle->state, n_i, n_j, bytes, &handle->error);
    if (status != NBC_OK || !handle->tree) return status;
    const size_t direct = *bytes;
    status = gpunb_tree_device_bytes(handle, n_i, n_j, bytes);
    if (*bytes < direct) *bytes = direct;
    return status;
}

static const char *missing(const struct gpunb_softened_device *job)
{
    if (job->n_j > 0 && !job->mass) return "mass";
    if (job->n_j > 0 && !job->x_j) return "x_j";
    if (job->n_i > 0 && !job->x_i) return "x_i";
    if (job->n_i > 0 && !job->acc) return "acc";
    return NULL;
}

static int check_job(gpunb_t *handle, const struct gpunb_softened_device *job)
{
    const char *call = "gpunb_softened_device";
    struct nbc_error *err = &handle->error;
    size_t bytes;
    const int status = gpunb_softened_device_bytes(handle, job->n_i, job->n_j, &bytes);
    if (status != NBC_OK) return status;
    if (!(job->softening >= GPUNB_LEAST_SOFTENING && job->softening <= GPUNB_LIMIT))
        return nbc_fail(err, NBC_BAD_ARGUMENT, "%s: the softening is %g: it must be from %g to %g", call,
                        job->softening, GPUNB_LEAST_SOFTENING, GPUNB_LIMIT);
    if (missing(job)) return nbc_fail(err, NBC_BAD_ARGUMENT, "%s: %s is NULL", call, missing(job));
    if (bytes > 0 && (!job->work || job->work_bytes < bytes))
        return nbc_fail(err, NBC_BAD_ARGUMENT, "%s: there are %zu bytes of scratch, and %zu are needed", call,
                        job->work ? job->work_bytes : 0, bytes);
    return NBC_OK;
}

int gpunb_softened_device(gpunb_t *handle, const struct gpunb_softened_device *job, void *stream)
{
    if (!handle) return NBC_BAD_ARGUMENT;
    if (!job) return nbc_fail(&handle->error, NBC_BAD_ARGUMENT, "gpunb_softened_device: job is NULL");
    if (!handle->backend->softened_device) return refuse(handle, "gpunb_softened_device");
    const double begin = nbc_wtime();
    int status = check_job(handle, job);
    const int by_tree = job->n_i > 0 && job->n_j > 0 && gpunb_tree_is_worth(handle, job->n_i, job->n_j);
    if (status == NBC_OK)
        status = by_tree ? gpunb_tree_device_force(handle, job, stream)
                         : handle->backend->softened_device(handle->state, job, stream, &handle->error);
    handle->stats.calls++;
    handle->stats.targets += job->n_i;
    handle->stats.interactions += (uint64_t)job->n_i * job->n_j;
    handle->stats.seconds_regf += nbc_wtime() - begin;
    return status;
}

int gpunb_softened_devices(const gpunb_t *handle, int room, int *device)
{
    return handle->precision == GPUNB_TWOFLOAT ? gpunb_gpus(handle, room, device) : 0;
}
