/* Softened forces of arrays in device memory. */
#include "gpunb/cuda_softened.h"

#include "gpunb/backend.h"
#include "gpunb/cuda/softened_job.h"

static int failed(struct nbc_error *err, const char *call, cudaError_t code)
{
    return nbc_fail(err, NBC_DEVICE, "%s: %s (%s)", call, cudaGetErrorString(code), cudaGetErrorName(code));
}

static int check_numbers(const char *call, size_t n_i, size_t n_j, struct nbc_error *err)
{
    if (n_i <= INT32_MAX && n_j <= INT32_MAX) return NBC_OK;
    return nbc_fail(err, NBC_BAD_ARGUMENT, "%s: %zu targets and %zu sources, but numbers are 32-bit", call, n_i, n_j);
}

int gpunb_softened_device_bytes(size_t n_i, size_t n_j, size_t *bytes, struct nbc_error *err)
{
    const char *call = "gpunb_softened_device_bytes";
    const int status = check_numbers(call, n_i, n_j, err);
    if (status != NBC_OK) return status;
    if (!bytes) return nbc_fail(err, NBC_BAD_ARGUMENT, "%s: bytes is NULL", call);
    const cudaError_t code = gpunb_cuda_softened_bytes(n_i, n_j, bytes);
    return code == cudaSuccess ? NBC_OK : failed(err, call, code);
}

static const char *missing(const struct gpunb_softened_device *job)
{
    if (job->n_j > 0 && !job->mass) return "mass";
    if (job->n_j > 0 && !job->x_j) return "x_j";
    if (job->n_i > 0 && !job->x_i) return "x_i";
    if (job->n_i > 0 && !job->acc) return "acc";
    return NULL;
}

static int check_job(const struct gpunb_softened_device *job, struct nbc_error *err)
{
    const char *call = "gpunb_softened_device";
    size_t bytes;
    int status = check_numbers(call, job->n_i, job->n_j, err);
    if (status == NBC_OK) status = gpunb_softened_device_bytes(job->n_i, job->n_j, &bytes, err);
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

int gpunb_softened_device(const struct gpunb_softened_device *job, void *stream, struct nbc_error *err)
{
    const int status = check_job(job, err);
    if (status != NBC_OK) return status;
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
    };
    const cudaError_t code = gpunb_cuda_softened_sum(&force, job->work, stream);
    return code == cudaSuccess ? NBC_OK : failed(err, "gpunb_softened_device", code);
}
