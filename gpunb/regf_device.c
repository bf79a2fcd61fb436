/* Regular forces in device memory: the calls of a handle. */
#include "gpunb/regf_device.h"

#include "gpunb/handle.h"
#include "gpunb/tree.h"
#include "gpunb/tree/regular.h"

static int refuse(gpunb_t *handle, const char *call)
{
    return nbc_fail(&handle->error, NBC_UNAVAILABLE, "%s: backend %s has no devices: use cuda", call,
                    handle->backend->name);
}

static int check_number(gpunb_t *handle, const char *call, size_t n_j)
{
    if (n_j <= INT32_MAX) return NBC_OK;
    return nbc_fail(&handle->error, NBC_BAD_ARGUMENT, "%s: %zu sources, but numbers are 32-bit", call, n_j);
}

int gpunb_regf_device_bytes(gpunb_t *handle, size_t n_j, size_t *bytes)
{
    const char *call = "gpunb_regf_device_bytes";
    if (!handle) return NBC_BAD_ARGUMENT;
    if (!bytes) return nbc_fail(&handle->error, NBC_BAD_ARGUMENT, "%s: bytes is NULL", call);
    if (!handle->backend->regf_device_bytes) return refuse(handle, call);
    const int status = check_number(handle, call, n_j);
    if (status) return status;
    return handle->backend->regf_device_bytes(handle->state, gpunb_regf_has_tree(handle) ? handle->tree : NULL, n_j,
                                              bytes, &handle->error);
}

int gpunb_regf_device_count(const gpunb_t *handle)
{
    int first;
    return handle->backend->regf_devices ? handle->backend->regf_devices(handle->state, &first) : 0;
}

int gpunb_regf_device_first(const gpunb_t *handle)
{
    int first;
    return handle->backend->regf_devices && handle->backend->regf_devices(handle->state, &first) > 0 ? first : -1;
}

static const char *missing(const struct gpunb_regf_device *job)
{
    if (!job->source) return "source";
    if (!job->asked) return "asked";
    if (!job->lists) return "lists";
    return job->scratch ? NULL : "scratch";
}

static int check_job(gpunb_t *handle, const struct gpunb_regf_device *job)
{
    const char *call = "gpunb_regf_device";
    const int status = check_number(handle, call, job->n_j);
    if (status) return status;
    if (job->n_i > job->n_j)
        return nbc_fail(&handle->error, NBC_BAD_ARGUMENT, "%s: %zu targets of %zu sources: they must be different ones",
                        call, job->n_i, job->n_j);
    if (missing(job)) return nbc_fail(&handle->error, NBC_BAD_ARGUMENT, "%s: %s is NULL", call, missing(job));
    return NBC_OK;
}

int gpunb_regf_device(gpunb_t *handle, const struct gpunb_regf_device *job, void *stream)
{
    if (!handle) return NBC_BAD_ARGUMENT;
    if (!job) return nbc_fail(&handle->error, NBC_BAD_ARGUMENT, "gpunb_regf_device: job is NULL");
    if (job->n_i == 0) return NBC_OK;
    if (!handle->backend->regf_device) return refuse(handle, "gpunb_regf_device");
    const double begin = nbc_wtime();
    int status = check_job(handle, job);
    if (!status && !job->is_again) handle->device_by_tree = gpunb_regf_by_tree(handle, job->n_i, job->n_j);
    if (!status)
        status = handle->backend->regf_device(handle->state, handle->device_by_tree ? handle->tree : NULL, job, stream,
                                              &handle->error);
    handle->stats.calls++;
    handle->stats.targets += job->n_i;
    handle->stats.interactions += (uint64_t)job->n_i * job->n_j;
    handle->stats.seconds_regf += nbc_wtime() - begin;
    return status;
}
