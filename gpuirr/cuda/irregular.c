/* Irregular forces of arrays in device memory. */
#include "gpuirr/cuda_irregular.h"

#include "gpuirr/cuda/kernels.h"

static const char *missing(const struct gpuirr_forces_device *job)
{
    if (!job->body) return "body";
    if (!job->list) return "list";
    if (!job->task) return "task";
    return job->force ? NULL : "force";
}

int gpuirr_forces_device(const struct gpuirr_forces_device *job, void *stream, struct nbc_error *err)
{
    const char *call = "gpuirr_forces_device";
    if (!job) return nbc_fail(err, NBC_BAD_ARGUMENT, "%s: job is NULL", call);
    if (job->n > INT32_MAX)
        return nbc_fail(err, NBC_BAD_ARGUMENT, "%s: %zu forces, but numbers are 32-bit", call, job->n);
    if (job->n == 0) return NBC_OK;
    if (missing(job)) return nbc_fail(err, NBC_BAD_ARGUMENT, "%s: %s is NULL", call, missing(job));
    /* All lists are in the pool, which is not written to. */
    const struct gpuirr_device_force_job forces = {.t = job->t,
                                                   .body = job->body,
                                                   .pool = (int32_t *)(uintptr_t)job->list,
                                                   .n = job->n,
                                                   .task = job->task,
                                                   .force = job->force};
    const cudaError_t code = gpuirr_cuda_forces(&forces, stream);
    if (code == cudaSuccess) return NBC_OK;
    return nbc_fail(err, NBC_DEVICE, "%s: %s (%s)", call, cudaGetErrorString(code), cudaGetErrorName(code));
}
